"""Grading: what learners have handed in, for one of them or for a class.

    collecting/      what is collected: notebooks, folders, zip files of a learning platform
    assembling.py    how a submission is put together: the learner's cells, in the course's own copy
    running/         how it is isolated and run: a kernel with limits, under nbval
    judging/         how it is judged: outside of the learner's process, over a narrow pipe
    marking.py       one exercise of one learner, from its first cell to its last check
    batch.py         a class: on several processors, or on any executor; what is finished is kept
    results.py       what came of it, as values
    reporting/       what is reported: table, CSV, JSON, JUnit, one page, notebooks to hand back
    progress.py      the same checks for the learner: what is done

`__main__.py` is the command `course.py grade`.
"""

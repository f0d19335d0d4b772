"""From the text of a lesson to an executed notebook, one module per step.

    lesson.py       read a source and check it
    checkpoints.py  take the options and their feedback out of a question
    derive.py       make the notebooks that one source stands for
    execute.py      run a notebook and bring it into one normal form
    compare.py      say where a stored file is not what a build would write

`stoplib.course.build` is the command that joins the steps.
"""


class BuildError(Exception):
    """Something in a lesson cannot be built; the message says where, what is wrong and what to do."""

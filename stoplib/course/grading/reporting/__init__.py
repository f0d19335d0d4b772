"""What is reported: the same results, for whoever reads them.

    terminal.py  a table, and what the teacher should know
    files.py     CSV for a gradebook, JSON for programs, JUnit XML for build servers
    page.py      one HTML page: the class, and each learner
    feedback.py  notebooks to hand back

None of them shows a solution.
"""

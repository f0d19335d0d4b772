"""How an answer is judged: from outside, over a narrow pipe.

Whatever lives in the learner's process can be replaced there, so nothing that decides a grade lives in it. The
checks run in the judge's process. What they try there, such as `run_with_limits`, is a function that stands for
the learner's: a call of it goes over the pipe, and so do the learner's calls of the model and the clock that the
check has passed in. So the judge sees what any caller would see, and nothing else counts.

    channel.py  one end of the pipe: asks, and serves the other end until its answer comes
    plain.py    what comes from the learner's process: plain data, a few values of the library, handles
    link.py     the judge's end: the learner's functions, as functions
    sending.py  what the judge sends: pickled, with handles for what must stay with it
    inside.py   the learner's end
    judge.py    runs a check cell, with the learner's names in it

What the judge sends is pickled. What comes back never is: a pickle can do anything to the process that reads it.
"""

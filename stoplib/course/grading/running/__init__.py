"""How an exercise is run: each of each learner in a process and a folder of its own, with limits.

    limits.py       the limits, and what this platform cannot hold
    linux.py        namespaces: nothing else of the machine is seen, and all ends together
    kernel.py       what is started as the kernel: it takes its limits, then runs the cells
    starting.py     two ways to start it: a new Python, or a copy of the template
    template.py     a process that has everything loaded, and forks kernels
    watching.py     looks after a kernel: is it alive, how many processes, how much memory and output
    session.py      the kernel of one run, as nbval sees it
    examination.py  one exercise: nbval runs the notebook, the judge serves the check cells
    examiner.py     a process that examines one exercise after the other, and is started anew if it ends

An examiner is the course's own code, so it can be kept; only the kernel below it runs what a learner wrote.
"""

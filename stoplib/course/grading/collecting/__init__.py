"""What is collected: from notebooks, folders and archives to one submission per learner and exercise.

places.py     every file below the paths that were given, with the folders that it lies in
archives.py   the same for zip files, which may hold anything
people.py     who a file is from, as learning platforms write it into its name
reading.py    what a notebook holds: which exercise, and the source text of the learner's cells
submissions.py    one submission each: two tries, late, missing
"""

# %% title [markdown]
# # The lab: watch a run spend, stop it, and see which guard wins
#
# Run the cell below. Choose a scripted model, tools, guards and their limits; then let it run, step through it, or play it and stop it in the middle. No key, no network, and the same result every time.

# %% lab
from stoplib.course.lab import lab
lab()

# %% how [markdown]
# - *Run* goes to the end at once, *Step* makes one model call and runs its tools, *Play* makes five steps a second, and *Pause* holds it. *Stop* ends the run as a person does with Ctrl-C; *Reset* goes back to the start.
# - A change of a control takes effect at once: the run is made anew, as far as it had gone.
# - *Ask me before* makes you the person in the loop: *Approve* and *Decline* appear when a tool asks.
# - The pictures show the steps, the spend against the token budget, how far each guard is from firing, and the race: where each guard alone would have stopped this model. The table under them holds the run itself.
# - Everything works with the keyboard: Tab goes to the next control, Space presses a button or opens a list, and the arrow keys change a number.
# - The text under *Share it* gives somebody else the same settings and the same run: `lab('…')` in a cell, or the file in *Load a file*.
#
# In a plain page without code: `voila notebooks/lab.ipynb`, with the package voila. The chapters of the course are in the same folder; begin with [00 Start here](00_start_here.ipynb).

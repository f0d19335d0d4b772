"""From the text of the lessons to executed notebooks, and to the pages that are made from all of them.

One module per step of a notebook:

    lesson.py       read a source and check it
    checkpoints.py  take the options and their feedback out of a question
    minutes.py      work out how long a lesson takes
    derive.py       make the notebooks that one source stands for
    execute.py      run a notebook and bring it into one normal form
    compare.py      say where a stored file is not what a build would write

The pages, and below them what they are made from:

    pages.py        which pages there are
    glossary.py     a sentence for each term that the lessons set in bold
    guide.py        every guard and every reason, and the lessons that have them
    one_page.py     guards, reasons and traps on one sheet to print
    overview.py     the table of chapters in README.md
    facts.py        what the library and its pages say about guards and reasons
    shown.py        which notebook shows which name where
    places.py       how a page speaks of a place in a lesson
    prose.py        what stands in Markdown

`stoplib.course.build` is the command that joins the steps.
"""


class BuildError(Exception):
    """Something in a lesson cannot be built; the message says where, what is wrong and what to do."""

"""Text that is read in a cell's output, where a long line is broken in the middle of a word."""

import textwrap

WIDTH = 88


def wrapped(text: str, indent: str = "") -> str:
    """`text` in lines of at most 88 characters, the second and further ones indented.

    >>> print(wrapped("hint: " + "a word, " * 12, indent="    "))
    hint: a word, a word, a word, a word, a word, a word, a word, a word, a word, a word, a
        word, a word,
    """
    return textwrap.fill(text, WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)

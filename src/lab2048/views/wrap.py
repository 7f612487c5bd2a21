"""Lines that fit a terminal: folded between words, where the terminal itself would break them."""

import shutil
from typing import TextIO


def columns_of(stream: TextIO) -> int | None:
    """How wide a terminal is; None where a stream leads elsewhere, and no line is too long."""
    return shutil.get_terminal_size().columns if stream.isatty() else None


def folded(text: str, columns: int | None, indent: str = "") -> str:
    """A text whose lines are folded between words; those that follow a fold are indented.

    >>> print(folded("options: depth=, eval=rows, cut=", 20, "    "))
    options: depth=,
        eval=rows, cut=
    """
    if columns is None:
        return text
    import textwrap

    lines = []
    for line in text.split("\n"):
        parts = textwrap.wrap(line, columns, break_long_words=False, break_on_hyphens=False, subsequent_indent=indent)
        lines += parts if len(line) > columns else [line]
    return "\n".join(lines)

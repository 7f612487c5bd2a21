"""Wrap lines at words to fit a terminal."""

import shutil
from typing import TextIO


def columns_of(stream: TextIO) -> int | None:
    """Return the width of a terminal, or None if the stream is not a terminal."""
    return shutil.get_terminal_size().columns if stream.isatty() else None


def folded(text: str, columns: int | None, indent: str = "") -> str:
    """Wrap a text at words, and indent continuation lines.

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

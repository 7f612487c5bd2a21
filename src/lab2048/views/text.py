"""Boards as text, for terminals with and without colour."""

import os
import sys
from typing import TextIO

from lab2048.rules import Board
from lab2048.rules.shape import BRICK, NOTHING

# Background of each rank as one of the 256 colours of a terminal; dark ink keeps every tile readable.
_BACKGROUNDS = (0, 230, 223, 216, 209, 203, 196, 229, 228, 227, 221, 220, 120, 84, 48, 81, 75, 147, 183, 219)
_INK = 16


def wants_colour(stream: TextIO) -> bool:
    """True if a stream is a terminal that shows colours; NO_COLOR and FORCE_COLOR decide first."""
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return stream.isatty() and os.environ.get("TERM") != "dumb" and sys.platform != "emscripten"


def render(board: Board, *, colour: bool = False) -> str:
    """The board in rows of aligned tiles: a dot is an empty cell, an x is a brick.

    >>> print(render(Board.from_text("2 1024 # x")))
         2  1024     .     x
    """
    width = max(4, len(str(board.max_tile)))
    lines = []
    for row in board.shape.drawing:
        parts = []
        for cell in row:
            if cell == NOTHING:
                parts.append(" " * (width + 2))
            elif cell == BRICK:
                parts.append("  " + "x".rjust(width))
            else:
                parts.append(_tile(board.ranks[cell], width, colour))
        lines.append("".join(parts).rstrip())
    return "\n".join(lines)


def _tile(rank: int, width: int, colour: bool) -> str:
    text = str(2**rank) if rank else "."
    if not colour or not rank:
        return "  " + text.rjust(width)
    background = _BACKGROUNDS[min(rank, len(_BACKGROUNDS) - 1)]
    return f" \x1b[48;5;{background};38;5;{_INK};1m{text.rjust(width)} \x1b[0m"

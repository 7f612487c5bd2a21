"""Boards as text, for terminals with and without colour."""

import os
import sys
from typing import TextIO

from lab2048.rules import Board
from lab2048.rules.notation import LETTERS, face_of
from lab2048.rules.shape import NOTHING

# Background of each rank in the 256-colour palette; all are readable with dark text.
_BACKGROUNDS = (0, 230, 223, 216, 209, 203, 196, 229, 228, 227, 221, 220, 120, 84, 48, 81, 75, 147, 183, 219)
_BRICK_BACKGROUND = 244
_INK = 16
_DIGITS = 4  # minimum width, so that the board does not grow with every new tile


def wants_colour(stream: TextIO) -> bool:
    """Return True if a stream is a terminal with colours; FORCE_COLOR and NO_COLOR take precedence."""
    if os.environ.get("FORCE_COLOR"):
        return True
    if os.environ.get("NO_COLOR"):
        return False
    return stream.isatty() and os.environ.get("TERM") != "dumb" and sys.platform != "emscripten"


def wants_codes(stream: TextIO) -> bool:
    """Return True if ANSI colour codes may be written to a stream.

    Not to a Windows console, which would print them as text, unless FORCE_COLOR is set.
    """
    is_plain = sys.platform == "win32" and not os.environ.get("FORCE_COLOR")
    return wants_colour(stream) and not is_plain


def fit(columns: int | None, *forms: str) -> str:
    """Return the first text that fits the width, or the last one, cut.

    >>> fit(10, "score 24   moves 8", "score 24"), fit(4, "score 24")
    ('score 24', 'scor')
    """
    return next((form for form in forms if columns is None or len(form) <= columns), forms[-1][:columns])


def shortened(text: str, columns: int) -> str:
    """Return a text, cut with an ellipsis if it is too wide.

    >>> shortened("expectimax", 7)
    'expect…'
    """
    return text if len(text) <= columns else text[: columns - 1] + "…"


def columns_needed(board: Board) -> int:
    """Return the smallest width of a board in columns."""
    return len(board.shape.drawing[0]) * (1 + _digits(board))


def render(board: Board, *, colour: bool = False, columns: int | None = None) -> str:
    """Draw a board with aligned tiles: a dot is an empty cell, an x is a brick.

    `columns` limits the width: the space between tiles shrinks down to one column.

    >>> print(render(Board.from_text("2 1024 # x")))
         2  1024     .     x
    >>> print(render(Board.from_text("2 1024 # x"), columns=20))
        2 1024    .    x
    """
    digits, n_across = _digits(board), len(board.shape.drawing[0])
    width = max(_DIGITS, digits) + 2
    if columns is None:
        columns = n_across * width + 1
    width = max(digits + 1, min(width, columns // n_across))
    # A tile is a space, the digits and, if it fits, a coloured margin.  One more margin at the left
    # keeps the digits in the same columns with and without colour.
    margin = " " if width > digits + 1 and columns > n_across * width else ""
    lines = []
    for row in board.shape.drawing:
        tiles = (_tile(*_face(board, entry), width, margin, colour) for entry in row)
        lines.append((margin + "".join(tiles)).rstrip())
    return "\n".join(lines)


def _digits(board: Board) -> int:
    return len(str(board.max_tile))


def _face(board: Board, entry: int) -> tuple[str, int | None]:
    """Return the text and the background of an entry of the map."""
    if entry == NOTHING:
        return "", None
    if entry < 0:
        return LETTERS[entry], _BRICK_BACKGROUND
    rank = board.ranks[entry]
    return (face_of(board.shape, rank), _BACKGROUNDS[min(rank, len(_BACKGROUNDS) - 1)]) if rank else (".", None)


def _tile(text: str, background: int | None, width: int, margin: str, colour: bool) -> str:
    tile = text.rjust(width - 1 - len(margin)) + margin
    if not colour or background is None:
        return f" {tile}"
    return f" \x1b[48;5;{background};38;5;{_INK};1m{tile}\x1b[0m"

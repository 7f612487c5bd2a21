"""A game on a terminal of any size: header, board, facts and message."""

import os
import textwrap

from lab2048.views.plain_play import PlainGame
from lab2048.views.text import columns_needed, fit

MIN_COLUMNS = 12  # for the score, below the smallest boards


def compose(plain: PlainGame, message: str, size: os.terminal_size, *, colour: bool) -> str:
    """Return the text that fits a terminal of this size.

    The message may take several lines on a narrow terminal.  The header is dropped first; if the board does
    not fit either, one line gives the size it needs.
    """
    board = plain.board
    columns, lines = max(columns_needed(board), MIN_COLUMNS), len(board.shape.drawing) + 2
    if size.columns < columns or size.lines < lines:
        needs = f"needs {columns}x{lines}"
        here = f"{size.columns}x{size.lines}"
        return fit(size.columns, f"the terminal is {here}: this board {needs}", f"{here}: {needs}", needs, "too small")
    text = [plain.header(size.columns)] if size.lines > lines else []
    text.append(plain.frame(size.columns, colour=colour))
    room = max(1, size.lines - lines - 1)
    text += textwrap.wrap(message, size.columns, max_lines=room, placeholder="...") or [""]
    return "\n".join(text)

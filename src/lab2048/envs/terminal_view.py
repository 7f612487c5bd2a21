"""Boards drawn in the terminal, for the render mode `human`."""

import time

from rich.console import Console
from rich.control import Control
from rich.segment import ControlCode, ControlType
from rich.text import Text

from lab2048.rules import Board
from lab2048.rules.drawing import DARK_INK, EMPTY, STONE, Colour, tile_colours
from lab2048.rules.notation import LETTERS
from lab2048.rules.shape import NOTHING

_MIN_DIGITS = 4  # so that a board grows no wider before the first five-digit tile


class TerminalView:
    """Draws each board of a game over the one before, at most `fps` per second.

    A new game starts below the last board of the game before.  If standard output is not a terminal, boards are
    printed one below the other, plain and without waiting.
    """

    def __init__(self) -> None:
        # Not Jupyter's own display: a cell shows what is printed.
        self._console = Console(highlight=False, force_jupyter=False)
        self._n_lines = 0  # of the board to draw over
        self._next_at = 0.0

    def start_game(self) -> None:
        """Keep the last board on the screen."""
        self._n_lines = 0

    def show(self, board: Board, score: int, fps: float) -> None:
        """Draw the board with its score, after waiting until the last one was shown for long enough."""
        text = Text("\n").join([_caption(board, score), *_rows(board)])
        is_in_place = self._console.is_terminal and not self._console.is_dumb_terminal
        if is_in_place:
            time.sleep(max(0.0, self._next_at - time.monotonic()))
            self._next_at = time.monotonic() + 1 / fps
        line_up: list[ControlCode] = [(ControlType.CURSOR_UP, 1), (ControlType.ERASE_IN_LINE, 2)]
        self._console.print(Control(*line_up * self._n_lines), text, sep="", no_wrap=True, overflow="crop")
        self._n_lines = text.plain.count("\n") + 1 if is_in_place else 0


def _caption(board: Board, score: int) -> Text:
    return Text(f"score {score:,}   highest tile {board.max_tile:,}", "bold")


def _rows(board: Board) -> list[Text]:
    width = max(_MIN_DIGITS, len(str(board.max_tile))) + 2
    return [Text("").join(_tile(board, place, width) for place in row) for row in board.shape.drawing]


def _tile(board: Board, place: int, width: int) -> Text:
    if place == NOTHING:
        return Text(" " * width)
    if place < 0:
        return Text(LETTERS[place].center(width), _style(DARK_INK, STONE))
    tile, rank = board.tiles[place], board.ranks[place]
    if not rank:
        return Text(".".center(width), _style(STONE, EMPTY))
    background, ink = tile_colours(rank)
    return Text(str(tile).center(width), _style(ink, background))


def _style(ink: Colour, background: Colour) -> str:
    return "rgb({},{},{}) on rgb({},{},{})".format(*ink, *background)

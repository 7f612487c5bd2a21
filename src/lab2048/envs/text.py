"""A board as plain text, for the render mode `ansi`."""

from lab2048.rules import Board
from lab2048.rules.shape import BRICK, NOTHING


def write_board(board: Board) -> str:
    """The tiles in rows, aligned; hexagons stand in columns, each half a tile lower than its neighbours.

    >>> print(write_board(Board.from_text("2 16 . / . x 4")))
     2 16  .
     .  x  4
    >>> print(write_board(Board.from_text("hex1:2 .|. 16 .|. 4")))
        .
     2     .
       16
     .     4
        .
    """
    faces = {cell: str(tile or ".") for cell, tile in enumerate(board.tiles)} | {BRICK: "x", NOTHING: ""}
    width = max(map(len, faces.values()))
    lines = (" ".join(faces[cell].rjust(width) for cell in row) for row in board.shape.drawing)
    return "\n".join(line.rstrip() for line in lines)

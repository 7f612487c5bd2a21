"""A board as plain text, for the render mode `ansi`."""

from lab2048.rules import Board
from lab2048.rules.shape import BRICK


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
    faces = [str(tile) if tile else "." for tile in board.tiles]
    width = max(map(len, faces))
    if not board.shape.is_hexagonal:
        rows = (("x" if cell == BRICK else faces[cell] for cell in row) for row in board.shape.rows)
        return "\n".join(" ".join(face.rjust(width) for face in row) for row in rows)
    radius = len(board.shape.rows) // 2
    # Half-rows from the top: the middle column uses every second, its neighbours the ones between.
    lines = [[" " * width] * len(board.shape.rows) for _ in range(4 * radius + 1)]
    for q, column in enumerate(board.shape.rows):
        for i, cell in enumerate(column):
            face = "x" if cell == BRICK else faces[cell]
            lines[abs(q - radius) + 2 * i][q] = face.rjust(width)
    return "\n".join(" ".join(line).rstrip() for line in lines)

"""Moves: the directions that tiles can slide in, clockwise from up.

A move is a number, and the two enumerations only give the numbers names, letters
for records, and keys.  Four moves in the order of the original game and of most
environments; six on hexagons that stand on a flat side.
"""

from enum import IntEnum


class Move(IntEnum):
    """The four moves of a board of squares."""

    UP = 0
    RIGHT = 1
    DOWN = 2
    LEFT = 3


class HexMove(IntEnum):
    """The six moves of a board of hexagons."""

    UP = 0
    UP_RIGHT = 1
    DOWN_RIGHT = 2
    DOWN = 3
    DOWN_LEFT = 4
    UP_LEFT = 5


AnyMove = Move | HexMove
Moves = tuple[AnyMove, ...]

# The letter of a move is what a record holds and also the key that makes it.
#
#      w          q w e
#    a s d        a s d
_LETTERS: dict[type[IntEnum], str] = {Move: "wdsa", HexMove: "wedsaq"}


def letters(moves: Moves) -> str:
    """The letters of a shape's moves, in order: its keys, and the alphabet of its records."""
    return _LETTERS[type(moves[0])]


def move_name(move: AnyMove) -> str:
    """The name in words.

    >>> move_name(HexMove.DOWN_LEFT)
    'down-left'
    """
    return move.name.lower().replace("_", "-")

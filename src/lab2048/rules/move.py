"""Moves: the directions that tiles can slide in, clockwise from up.

A move is a number.  The enumerations name the numbers; `directions` gives the label, the
direction and the keys of each move.
"""

import math
from enum import IntEnum
from functools import cache
from typing import NamedTuple


class _MoveEnum(IntEnum):
    def __repr__(self) -> str:
        return f"{type(self).__name__}.{self.name}"

    def __str__(self) -> str:
        return move_name(self)


class Move(_MoveEnum):
    """The four moves on squares, in the order of the original game and of most environments.

    >>> list(Move), int(Move.LEFT)
    ([Move.UP, Move.RIGHT, Move.DOWN, Move.LEFT], 3)
    """

    UP = 0
    RIGHT = 1
    DOWN = 2
    LEFT = 3


class HexMove(_MoveEnum):
    """The six moves on hexagons that stand on a flat side, clockwise from up.

    >>> import lab2048 as lab
    >>> lab.player("greedy").ask(lab.Game("hex2", seed=1).board).move in list(lab.HexMove)
    True
    """

    UP = 0
    UP_RIGHT = 1
    DOWN_RIGHT = 2
    DOWN = 3
    DOWN_LEFT = 4
    UP_LEFT = 5


class TriangleMove(_MoveEnum):
    """The six moves on triangles, two along each side of the board, clockwise from up-right.

    >>> import lab2048 as lab
    >>> lab.Game("tri3", seed=1).play("greedy", moves=3).turns[0].move in list(lab.TriangleMove)
    True
    """

    UP_RIGHT = 0
    RIGHT = 1
    DOWN_RIGHT = 2
    DOWN_LEFT = 3
    LEFT = 4
    UP_LEFT = 5


AnyMove = Move | HexMove | TriangleMove
Moves = tuple[AnyMove, ...]

# The letter of a move is what a record holds and also the key that makes it.
#
#      w          q w e         q   e
#    a s d        a s d        a     d
#                               z   c
_LETTERS: dict[type[IntEnum], str] = {Move: "wdsa", HexMove: "wedsaq", TriangleMove: "edczaq"}
_FIRST_ANGLES: dict[type[IntEnum], int] = {Move: -90, HexMove: -90, TriangleMove: -60}
# The arrow that shows a direction, its arrow key, and its key on a number pad.
_COMPASS = {
    "up": ("↑", "up", "8"),
    "up-right": ("↗", "", "9"),
    "right": ("→", "right", "6"),
    "down-right": ("↘", "", "3"),
    "down": ("↓", "down", "2"),
    "down-left": ("↙", "", "1"),
    "left": ("←", "left", "4"),
    "up-left": ("↖", "", "7"),
}
_ARROW_LETTERS = {"up": "w", "right": "d", "down": "s", "left": "a"}
ARROWS = {arrow_key: glyph for glyph, arrow_key, _ in _COMPASS.values() if arrow_key}


class Direction(NamedTuple):
    """How a move is named, drawn and typed."""

    label: str  # "up-left"
    glyph: str  # an arrow of one character
    dx: float  # unit vector on the screen, y downwards
    dy: float
    angle: float  # of that vector in degrees, above -180 and up to 180
    letter: str  # in records; also a key
    arrow_key: str  # "up", "right", "down", "left", or "" if no arrow key points there
    digit: str  # key on a number pad


def key_moves(moves: Moves) -> dict[str, int]:
    """Map terminal keys to moves: letters, and arrow keys as the characters of ARROWS.

    An arrow key makes the move in its direction, or else the move whose letter is at its position in w a s d.

    >>> key_moves(tuple(HexMove))["→"] == HexMove.DOWN_RIGHT, "↑" in key_moves(tuple(TriangleMove))
    (True, False)
    """
    keys = {letter: move for move, letter in enumerate(_LETTERS[type(moves[0])])}
    arrows = {ARROWS[name]: keys[letter] for name, letter in _ARROW_LETTERS.items() if letter in keys}
    named = {ARROWS[move_name(move)]: int(move) for move in moves if move_name(move) in ARROWS}
    return keys | arrows | named


def move_name(move: IntEnum) -> str:
    """Return the name of a move.

    >>> move_name(HexMove.DOWN_LEFT)
    'down-left'
    """
    return move.name.lower().replace("_", "-")


@cache
def directions(moves: type[AnyMove]) -> tuple[Direction, ...]:
    """Return the directions of an enumeration of moves, evenly spaced and clockwise.

    >>> [direction.label for direction in directions(Move)]
    ['up', 'right', 'down', 'left']
    """
    # The enumeration is the argument, not its members: as numbers the moves of two kinds are equal to a cache.
    found = []
    for move, letter in zip(moves, _LETTERS[moves], strict=True):
        label = move_name(move)
        glyph, arrow_key, digit = _COMPASS[label]
        angle = _FIRST_ANGLES[moves] + 360 / len(moves) * move
        angle = angle - 360 if angle > 180 else angle
        dx, dy = (round(f(math.radians(angle)), 6) + 0.0 for f in (math.cos, math.sin))  # + 0.0: no -0.0
        found.append(Direction(label, glyph, dx, dy, angle, letter, arrow_key, digit))
    return tuple(found)

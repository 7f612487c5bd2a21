"""The game: shapes, rules, boards, moves and dice."""

from lab2048.rules.board import Board, Slide
from lab2048.rules.game import Game, Turn
from lab2048.rules.kind import hexagon, rectangle, triangle
from lab2048.rules.move import HexMove, Move, TriangleMove
from lab2048.rules.rules import Rules, Spawn, Spawner
from lab2048.rules.shape import Shape, Symmetry

__all__ = [
    "Board",
    "Game",
    "HexMove",
    "Move",
    "Rules",
    "Shape",
    "Slide",
    "Spawn",
    "Spawner",
    "Symmetry",
    "TriangleMove",
    "Turn",
    "hexagon",
    "rectangle",
    "triangle",
]

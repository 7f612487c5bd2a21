"""What the game is: shapes, rules, boards, moves and dice."""

from lab2048.rules.board import Board, Slide
from lab2048.rules.game import Game, Turn
from lab2048.rules.kind import hexagon, rectangle
from lab2048.rules.move import HexMove, Move
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
    "Turn",
    "hexagon",
    "rectangle",
]

"""A laboratory for the game 2048."""

from lab2048.errors import LabError
from lab2048.rules import Board, Game, HexMove, Move, Rules, TriangleMove

__version__ = "0.1.0"

__all__ = ["Board", "Game", "HexMove", "LabError", "Move", "Rules", "TriangleMove"]

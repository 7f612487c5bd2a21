"""Players choose moves: one base class, one registry, one file per family of players."""

from lab2048.players.contract import check_player
from lab2048.players.player import Decision, Player, option
from lab2048.players.player_file import load_player_file
from lab2048.players.registry import (
    canonical_spec,
    default_spec,
    fit_player,
    make_player,
    names,
    register,
    register_evaluator,
)

__all__ = [
    "Decision",
    "Player",
    "canonical_spec",
    "check_player",
    "default_spec",
    "fit_player",
    "load_player_file",
    "make_player",
    "names",
    "option",
    "register",
    "register_evaluator",
]

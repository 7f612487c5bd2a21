"""A laboratory for the game 2048: boards, games, players, matches, exact solutions, training and more.

    import lab2048 as lab

    decision = lab.player("ntuple").ask("2 4 8 16 / # # 2 # / # # # # / # # # 2")
    result = lab.match(["ntuple", "expectimax"], games=100)

Nothing is imported before it is used, so that importing this package takes no time.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lab2048.errors import LabError
    from lab2048.library.game import Game
    from lab2048.library.match import MatchResult, match
    from lab2048.library.network import TrainedNetwork, open_network
    from lab2048.library.player import ReadyPlayer, player, player_names
    from lab2048.library.regret import RegretResult, regret
    from lab2048.library.review import GameReview, review, review_player
    from lab2048.library.solution import Probe, Solution, open_solution
    from lab2048.library.solve import estimate, solve
    from lab2048.library.store import GameStore, open_store
    from lab2048.library.study import StudyResult, study
    from lab2048.library.train import train
    from lab2048.library.tune import tune
    from lab2048.players import (
        Decision,
        Player,
        check_player,
        load_player_file,
        option,
        register,
        register_evaluator,
    )
    from lab2048.rules import Board, HexMove, Move, Rules, TriangleMove
    from lab2048.studies.reading import study_names

__version__ = "0.1.0"

_HOMES = {
    "lab2048.errors": ["LabError"],
    "lab2048.library.game": ["Game"],
    "lab2048.library.match": ["MatchResult", "match"],
    "lab2048.library.network": ["TrainedNetwork", "open_network"],
    "lab2048.library.player": ["ReadyPlayer", "player", "player_names"],
    "lab2048.library.regret": ["RegretResult", "regret"],
    "lab2048.library.review": ["GameReview", "review", "review_player"],
    "lab2048.library.solution": ["Probe", "Solution", "open_solution"],
    "lab2048.library.solve": ["estimate", "solve"],
    "lab2048.library.store": ["GameStore", "open_store"],
    "lab2048.library.study": ["StudyResult", "study"],
    "lab2048.library.train": ["train"],
    "lab2048.library.tune": ["tune"],
    "lab2048.players": [
        "Decision",
        "Player",
        "check_player",
        "load_player_file",
        "option",
        "register",
        "register_evaluator",
    ],
    "lab2048.rules": ["Board", "HexMove", "Move", "Rules", "TriangleMove"],
    "lab2048.studies.reading": ["study_names"],
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "Board",
    "Decision",
    "Game",
    "GameReview",
    "GameStore",
    "HexMove",
    "LabError",
    "MatchResult",
    "Move",
    "Player",
    "Probe",
    "ReadyPlayer",
    "RegretResult",
    "Rules",
    "Solution",
    "StudyResult",
    "TrainedNetwork",
    "TriangleMove",
    "check_player",
    "estimate",
    "load_player_file",
    "match",
    "open_network",
    "open_solution",
    "open_store",
    "option",
    "player",
    "player_names",
    "register",
    "register_evaluator",
    "regret",
    "review",
    "review_player",
    "solve",
    "study",
    "study_names",
    "train",
    "tune",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'lab2048' has no attribute {name!r}")
    found = getattr(importlib.import_module(_HOME_OF[name]), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])

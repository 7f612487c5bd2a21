"""The default network suits the board and the length of the training, and its file stays small."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lab2048 as lab
from lab2048.learning.ntuple import Training
from lab2048.learning.ntuple_config import Config
from lab2048.models.ntuple.file import load_network
from lab2048.models.ntuple.pattern import MAX_WEIGHTS
from lab2048.rules import Rules


@pytest.mark.parametrize(
    ("board", "limits", "network"),
    [
        ("4x4", {"seconds": 30}, "small"),
        ("4x4", {"seconds": 60}, "4x6"),
        ("4x4", {"seconds": 120}, "best"),
        ("4x4", {}, "best"),
        ("4x4", {"n_moves": 1e6}, "small"),
        ("4x4", {"n_games": 1000, "seconds": 3600}, "small"),
        ("3x3", {"seconds": 30}, "small"),
        ("3x3", {"seconds": 300}, "best"),
        ("hex1", {}, "best"),
    ],
)
def test_the_network_suits_board_and_time(board: str, limits: dict[str, float], network: str) -> None:
    rules, n_moves = Rules.from_text(board), Config.moves_within(limits, 1)
    assert Config.for_board(rules, n_moves).network == network
    assert Config.for_board(rules, n_moves, network="auto").network == network
    assert Config.for_board(rules, n_moves, network="rows").network == "rows"


def test_without_shared_weights_the_network_still_fits() -> None:
    rules = Rules.from_text("4x4")
    config = Config.for_board(rules, math.inf, share=False)
    config.check(rules)
    assert config.design(rules).stage_size <= MAX_WEIGHTS


@pytest.mark.parametrize(("board", "most"), [("4x4", 60e6), ("3x3", 66e6), ("2x4", 40e6), ("2x3", 4e6)])
def test_a_small_network_has_megabytes_even_if_all_weights_are_visited(board: str, most: float) -> None:
    rules = Rules.from_text(board)
    assert Config.for_board(rules, 3e7).sizes(rules, 0, 3e7)[1] < most


@pytest.mark.parametrize(("board", "share"), [("3x3", 0.2), ("4x4", 0.2)])
def test_a_file_has_the_visited_weights_only(tmp_path: Path, board: str, share: float) -> None:
    network = lab.train("ntuple", rules=board, moves=500_000, threads=1, out=tmp_path / "network", progress=False)
    config = Config.for_board(network.rules, 500_000)
    n_bytes = (tmp_path / "network").stat().st_size
    assert n_bytes < share * config.sizes(network.rules, 0, 500_000)[1]
    weights = load_network(tmp_path / "network").weights
    assert 12 * np.count_nonzero(weights) < n_bytes < 18 * np.count_nonzero(weights)


@pytest.mark.parametrize(
    "options",
    [
        {"network": "8x4"},  # all blocks are counted
        {"network": "3x6"},  # a sample of blocks
        {"network": "2x6", "stages": "32", "promote": True, "optimism": 100.0},
        {"network": "2x6", "method": "td"},
    ],
    ids=str,
)
def test_the_size_of_a_checkpoint_is_shown_before_it_is_written(tmp_path: Path, options: dict[str, Any]) -> None:
    training = Training.begin(Config(late_after=0, **options), Rules.from_text("4x4"), 1)
    for _ in training.run(n_moves=300_000):
        pass
    shown = training.progress().n_bytes
    training.save(tmp_path / "network")
    assert shown == pytest.approx((tmp_path / "network").stat().st_size, rel=0.25, abs=40_000)
    assert training.progress().n_bytes == (tmp_path / "network").stat().st_size

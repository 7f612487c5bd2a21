"""Values are multiplied by what players scored where a network said so much."""

from pathlib import Path

import numpy as np
import pytest

from lab2048.cli.app import run
from lab2048.errors import FileError, UsageError
from lab2048.models.ntuple.calibration import Calibration, Observation
from lab2048.models.ntuple.file import load_network, read_header, save_network
from lab2048.models.ntuple.network import Design, Network
from lab2048.players.registry import make_player
from lab2048.rules import Board, Game, Rules

RULES = Rules.from_text("2x2", goal=16)


def rows(factor: float, n_games: int = 20) -> list[Observation]:
    return [Observation(game, s, 10.0, 10.0 * factor) for game in range(n_games) for s in range(4, 40, 2)]


def test_the_factor_is_the_score_by_the_value() -> None:
    found = Calibration.fit("3", rows(2.5))
    assert found.factor("3", 20) == pytest.approx(2.5)


def test_searches_without_factors_take_those_of_a_shallower_one() -> None:
    found = Calibration.fit("3", rows(3), Calibration.fit("1", rows(2)))
    assert [found.factor(search, 20) for search in ("1", "2", "3", "9", "ms")] == [2, 2, 3, 3, 3]
    assert Calibration.fit("3", rows(3)).factor("2", 20) == 1


def test_ranges_that_few_games_reach_do_not_count() -> None:
    seen = [*rows(2), Observation(0, 100, 10.0, 90.0)]
    assert Calibration.fit("1", seen).factor("1", 100) == pytest.approx(2)


def test_too_few_games_are_refused() -> None:
    with pytest.raises(UsageError, match="too few games"):
        Calibration.fit("1", rows(2, n_games=9))


def test_between_ranges_the_factor_changes_evenly() -> None:
    found = Calibration({"1": {5.0: 1.0, 15.0: 2.0}})
    assert [found.factor("1", s) for s in (0, 5, 10, 15, 99)] == pytest.approx([1, 1, 1.5, 2, 2])


def test_facts_come_back() -> None:
    found = Calibration({"1": {5.0: 1.0, 15.0: 2.0}, "ms": {1.0: 3.0}})
    assert Calibration.from_facts(found.to_facts()) == found
    assert Calibration.from_facts({}) is None


@pytest.mark.parametrize(
    "damaged",
    [
        1, [], {"1": []}, {"1": [[1, -1]]}, {"1": [[1, "x"]]}, {"x": [[1, 1]]}, {"1": [[2, 1], [1, 1]]}, {"1": 1},
        {"1": [[1]]}, {"1": [["x", 1]]}, {"1": [[1, 1e400]]}, {"9999": [[1, 1]]},
    ],
)  # fmt: skip
def test_damaged_facts_are_refused(damaged: object) -> None:
    with pytest.raises(FileError, match="calibration is damaged"):
        Calibration.from_facts({"calibration": damaged})


@pytest.fixture
def file(tmp_path: Path) -> Path:
    design = Design.from_text(RULES, "01,12")
    weights = np.random.default_rng(1).normal(10, 3, design.n_entries).astype(np.float32)
    save_network(tmp_path / "network", Network(design, weights, facts={"mine": 1}))
    return tmp_path / "network"


def test_calibrated_values_are_right_on_average_and_moves_stay(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    board, spec = Board.from_text("2 4 / 8 #"), f"ntuple:weights={file},depth=2"
    before = make_player(spec)
    before.start(RULES, 1)
    raw, weights = before.choose(board), load_network(file).weights
    assert run(["weights", "calibrate", str(file), "--search", "depth=2", "--games", "200", "--seed", "3"]) == 0
    assert "is calibrated for depth=2" in capsys.readouterr().out
    assert read_header(file).facts["mine"] == 1
    assert (load_network(file).weights == weights).all()
    after = make_player(spec)
    after.start(RULES, 1)
    shown = after.choose(board)
    assert shown.move == raw.move
    ratios = {shown.values[move] / raw.values[move] for move in raw.values}
    assert max(ratios) == pytest.approx(min(ratios))
    # Over other games, the value at the start is what is scored.
    expected, scores = [], []
    for seed in range(300):
        game = Game(RULES, seed)
        expected.append(max(after.choose(game.board).values.values()))
        while not game.is_over:
            game.play(after.choose(game.board).move)
        scores.append(game.score)
    error = np.std(scores) / len(scores) ** 0.5
    assert abs(np.mean(expected) - np.mean(scores)) < 4 * error + 0.1 * np.mean(scores)


@pytest.mark.parametrize("search", ["depth=0", "nothing=1", "depth=(99)", "weights=other"])
def test_wrong_options_are_one_line(file: Path, capsys: pytest.CaptureFixture[str], search: str) -> None:
    before = file.read_bytes()
    assert run(["weights", "calibrate", str(file), "--search", search]) in (2, 3)
    assert len(capsys.readouterr().err.splitlines()) == 1
    assert file.read_bytes() == before

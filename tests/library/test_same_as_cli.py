"""The command line and the library give the same result for the same call."""

import json
from pathlib import Path
from typing import Any

import pytest

import lab2048 as lab
from lab2048.cli.app import run

BOARD = "2 4 8 / # # 2 / # # 2"
CLOCK = {"seconds", "cpu_seconds", "moves_per_second", "seconds_per_game", "seconds_to_goal", "created", "bytes"}


def of_command(capsys: pytest.CaptureFixture[str], *words: str) -> Any:
    """What a command prints as JSON, without its envelope and without what a clock decides."""
    assert run([*words, "--json"]) == 0
    return timeless(json.loads(capsys.readouterr().out))


def timeless(data: Any) -> Any:
    if isinstance(data, dict):
        return {key: timeless(value) for key, value in data.items() if key not in CLOCK | {"schema", "program"}}
    return [timeless(each) for each in data] if isinstance(data, list) else data


def test_match(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["match", "greedy", "expectimax:depth=2", "--rules", "3x3", "--games", "12", "--seed", "5", "--goal", "64"]
    result = lab.match(["greedy", "expectimax:depth=2"], rules="3x3", games=12, seed=5, goal=64)
    assert of_command(capsys, *words) == timeless(json.loads(json.dumps(result.to_dict())))


def test_hint(capsys: pytest.CaptureFixture[str]) -> None:
    for spec in ("expectimax:depth=3", "montecarlo:rollouts=200", "greedy"):
        found = of_command(capsys, "hint", BOARD, "--player", spec)
        decision = lab.player(spec).ask(BOARD)
        assert found["best"] == decision.move.name.lower()
        assert found["values"] == {move.name.lower(): value for move, value in decision.values.items()}
        assert (found["depth"], found["nodes"]) == (decision.depth, decision.nodes)


def test_solve_probe_and_regret(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    folder = tmp_path / "table"
    found = of_command(capsys, "solve", "2x2", "--goal", "16", "--out", str(folder))
    solution = lab.solve("2x2", goal=16)
    assert (found["value"], found["states"]) == (solution.value, solution.n_states)
    probe, told = solution.probe("2 2 / # 4"), of_command(capsys, "probe", str(folder), "2 2 / # 4")
    assert told["best"] == probe.move.name.lower()
    assert [move["value"] for move in told["moves"]] == list(probe.values.values())
    result = lab.regret(folder, ["random", "greedy"], games=10, seed=3)
    graded = of_command(capsys, "regret", str(folder), "-p", "random", "-p", "greedy", "--games", "10", "--seed", "3")
    assert graded == timeless(json.loads(json.dumps(result.to_dict())))


def test_review(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    game, file = lab.Game("2x2", seed=5).play("random"), tmp_path / "game.jsonl"
    file.write_text(json.dumps(game.to_episode().to_json()))
    found = of_command(capsys, "review", str(file))
    for source in (game, file, str(file), file.read_text()):
        assert timeless(json.loads(json.dumps(lab.review(source).to_dict()))) == found
    page = tmp_path / "review.html"
    assert run(["review", str(file), "--html", str(page)]) == 0
    assert lab.review(game).to_html() == page.read_text("utf-8")
    with pytest.raises(lab.LabError, match=r"game\.rpl cannot be read"):
        lab.review(tmp_path / "game.rpl")
    file.write_text("{}\n{}\n")
    with pytest.raises(lab.LabError, match="has 2 games: expected one"):
        lab.review(file)


def test_train_and_evaluate(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    one, other = tmp_path / "one.safetensors", tmp_path / "other.safetensors"
    limits = ["--moves", "3000", "--threads", "1", "--seed", "2"]
    found = of_command(capsys, "train", "ntuple", "--rules", "2x3", *limits, "--out", str(one))
    network = lab.train("ntuple", rules="2x3", moves=3000, threads=1, seed=2, out=other)
    assert found["n_moves"] == network.points()[-1]["n_moves"]
    assert (
        lab.open_network(one).player(depth=1).ask("2 4 # / # 2 #").values
        == network.player(depth=1).ask("2 4 # / # 2 #").values
    )
    told = of_command(capsys, "evaluate", str(one), "--games", "10", "--depth", "1", "--seed", "4")
    assert told["players"][0]["mean_score"] == network.evaluate(games=10, depth=1, seed=4).mean()


def test_study(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    study = lab.study("000-optimal", quick=True, folder=tmp_path)
    row = study.rows[0]
    study.run([row])
    found = of_command(capsys, "study", "report", "000-optimal", "--quick", "--folder", str(tmp_path))
    assert found == timeless(json.loads(json.dumps(study.to_dict())))

"""Every command that answers in JSON is held against docs/json.md."""

import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest
import typer
from json_page import commands, faults, read_page

from lab2048.cli.app import make_app, run
from lab2048.cli.command_tree import children, walk

SCHEMAS = read_page()
SHOWS = {"completion", "serve", "tui", "prepare"}  # a script, a page or a screen, and no result
MEASURING = {"bench-kernels-1", "bench-search-1", "bench-ntuple-1", "bench-deep-1"}  # seconds each; see below


@pytest.fixture(scope="module")
def workshop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a solved table and a network that has hardly learnt."""
    folder = tmp_path_factory.mktemp("workshop")
    assert run(["solve", "2x2", "--goal", "16", "--out", str(folder / "table"), "--workers", "1"]) == 0
    words = ["--network", "1x4", "--rules", "2x2", "--moves", "2000", "--threads", "1", "--method", "tc"]
    assert run(["train", "ntuple", *words, "--out", str(folder / "net.safetensors")]) == 0
    (folder / "replay.txt").write_bytes(b" !d")
    return folder


def answer(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> dict[str, Any]:
    capsys.readouterr()
    assert run([*words]) == code
    out = capsys.readouterr().out
    assert out.count("\n") == 1
    data: dict[str, Any] = json.loads(out)
    return data


# Words after `lab2048`, `--json` left out; W is the workshop, T a folder of the test.
WORDS = [
    ("games-import-1", "games import W/replay.txt"),
    ("episode-2", "games show 1"),
    ("play-1", "play --seed 3"),
    ("watch-1", "watch first --rules 2x2 --seed 5"),
    ("match-1", "match random first --games 4"),
    ("match-1", "match random --games 1"),
    ("match-1", "match random --games 6 --rules 2x2 --luck --no-keep"),
    ("match-1", "match random --games 2 --require mean>=0 --require mean-low>=-1e9"),
    ("match-1", "evaluate W/net.safetensors --games 2"),
    ("hint-1", "hint 22##|#### --player montecarlo:rollouts=8"),
    ("players-1", "players"),
    ("player-1", "players show expectimax"),
    ("perft-1", "perft 22##|#### 2"),
    ("weights-calibrated-1", "weights calibrate W/net.safetensors --search depth=1 --games 20"),
    ("widget-1", "widget --out T/game.html"),
    ("games-1", "games list"),
    ("episode-1", "games show 2"),
    ("replay-1", "games replay 1"),
    ("games-delete-1", "games delete 2"),
    ("games-export-1", "games export --out T/games.jsonl"),
    ("games-import-1", "games import T/games.jsonl"),
    ("solved-1", "solve 2x2 --goal 16 --tiles"),
    ("solved-1", "solve 2x2"),
    ("solve-estimate-1", "solve 2x2 --estimate"),
    ("hint-1", "hint 22## -p greedy:eval=snake --explain"),
    ("solve-largest-1", "solve 2x2 --largest"),
    ("solve-largest-1", "solve 2x2 --largest --spawner first"),
    ("count-1", "count 2x2"),
    ("perft-1", "perft 2x2 3 --spawner worst"),
    ("match-1", "match random --games 2 --rules 2x2 --goal 8 --stop-at-goal --no-keep"),
    ("count-1", "count 2x2 --goal 16 --no-layers"),
    ("probe-1", "probe W/table 2#|#2"),
    ("regret-1", "regret W/table random --games 1"),
    ("review-1", "review 1"),
    ("review-player-1", "review --player random --rules 2x2 --games 2"),
    ("table-verify-1", "table verify W/table"),
    ("export-table-1", "table export W/table --out T/table.csv"),
    ("solved-1", "solve 2x2 --goal 16 --out T/tables/a"),
    ("table-list-1", "table list T/tables"),
    ("endgame-list-1", "endgame list"),
    ("solved-1", "endgame build --formation A##|##G --goal 8 --out T/endgame"),
    ("solve-estimate-1", "endgame build --formation A##|##G --goal 8 --estimate"),
    ("probe-1", "probe T/endgame 8#2|##2"),
    ("table-delete-1", "table delete T/tables/a"),
    ("tune-1", "tune snake --player greedy --rules 2x2 --games 2 --trials 4 --fresh 2 --workers 1 --study T/study"),
    ("train-1", "train ntuple --network 1x4 --rules 2x2 --moves 500 --threads 1 --out T/net.safetensors"),
    ("train-deep-1", "train afterstate --rules 2x2 --moves 300 --out T/deep.safetensors"),
    ("deep-1", "weights info T/deep.safetensors"),
    ("curve-1", "weights curve T/deep.safetensors"),
    ("curve-1", "weights curve W/net.safetensors"),
    ("weights-1", "weights info W/net.safetensors"),
    ("weights-changed-1", "weights prune W/net.safetensors --least 1 --out T/pruned.safetensors"),
    ("weights-changed-1", "weights quantize W/net.safetensors --out T/small.safetensors"),
    ("studies-1", "study list"),
    ("study-report-1", "study run 000-optimal --tiny"),
    ("study-report-1", "study report 000-optimal --tiny"),
    ("config-1", "config show"),
    ("doctor-1", "doctor"),
    ("cluster-1", "cluster status --cluster local"),
    ("bench-positions-1", "bench positions human-buried --player random --games 2 --workers 1"),
]


def test_outputs_are_as_the_page_says(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, workshop: Path, tmp_path: Path
) -> None:
    for schema, words in WORDS:
        monkeypatch.setattr(sys, "stdin", io.StringIO("asdwasdw\nzu\n"))
        places = {"W/": f"{workshop}/", "T/": f"{tmp_path}/"}
        parts = [
            part.replace(old, new) if part.startswith(old) else part
            for part in words.split()
            for old, new in [next(((a, b) for a, b in places.items() if part.startswith(a)), ("", ""))]
        ]
        data = answer(capsys, *parts, "--json")
        assert data["schema"] == f"lab2048/{schema}"
        assert faults(data, SCHEMAS) == [], words


def test_lines_are_as_the_page_says(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    words = ["--network", "1x4", "--rules", "2x2", "--moves", "500", "--threads", "1"]
    assert run(["train", "ntuple", *words, "--out", str(tmp_path / "net.safetensors"), "--jsonl"]) == 0
    assert run(["match", "random", "first", "--games", "4", "--jsonl"]) == 0
    assert run(["solve", "2x2", "--goal", "16", "--jsonl"]) == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [line["schema"] for line in lines if line["event"] == "end"] == [
        "lab2048/train-1", "lab2048/match-1", "lab2048/solved-1",
    ]  # fmt: skip
    monkeypatch.setattr(sys, "stdin", io.StringIO("asdw\n"))
    assert run(["play", "--seed", "3"]) == 0
    capsys.readouterr()
    assert run(["games", "export"]) == 0
    lines += [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    for line in lines:
        assert faults(line | {"program": line.get("program", "")}, SCHEMAS) == []


def test_measurements_are_as_the_page_says(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """With figures that nobody measured: measuring takes a minute."""
    from lab2048.arena.benchmark import measurement, search
    from lab2048.learning import benchmark as learning
    from lab2048.learning.deep import benchmark as deep

    monkeypatch.setattr(deep, "train_speed", lambda *_: deep.TrainingSpeed(1.0, 2.0))
    monkeypatch.setattr(deep, "vector_games_speed", lambda: 1.0)
    monkeypatch.setattr(deep, "evaluation_speed", lambda *_: 1.0)
    monkeypatch.setattr(measurement, "TABLE_BITS", 4)
    for module, measure in (
        ("arena.benchmark.rules", "random_play"),
        ("arena.benchmark.rules", "reference"),
        ("arena.benchmark.rules", "rollout_speed"),
        ("arena.benchmark.search", "slides"),
        ("envs.benchmark", "single_env"),
        ("envs.benchmark", "vector_env"),
    ):
        monkeypatch.setattr(f"lab2048.{module}.{measure}", lambda *_: lambda: 1.0)
    monkeypatch.setattr(search, "thread_gain", lambda *_: (1.5, 1.6))
    monkeypatch.setattr(search, "time_used", lambda *_: (0.9, 1.0))
    monkeypatch.setattr(learning, "learn", lambda *_: learning.Learning(1.0, 2.0, 3.0, None))  # type: ignore[arg-type]
    monkeypatch.setattr(learning, "play_speed", lambda *_: 1.0)
    monkeypatch.setattr(learning, "gather_speed", lambda: 1.0)
    monkeypatch.setattr("lab2048.cli.commands.system.bench.make_ready", lambda *_: None)
    for what in ("kernels", "search", "ntuple", "deep"):
        assert faults(answer(capsys, "bench", what, "--json"), SCHEMAS) == []


def test_the_page_names_every_command_that_answers_in_json() -> None:
    told = {" ".join(words.split()[1:3]) for some in commands().values() for words in some}
    for path, command in walk(typer.main.get_command(make_app())):
        options = [name for parameter in command.params for name in parameter.opts]
        if "--json" in options:
            assert any(words.startswith(" ".join(path[:2])) for words in told), path
        elif not children(command):
            assert path[0] in SHOWS, f"{' '.join(path)} cannot answer in JSON"


def test_every_schema_is_tried() -> None:
    tried = {f"lab2048/{schema}" for schema, _ in WORDS} | {f"lab2048/{name}" for name in MEASURING} | {"rules"}
    tried |= {"lab2048/solve-progress-1", "lab2048/match-games-1"}  # lines, see above
    assert tried == set(SCHEMAS)


def test_a_fault_would_be_found() -> None:
    good = {
        "schema": "lab2048/games-import-1",
        "program": "lab2048",
        "imported": 1,
        "already": 0,
        "refused": 0,
        "ids": [1],
    }
    assert faults(good, SCHEMAS) == []
    assert faults(good | {"imported": "1"}, SCHEMAS)
    assert faults(good | {"extra": 1}, SCHEMAS)
    assert faults({name: value for name, value in good.items() if name != "already"}, SCHEMAS)

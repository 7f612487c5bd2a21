"""`lab2048 train ntuple` as a user types it: it learns, in one part or several, and refuses what makes no sense."""

import json
import shutil
from pathlib import Path

import pytest
from trained import SMALL, train

from lab2048.cli.app import run
from lab2048.kernels.ntuple.self_play import MADE
from lab2048.models.ntuple.file import load_array, load_network
from lab2048.models.ntuple.pattern import write_patterns


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "network.safetensors"


def same(one: Path, other: Path) -> bool:
    """True if weights, rates and cursors are the same to the bit; when it was made is no part of it."""
    from safetensors.numpy import load_file

    first, second = load_file(one), load_file(other)
    return {name: array.tobytes() for name, array in first.items()} == {
        name: array.tobytes() for name, array in second.items()
    }


# --- what it does --------------------------------------------------------------------


def test_a_network_is_trained_and_plays(out: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert train(out, *SMALL, "--moves", "20000") == 0
    said = capsys.readouterr()
    assert "640 weights" in said.err
    assert said.out.splitlines()[-1].startswith(f"{out} is written")
    network = load_network(out, with_rates=True)
    assert network.facts["training"]["n_moves"] >= 20000
    assert network.rates is not None
    words = ["--rules", "2x3", "--games", "200", "--workers", "1", "--no-keep", "--json", "--seed", "1"]
    assert run(["match", "random", f"ntuple:weights={out},depth=1", *words]) == 0
    players = json.loads(capsys.readouterr().out)["players"]
    random, trained = (player["mean_score"] for player in players)
    assert trained > 1.5 * random


def test_progress_as_json(out: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert train(out, *SMALL, "--games", "50", "--no-restart", "--jsonl") == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert lines[-1]["event"] == "end"
    assert lines[-1]["n_games"] == 50
    assert {"seconds", "n_moves", "pace", "mean", "best", "rates", "learning_rate", "error"} <= set(lines[-1])


@pytest.mark.parametrize(
    "words",
    [
        ["--method", "td", "--order", "forward", "--epsilon", "0.1", "--alpha", "0.05"],
        ["--lambda", "1", "--discount", "0.9", "--no-restart", "--no-share"],
        ["--stages", "8,32", "--optimism", "500", "--order", "forward", "--late-after", "0"],
        ["--stages", "8,32", "--late-after", "2000", "--taught", "700"],
        ["--stages", "16", "--promote", "--late-after", "3000", "--no-carousel"],
        ["--spawn", "2:0.5,4:0.5", "--start", "1", "--goal", "64"],
        ["--network", "4x5"],
        ["--network", "pairs-triplets-quartets"],
        ["--stages", "8,32", "--promote", "--late-after", "0", "--method", "td", "--optimism", "-30"],
        ["--rules", "4x4", "--network", "4x4", "--downgrade", "--synthetic", "0.5", "--late-after", "0"],
        [
            "--rules",
            "4x4",
            "--network",
            "4x4",
            "--synthetic",
            "0.3",
            "--method",
            "td",
            "--promote",
            "--late-after",
            "0",
        ],
    ],
)
def test_training_in_two_parts_is_training_in_one(out: Path, words: list[str]) -> None:
    other = out.with_name("other")
    words = [*SMALL, "--seed", "5", *words]
    assert train(other, *words, "--moves", "6000") == 0
    for moves in ("1", "2500", "6000"):
        assert train(out, *words, "--moves", moves, *(["--resume"] if out.exists() else [])) == 0
    assert same(out, other)


def test_two_threads_train_and_go_on_with_one(out: Path) -> None:
    words = ["--rules", "2x3", "--network", "rows", "--moves"]
    assert train(out, *words, "5000", "--threads", "2") == 0
    assert train(out, *words, "9000", "--threads", "1", "--resume") == 0
    facts = load_network(out).facts["training"]
    assert [session["threads"] for session in facts["sessions"]] == [2, 1]
    cursors = load_array(out, "cursors")
    assert cursors is not None
    assert facts["n_moves"] >= 9000
    assert abs(int(cursors[:, MADE].sum()) - facts["n_moves"]) <= 1  # the guide knows how far the training is


def test_what_was_said_at_first_need_not_be_said_again(out: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert train(out, *SMALL, "--spawn", "2:1", "--seed", "3", "--moves", "100") == 0
    assert train(out, "--resume", "--threads", "1", "--moves", "200") == 0
    rules = load_network(out).design.rules
    assert (rules.shape.size_name, rules.spawn_table) == ("2x3", ((1, 1.0),))


def test_the_best_network_is_read_back_and_goes_on_by_any_name(out: Path) -> None:
    words = ["--threads", "1", "--moves"]
    assert train(out, "--rules", "2x3", *words, "1000") == 0
    network = load_network(out)
    assert len(network.weights) == 2 * 8**4 + 8**6  # two patterns of four cells, and the board itself
    name = write_patterns(network.design.patterns)
    assert train(out, "--resume", *words, "2000", "--network", name) == 0
    assert train(out, "--resume", *words, "3000", "--network", "best") == 0
    assert load_network(out).design == network.design


# --- what it refuses -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "says", "code"),
    [
        (["--network", "8x9"], "network 8x9 is out of range: expected 1 to 64 patterns of 2 to 8 cells", 2),
        (["--network", "bst"], "unknown network 'bst': did you mean best?", 2),
        (["--rules", "4x4", "--network", "8x7"], "weights, 16^cells for each pattern: expected at most", 2),
        (["--network", "0z"], "unknown network '0z'", 2),
        (["--network", "06"], "pattern 06 has cell 6: expected cells 0 to 5 of 2x3", 2),
        (["--method", "tx"], "unknown method 'tx': expected one of tc, td", 2),
        (["--order", "backwards"], "did you mean backward?", 2),
        (["--alpha", "-1"], "alpha -1 is out of range: expected 0 to 10", 2),
        (["--alpha", "nan"], "alpha nan is out of range", 2),
        (["--lambda", "1.5"], "lambda 1.5 is out of range: expected 0 to 1", 2),
        (["--discount", "2"], "discount 2 is out of range", 2),
        (["--epsilon", "2"], "epsilon 2 is out of range", 2),
        (["--optimism", "inf"], "optimism inf is out of range", 2),
        (["--stages", "9"], "stages 9: expected tiles such as 8192,16384", 2),
        (["--stages", "64,32"], "in increasing order", 2),
        (["--stages", "2"], "stage out of range: expected tiles from 4 to 32768", 2),
        (["--moves", "0"], "moves 0 is out of range: expected above 0", 2),
        (["--minutes", "-1"], "minutes -1 is out of range", 2),
        (["--checkpoint", "nan"], "checkpoint nan is out of range", 2),
        (["--threads", "1000"], "threads 1000 is out of range", 2),
        (["--seed", "-1"], "seed -1 is out of range", 2),
        (["--rules", "5x5"], "has 25 cells: expected a board of at most 16 cells", 3),
        (["--rules", "32768 32768 #"], "expected tiles with a sum below 65536", 3),
        (["--resume"], "there is no file", 3),
    ],
)
def test_a_wrong_word_is_one_line_and_no_file(
    out: Path, capsys: pytest.CaptureFixture[str], words: list[str], says: str, code: int
) -> None:
    assert train(out, *SMALL, *words) == code
    last = capsys.readouterr().err.splitlines()[-1]
    assert last.startswith("lab2048: ")
    assert says in last
    assert not out.exists()


def test_a_file_that_is_there_is_not_lost(out: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out.write_text("precious")
    assert train(out, *SMALL, "--moves", "100") == 3
    assert "exists already; continue it with --resume, or replace it with --force" in capsys.readouterr().err
    assert out.read_text() == "precious"
    assert train(out, *SMALL, "--moves", "100", "--force") == 0
    assert train(out.parent, *SMALL) == 3
    assert "is a folder" in capsys.readouterr().err
    assert train(out.parent / "nowhere" / "network", *SMALL) == 3
    assert "there is no folder" in capsys.readouterr().err


def test_how_much_room_it_takes_is_said_before_it_begins(out: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert train(out, *SMALL, "--moves", "100") == 0
    assert "at most 7.76 kB on disk, and as much again while it is being written" in capsys.readouterr().err
    network = load_network(out, with_rates=True)
    assert network.rates is not None
    n_marks = 8 * 10 + 2  # a word for each block of 64 weights, and a bit for each word
    assert network.weights.nbytes + network.rates.nbytes + n_marks == 7762
    assert train(out, *SMALL, "--moves", "100", "--force", "--stages", "16", "--late-after", "50") == 0
    assert "7.76 kB on disk, later 15.5 kB" in capsys.readouterr().err
    assert train(out, *SMALL, "--moves", "100", "--force", "--stages", "16", "--late-after", "1e6") == 0
    assert "later" not in capsys.readouterr().err  # it ends before


def test_a_disk_without_room_is_told_before_anything_is_learnt(
    out: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = shutil.disk_usage("/")._replace(free=10_000)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage)
    assert train(out, *SMALL, "--moves", "100") == 3
    [line] = capsys.readouterr().err.splitlines()
    assert line.startswith(f"lab2048: not enough disk space for {out}: it needs 7.76 kB, twice that while")
    assert "10 kB are free" in line
    assert not out.exists()

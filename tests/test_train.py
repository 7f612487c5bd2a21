"""`lab2048 train ntuple` as a user types it: it learns, it goes on, and no end costs what it has learnt."""

import json
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from lab2048.cli.app import run
from lab2048.kernels.train import MADE
from lab2048.models.file import load_array, load_network, save_network
from lab2048.models.pattern import write_patterns

SMALL = ["--rules", "2x3", "--network", "rows", "--threads", "1"]
ENDLESS = [*SMALL, "--moves", "1e15", "--jsonl"]


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "network.safetensors"


def train(out: Path, *words: str) -> int:
    return run(["train", "ntuple", "--out", str(out), *words])


def same(one: Path, other: Path) -> bool:
    """True if weights, rates and cursors are the same to the bit; when it was made is no part of it."""
    from safetensors.numpy import load_file

    first, second = load_file(one), load_file(other)
    return {name: array.tobytes() for name, array in first.items()} == {
        name: array.tobytes() for name, array in second.items()
    }


def start(out: Path, *words: str, **options: object) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "lab2048", "train", "ntuple", "--out", str(out), *words]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)  # type: ignore[call-overload, no-any-return]


def wait_for(process: subprocess.Popen[str], event: str) -> None:
    assert process.stdout is not None
    for line in process.stdout:
        if json.loads(line)["event"] == event:
            return
    raise AssertionError(process.communicate())


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
        (["--network", "bst"], "network 'bst' is unknown: did you mean best?", 2),
        (["--rules", "4x4", "--network", "8x7"], "weights, 16^cells for each pattern: expected at most", 2),
        (["--network", "0z"], "network '0z' is unknown", 2),
        (["--network", "06"], "pattern 06 has cell 6: expected cells 0 to 5 of 2x3", 2),
        (["--method", "tx"], "method tx is unknown: known: tc, td", 2),
        (["--order", "backwards"], "did you mean backward?", 2),
        (["--alpha", "-1"], "alpha -1.0 is out of range: expected 0 to 10", 2),
        (["--alpha", "nan"], "alpha nan is out of range", 2),
        (["--lambda", "1.5"], "lambda 1.5 is out of range: expected 0 to 1", 2),
        (["--discount", "2"], "discount 2.0 is out of range", 2),
        (["--epsilon", "2"], "epsilon 2.0 is out of range", 2),
        (["--optimism", "inf"], "optimism inf is out of range", 2),
        (["--stages", "9"], "stages 9: expected tiles such as 8192,16384", 2),
        (["--stages", "64,32"], "each above the last", 2),
        (["--stages", "2"], "stage out of range: expected tiles from 4 to 32768", 2),
        (["--moves", "0"], "moves 0 is out of range: expected above 0", 2),
        (["--minutes", "-1"], "minutes -1 is out of range", 2),
        (["--checkpoint", "nan"], "checkpoint nan is out of range", 2),
        (["--threads", "1000"], "threads 1000 is out of range", 2),
        (["--seed", "-1"], "seed -1 is out of range", 2),
        (["--rules", "5x5"], "has 25 cells: expected a board of at most 16 cells", 3),
        (["--rules", "32768 32768 #"], "expected tiles that sum to less than 65536", 3),
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
    assert "is there already: --resume goes on with it, --force replaces it" in capsys.readouterr().err
    assert out.read_text() == "precious"
    assert train(out, *SMALL, "--moves", "100", "--force") == 0
    assert train(out.parent, *SMALL) == 3
    assert "is a folder" in capsys.readouterr().err
    assert train(out.parent / "nowhere" / "network", *SMALL) == 3
    assert "there is no folder" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--network", "012"], "network 012: the network was trained with rows"),
        (["--method", "td"], "method td: the network was trained with tc"),
        (["--optimism", "100"], "optimism 100.0: the network was trained with 0.0"),
        (["--no-share"], "share False: the network was trained with True"),
        (["--lambda", "7"], "lambda 7.0 is out of range: expected 0 to 1"),
        (["--stages", "3"], "stages 3: expected tiles such as 8192,16384, or none"),
        (["--seed", "9"], "seed 9: the network was trained with 1"),
        (["--rules", "2x2"], "rules 2x2: the network was trained with 2x3"),
        (["--spawn", "2:1"], "spawn 2:1.0: the network was trained with 2:0.9,4:0.1"),
    ],
)
def test_a_training_goes_on_as_it_began(
    out: Path, capsys: pytest.CaptureFixture[str], words: list[str], says: str
) -> None:
    assert train(out, *SMALL, "--moves", "100") == 0
    before = out.read_bytes()
    capsys.readouterr()
    assert train(out, "--threads", "1", "--resume", "--moves", "200", *words) == 2
    [line] = capsys.readouterr().err.splitlines()
    assert line.startswith(f"lab2048: {says}")
    assert out.read_bytes() == before


def test_a_training_may_go_on_differently_and_with_further_stages(
    out: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert train(out, *SMALL, "--moves", "1000") == 0
    before = load_network(out)
    words = ["--threads", "1", "--resume", "--moves", "3000", "--alpha", "0.5", "--no-carousel", "--taught", "200"]
    assert train(out, *words, "--stages", "16,32", "--late-after", "2000") == 0
    network = load_network(out)
    assert network.design.stages == (4, 5)
    assert np.count_nonzero(network.weights[network.design.stage_size :])
    assert network.facts["training"]["config"]["alpha"] == 0.5
    assert len(network.weights) == 3 * len(before.weights)
    capsys.readouterr()
    assert train(out, "--resume", "--moves", "4000", "--stages", "32") == 2
    assert "the network has stages from 16,32 on: expected the same, and further ones" in capsys.readouterr().err


def test_a_network_that_cannot_learn_on_says_so(out: Path, capsys: pytest.CaptureFixture[str]) -> None:
    small = out.with_name("small")
    assert train(out, *SMALL, "--moves", "100") == 0
    assert run(["weights", "quantize", str(out), "--step", "1", "--out", str(small)]) == 0
    capsys.readouterr()
    assert train(small, "--resume") == 3
    assert "cannot be trained further: expected a checkpoint of lab2048 train" in capsys.readouterr().err


@pytest.mark.parametrize(
    "change",
    [
        {"training": None},
        {"training": {}},
        {"config": {}},
        {"config": {"network": "rows", "method": "tx"}},
        {"seconds": "long"},
        {"n_moves": None},
        {"curve": 3},
        {"sessions": {}},
    ],
    ids=str,
)
def test_a_checkpoint_that_makes_no_sense_is_one_line(
    out: Path, capsys: pytest.CaptureFixture[str], change: dict[str, object]
) -> None:
    assert train(out, *SMALL, "--moves", "100") == 0
    network, cursors = load_network(out, with_rates=True), load_array(out, "cursors")
    assert cursors is not None
    network.facts = change if "training" in change else {"training": network.facts["training"] | change}
    save_network(out, network, cursors=cursors)
    before = out.read_bytes()
    capsys.readouterr()
    assert train(out, "--resume", "--threads", "1", "--moves", "200") == 3
    [line] = capsys.readouterr().err.splitlines()
    assert line.endswith("cannot be trained further: expected a checkpoint of lab2048 train")
    assert out.read_bytes() == before


# --- how it ends ---------------------------------------------------------------------


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_keeps_the_network_and_training_goes_on(out: Path, number: int) -> None:
    process = start(out, *ENDLESS)
    wait_for(process, "progress")
    process.send_signal(number)
    said, error = process.communicate()
    assert process.returncode == 130, error
    assert "Traceback" not in error
    end = json.loads(said.splitlines()[-1])
    assert (end["event"], end["n_moves"]) == ("end", load_network(out).facts["training"]["n_moves"])
    assert train(out, "--resume", "--threads", "1", "--moves", str(end["n_moves"] + 100)) == 0


@pytest.mark.parametrize("n_saves", [1, 2, 3])
def test_kill_9_leaves_the_last_checkpoint(out: Path, n_saves: int) -> None:
    # Saves follow each other without a pause, so that the end most likely comes in the middle of one.
    process = start(out, *ENDLESS, "--network", "012345", "--checkpoint", "1e-9")
    for _ in range(n_saves):
        wait_for(process, "checkpoint")
    while not any(entry.suffix == ".part" for entry in out.parent.iterdir()):
        assert process.poll() is None, process.communicate()
        time.sleep(0.001)  # not to wait for it, but to leave the processor to it
    process.kill()
    process.communicate()
    network = load_network(out, with_rates=True)
    n_moves = network.facts["training"]["n_moves"]
    assert n_moves > 0
    assert np.isfinite(network.weights).all()
    assert train(out, "--resume", "--threads", "1", "--moves", str(n_moves + 100)) == 0


def test_a_full_disk_is_one_line_and_keeps_the_checkpoint(out: Path) -> None:
    assert train(out, *SMALL, "--moves", "100") == 0
    before = out.read_bytes()

    def little_room() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))

    process = start(out, "--resume", "--threads", "1", "--moves", "200", preexec_fn=little_room)
    _, error = process.communicate()
    assert process.returncode == 3
    assert error.splitlines()[-1] == f"lab2048: {out} cannot be written: the disk is full"
    assert out.read_bytes() == before
    assert [entry.name for entry in out.parent.iterdir() if "network" in entry.name] == [out.name]

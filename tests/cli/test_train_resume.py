"""Checkpoints of `lab2048 train ntuple`: a training goes on as it began, and no end costs what it has learnt."""

import fcntl
import json
import os
import pty
import resource
import signal
import subprocess
import sys
import termios
import time
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest
from trained import SMALL, train

from lab2048.cli.app import run
from lab2048.learning.ntuple_config import Config
from lab2048.models.ntuple.file import load_array, load_network, save_network

ENDLESS = [*SMALL, "--moves", "1e15", "--jsonl"]


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "network.safetensors"


def start(out: Path, *words: str, **options: object) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "lab2048", "train", "ntuple", "--out", str(out), *words]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)  # type: ignore[call-overload, no-any-return]


def wait_for(process: subprocess.Popen[str], event: str) -> None:
    assert process.stdout is not None
    for line in process.stdout:
        if json.loads(line)["event"] == event:
            return
    raise AssertionError(process.communicate())


# --- how it goes on ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--network", "012"], "network 012: the network was trained with rows"),
        (["--method", "td"], "method td: the network was trained with tc"),
        (["--optimism", "100"], "optimism 100.0: the network was trained with 0.0"),
        (["--no-share"], "share False: the network was trained with True"),
        (["--lambda", "7"], "lambda 7 is out of range: expected 0 to 1"),
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
    assert "the network has the stages 16,32: expected these first, then new ones" in capsys.readouterr().err


def test_a_preset_that_had_other_places_goes_on_with_those(out: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--rules", "2x3", "--no-share", "--threads", "1", "--moves"]
    assert train(out, *words, "1000", "--network", "012") == 0
    network, cursors = load_network(out, with_rates=True), load_array(out, "cursors")
    assert cursors is not None
    network.facts["training"]["config"]["network"] = "rows"  # which stood at one place of each kind before
    save_network(out, network, cursors=cursors)
    assert train(out, *words, "2000", "--resume") == 0
    found = load_network(out)
    assert found.design.patterns == ((0, 1, 2),)
    assert found.facts["training"]["config"]["network"] == "012"
    capsys.readouterr()
    assert train(out, *words, "3000", "--resume", "--network", "rows") == 2
    assert "network rows: the network was trained with 012" in capsys.readouterr().err


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
        {"config": asdict(Config(network="fifty"))},
        {"config": asdict(Config()) | {"network": 50}},
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
    assert line.startswith(f"lab2048: {out} ")
    assert "cannot be trained further: expected a checkpoint of lab2048 train" in line or "is not a network: " in line
    assert out.read_bytes() == before


# --- how it ends ---------------------------------------------------------------------


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_ctrl_c_keeps_the_network_and_training_goes_on(out: Path, number: int, code: int) -> None:
    process = start(out, *ENDLESS)
    wait_for(process, "progress")
    process.send_signal(number)
    said, error = process.communicate()
    assert process.returncode == code, error
    assert "Traceback" not in error
    end = json.loads(said.splitlines()[-1])
    assert (end["event"], end["n_moves"]) == ("end", load_network(out).facts["training"]["n_moves"])
    assert train(out, "--resume", "--threads", "1", "--moves", str(end["n_moves"] + 100)) == 0


def test_a_closed_terminal_keeps_the_network(out: Path) -> None:
    """Nothing can be printed any more, and the training saves its network all the same."""
    master, slave = pty.openpty()
    command = [sys.executable, "-m", "lab2048", "train", "ntuple", "--out", str(out), *ENDLESS]
    process = subprocess.Popen(
        command, stdin=slave, stdout=slave, stderr=slave, start_new_session=True,
        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
    )  # fmt: skip
    os.close(slave)
    shown = b""
    while b'"progress"' not in shown:
        shown += os.read(master, 4096)
    os.close(master)
    assert process.wait(600) == 129
    assert load_network(out).facts["training"]["n_moves"] > 0


def test_nohup_keeps_a_training_running(out: Path) -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)  # inherited
    try:
        process = start(out, *ENDLESS)
    finally:
        signal.signal(signal.SIGHUP, before)
    wait_for(process, "progress")
    process.send_signal(signal.SIGHUP)
    wait_for(process, "progress")
    process.send_signal(signal.SIGINT)
    process.communicate()
    assert process.returncode == 130


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

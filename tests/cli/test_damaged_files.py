"""What a damaged file does: one line that names it, and exit code 3; never a crash, a hang or too much memory."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file
from trained import SMALL, train

from lab2048.cli.app import run
from lab2048.kernels.ntuple import self_play
from lab2048.models.ntuple.file import load_array, load_network, save_network
from lab2048.records import memory

Read = tuple[str, ...]


@pytest.fixture
def network(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    path = tmp_path / "net"
    assert train(path, *SMALL, "--moves", "500", "--late-after", "0") == 0
    capsys.readouterr()
    return path


def one_line(capsys: pytest.CaptureFixture[str], path: Path, *words: str) -> str:
    """Run a command that must refuse a file."""
    capsys.readouterr()
    assert run(words) == 3
    [line] = capsys.readouterr().err.splitlines()
    assert path.name in line
    return line


@pytest.mark.parametrize(
    ("word", "value"),
    [
        (self_play.HIGHEST_BUCKET, 2**40),
        (self_play.HIGHEST_BUCKET, self_play.N_BUCKETS),
        (self_play.START, 0xFFFF_FFFF_FFFF_FFFF),  # tiles outside the board
        (self_play.START, 0x0F_FFFF),  # larger than any tile of 2x3
        (self_play.START, 0x11_1111),  # no cell is empty
        (self_play.START_BUCKETS + 100, 2**63),
        (self_play.NUMBER, 2**64 - 1),
        (self_play.MADE, 2**63),
        (self_play.IS_SYNTHETIC, 2),
    ],
)
def test_a_damaged_cursor_is_not_followed(network: Path, word: int, value: int) -> None:
    """In a process of its own: kernels that follow it write outside their arrays."""
    found, cursors = load_network(network, with_rates=True), load_array(network, "cursors")
    assert cursors is not None
    cursors[0, word] = value
    save_network(network, found, cursors=cursors)
    words = ("train", "ntuple", "--resume", "--out", str(network), "--moves", "5000", "--threads", "2")
    ended = subprocess.run([sys.executable, "-m", "lab2048", *words], capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (
        3,
        f"lab2048: {network} cannot be trained further: it is damaged (its cursors)\n",
    )


def rewrite(path: Path, change: Callable[[dict[str, object]], object]) -> None:
    """Change the header of a network."""
    from safetensors import safe_open

    with safe_open(path, "np") as file:
        (key, text), *_ = file.metadata().items()
    about = json.loads(text)
    change(about)
    save_file(load_file(path), path, {key: about if isinstance(about, str) else json.dumps(about)})


def test_a_file_that_unpacks_to_more_than_the_free_memory_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from lab2048.models.ntuple.network import Design, Network
    from lab2048.rules import Rules

    path = tmp_path / "net"
    network = Network.empty(Design.from_text(Rules.from_text("4x4"), "8x6"))
    network.weights[0] = 1
    save_network(path, network, np.float32(0))
    assert path.stat().st_size < 300_000
    monkeypatch.setattr(memory, "free_memory", lambda: 400 * 2**20)
    load_network(path)  # zeros take no memory
    save_network(path, network, np.float32(1))
    assert "needs 0.5 GB of memory: 0.4 GB are free" in one_line(capsys, path, "weights", "info", str(path))
    assert run(["weights", "quantize", str(path), "--out", str(path.with_name("small"))]) == 3
    assert not path.with_name("small").exists()


READERS: list[Read] = [
    ("weights", "info", "PATH"),
    ("weights", "curve", "PATH"),
    ("evaluate", "PATH", "--games", "1"),
    ("hint", "2 4 / # #", "--player", "ntuple:weights=PATH"),
    ("hint", "2 4 / # #", "--player", "net:weights=PATH"),
    ("hint", "2 4 / # #", "--player", "expectimax:eval=PATH.toml"),
    ("hint", "2 4 / # #", "--player", "optimal:table=PATH"),
    ("probe", "PATH", "2 4 / # #"),
    ("games", "import", "PATH"),
    ("games", "list", "--store", "PATH"),
    ("study", "report", "PATH.toml"),
    ("bench", "positions", "--file", "PATH"),
    ("players", "--player-file", "PATH.py"),
    ("tune", "{empty = 1}", "--study", "PATH"),
]


def put_pipe(path: Path) -> None:
    os.mkfifo(path)


def put_device(path: Path) -> None:
    path.symlink_to("/dev/zero")


def put_loop(path: Path) -> None:
    path.symlink_to(path)


@pytest.mark.parametrize(
    "put", [put_pipe, put_device, put_loop, Path.mkdir, lambda path: path.write_bytes(b"\xff\xfe\0")]
)
@pytest.mark.parametrize("words", READERS, ids=" ".join)
def test_what_is_no_file_is_one_line_and_never_waits(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], words: Read, put: Callable[[Path], object]
) -> None:
    name = next(word for word in words if "PATH" in word)
    path = tmp_path / ("strange" + name[name.index("PATH") + 4 :])
    put(path)
    assert run([word.replace("PATH", str(tmp_path / "strange")) for word in words]) == 3
    [told] = capsys.readouterr().err.splitlines()
    assert path.name in told


def test_a_pipe_without_a_name_can_be_imported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The shell writes it for <(...)."""
    reading, writing = os.pipe()
    os.write(writing, b"hello\n")
    os.close(writing)
    assert run(["games", "import", f"/dev/fd/{reading}"]) == 3
    [told] = capsys.readouterr().err.splitlines()
    assert told.startswith(f"/dev/fd/{reading}: not JSON lines; not a replay: expected one of 2048verse")


def test_two_trainings_do_not_write_one_file(network: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from lab2048.library.train import only_writer

    before = network.read_bytes()
    with only_writer(network, resume=True, force=False):
        line = one_line(capsys, network, "train", "ntuple", "--resume", "--out", str(network), "--moves", "600")
        assert "another training is writing" in line
        line = one_line(capsys, network, "train", "ntuple", *SMALL, "--force", "--out", str(network), "--moves", "10")
        assert "another training is writing" in line
    assert network.read_bytes() == before
    assert train(network, "--resume", "--threads", "1", "--moves", "600") == 0
    assert sorted(path.name for path in network.parent.glob(".*")) == []  # nothing is left beside it


@pytest.mark.parametrize(
    "words", [("weights", "quantize", "NET", "--out"), ("train", "ntuple", *SMALL, "--moves", "9", "--out")]
)
def test_a_link_to_itself_is_no_reason_to_fail(network: Path, words: Read) -> None:
    """It is replaced by the file; Python 3.12 and older cannot resolve it."""
    loop = network.with_name("loop")
    loop.symlink_to(loop)
    assert run([*(str(network) if word == "NET" else word for word in words), str(loop)]) == 0
    assert loop.is_file()

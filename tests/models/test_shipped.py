"""The network that comes with lab2048 is unpacked once, into the cache, and read from there if it is whole."""

import json
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from plain_network import design_of, random_network

from lab2048.arena import compile as compiling
from lab2048.cli.app import run
from lab2048.errors import StoppedError
from lab2048.models import SHIPPED
from lab2048.models.ntuple import shipped
from lab2048.models.ntuple.compress import quantize
from lab2048.models.ntuple.file import save_network
from lab2048.models.ntuple.network import Network
from lab2048.rules import Board
from lab2048.stop_flag import StopFlag, looking_at

BOARD = Board.from_text("2 4 / 8 #")


@pytest.fixture
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Network:
    """A small network in place of the one that comes with lab2048, and an empty cache."""
    network = quantize(random_network(design_of("2x2", ((0, 1), (0, 3))), seed=1), 0.25)
    save_network(tmp_path / "shipped.safetensors", network)
    monkeypatch.setattr(shipped, "FILE", tmp_path / "shipped.safetensors")
    monkeypatch.setattr(shipped, "cache_root", lambda: tmp_path / "cache")
    return network


def take() -> Network:
    """Take it as a new process would."""
    shipped._read.cache_clear()
    return shipped.take_network(None)


def unpacked(tmp_path: Path) -> Path:
    [path] = (tmp_path / "cache" / "networks").iterdir()
    return path


def test_it_is_unpacked_once(tmp_path: Path, small: Network, monkeypatch: pytest.MonkeyPatch) -> None:
    assert take().value(BOARD) == small.value(BOARD)
    assert len(unpacked(tmp_path).read_bytes()) < 4 * 4096
    monkeypatch.setattr(shipped, "read_compressed", lambda *_: pytest.fail("unpacked again"))
    assert take().value(BOARD) == small.value(BOARD)


@pytest.mark.parametrize(
    "change",
    [
        lambda data: data[:-2],
        lambda data: data + b"\0",
        lambda data: b"lab2048\2" + data[8:],  # another version
        lambda data: bytes(len(data)),
        lambda data: data[:4096] + b"\xff" + data[4097:],  # the page table
        lambda data: data[:20],
        lambda _: b"",
    ],
)
def test_a_damaged_copy_is_unpacked_again(tmp_path: Path, small: Network, change) -> None:  # type: ignore[no-untyped-def]
    take()
    path, whole = unpacked(tmp_path), unpacked(tmp_path).read_bytes()
    path.write_bytes(change(whole))
    assert take().value(BOARD) == small.value(BOARD)
    assert path.read_bytes() == whole


def test_a_cache_that_cannot_be_written_is_no_harm(tmp_path: Path, small: Network) -> None:
    (tmp_path / "cache").write_text("a file where a folder should be")
    assert take().value(BOARD) == small.value(BOARD)


def test_it_is_made_ready_once_and_says_so(small: Network, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiling, "_prepared", set())
    assert not shipped.is_unpacked()
    for expected in (["unpacking the network of lab2048, once after an update"], []):
        said: list[str] = []
        work: list[compiling.Preparing] = []
        monkeypatch.setattr(compiling, "_prepared", set())
        compiling.prepare(said.append, SHIPPED, begun=work.append)
        assert said == expected
        assert [str(each) for each in work] == ["unpacking the network of lab2048: 2 of 2"] * len(expected)
        assert shipped.is_unpacked()
        shipped._read.cache_clear()
    assert take().value(BOARD) == small.value(BOARD)


def test_where_it_cannot_be_kept_everyone_is_told_and_unpacks_it(
    tmp_path: Path, small: Network, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "cache").write_text("a file where a folder should be")
    monkeypatch.setattr(compiling, "_prepared", set())
    said: list[str] = []
    for _ in range(2):
        compiling.prepare(said.append, SHIPPED, begun=lambda _: pytest.fail("unpacked for nobody"))
    [line] = said
    assert line.startswith("the network of lab2048 is unpacked each time: ")
    assert take().value(BOARD) == small.value(BOARD)


def test_where_none_ships_there_is_nothing_to_unpack(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shipped, "FILE", tmp_path / "nowhere")
    assert shipped.is_unpacked()


def test_another_network_has_a_copy_of_its_own(tmp_path: Path, small: Network) -> None:
    take()
    other = quantize(random_network(design_of("2x2", ((0, 1), (0, 3))), seed=2), 0.25)
    save_network(tmp_path / "shipped.safetensors", other)
    assert take().value(BOARD) == other.value(BOARD) != small.value(BOARD)
    assert len(list((tmp_path / "cache" / "networks").iterdir())) == 1  # what is not used any more is swept


def test_the_network_that_comes_with_lab2048_is_small_and_strong(capsys: pytest.CaptureFixture[str]) -> None:
    assert shipped.FILE.stat().st_size <= 45e6
    assert run(["match", "ntuple:depth=1", "--games", "20", "--seed", "1", "--workers", "1", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["players"][0]["mean_score"] > 180_000


def test_it_gives_hints_on_the_classic_board_where_no_one_else_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["hint", "2 4 8 16 / # # 2 # / # # # # / # # # 2", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["player"] == "ntuple"
    assert run(["hint", "2 4 8 / # # 2", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["player"] == "expectimax"
    assert run(["hint", "2 4 8 / # # 2", "--player", "ntuple"]) == 3
    assert "was trained on" in capsys.readouterr().err


@pytest.fixture(params=["whole", "quantized"])
def file(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Path]:
    """A network of one's own."""
    network = random_network(design_of("2x2", ((0, 1), (0, 3))), seed=1)
    path = tmp_path / "own.safetensors"
    save_network(path, quantize(network, 0.25) if request.param == "quantized" else network)
    yield path
    shipped._read.cache_clear()


def test_threads_that_want_the_same_network_share_one(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    n_reads, begun, is_wanted_twice = 0, threading.Event(), threading.Event()
    load = shipped.load_network

    def read(path: Path) -> Network:
        nonlocal n_reads
        n_reads += 1
        begun.set()
        assert is_wanted_twice.wait(60)
        return load(path)

    def want() -> Network:
        is_wanted_twice.set()
        return shipped.take_network(str(file))

    monkeypatch.setattr(shipped, "load_network", read)
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(shipped.take_network, str(file))
        assert begun.wait(60)
        second = pool.submit(want)
        assert first.result(60) is second.result(60)
    assert n_reads == 1


def test_reading_a_network_can_be_stopped(file: Path) -> None:
    flag = StopFlag()
    flag.set()
    with looking_at(flag), pytest.raises(StoppedError):
        shipped.take_network(str(file))
    assert shipped.take_network(str(file)).value(BOARD)  # the next caller gets it

"""Long work says how it goes and how to go on; closed pipes are quiet."""

import io
import os
import signal
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from lab2048.arena import compile as compiling
from lab2048.arena.compile import Preparing
from lab2048.cli import progress
from lab2048.library import progress as library_progress
from lab2048.library.interrupt import interruptible
from lab2048.stop_flag import OF_PROCESS

LAB = [sys.executable, "-m", "lab2048"]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """A clock that goes when it is told to."""
    now = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    return now


def test_a_terminal_gets_a_bar_from_the_second_second_on(monkeypatch: pytest.MonkeyPatch, clock: list[float]) -> None:
    monkeypatch.setattr(sys, "stderr", Terminal())
    with progress.progress_line() as show:
        show("game 1", 0.1)
        assert sys.stderr.getvalue() == ""
        clock[0] = 2.0
        show("game 2", 0.2)
        assert sys.stderr.getvalue() == "\r[####----------------]  20%, 8 s left  game 2"
        clock[0] = 2.1  # too soon
        show("game 3", 0.3)
    assert sys.stderr.getvalue().endswith(" \r")  # nothing is left behind
    assert "game 3" not in sys.stderr.getvalue()


def test_a_pipe_gets_a_line_every_ten_seconds(monkeypatch: pytest.MonkeyPatch, clock: list[float]) -> None:
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    with progress.progress_line() as show:
        for second in range(25):
            clock[0] = second
            show(f"game {second}", second / 25)
    assert [line.split()[-1] for line in sys.stderr.getvalue().splitlines()] == ["10", "20"]


def test_a_line_is_never_wider_than_the_terminal(monkeypatch: pytest.MonkeyPatch, clock: list[float]) -> None:
    monkeypatch.setattr(sys, "stderr", Terminal())
    monkeypatch.setenv("COLUMNS", "30")
    with progress.progress_line() as show:
        clock[0] = 2.0
        show("game 2 " * 20, 0.5)
        assert len(sys.stderr.getvalue()) == 30  # a return and 29 signs


class Slow:
    """Making ready that goes on when it is told to."""

    def __init__(self, ticks: int) -> None:
        self.n_done, self.ticks = 0, ticks

    def prepare(self, say, *_: str, begun) -> None:  # type: ignore[no-untyped-def]
        said = threading.Event()
        say("compiling kernels (search), once after an update")
        self.told = 0

        def count() -> int:
            self.n_done = min(self.n_done + 10, 60)
            self.told += 1
            if self.told >= self.ticks:
                said.set()
            return self.n_done

        begun(Preparing("compiling kernels", 60, count))
        said.wait()


@pytest.mark.parametrize("is_terminal", [True, False])
def test_whoever_waits_for_kernels_is_told_how_far_they_are(monkeypatch: pytest.MonkeyPatch, is_terminal: bool) -> None:
    monkeypatch.setattr(sys, "stderr", Terminal() if is_terminal else io.StringIO())
    monkeypatch.setattr(library_progress, "PATIENCE", 0.001)
    monkeypatch.setattr(library_progress, "_PATIENCE_ELSEWHERE", 0.001)
    monkeypatch.setattr(library_progress, "_PAUSE_LIVE", 0.001)
    monkeypatch.setattr(compiling, "prepare", Slow(4).prepare)
    monkeypatch.setenv("COLUMNS", "200")
    progress.make_ready("search")
    said = sys.stderr.getvalue()  # type: ignore[attr-defined]
    if is_terminal:
        assert "\r[###-----------------]  17%" in said
        assert "compiling kernels: 2" in said
        assert said.endswith(" \r")
    else:
        lines = said.splitlines()
        assert lines[0] == "compiling kernels (search), once after an update"
        assert lines[1] == "compiling kernels: 10 of 60, 0 s"


def test_again_is_the_command_that_was_typed() -> None:
    progress.remember(["match", "first:order=as", "--rules", "##|##", "--force"])
    assert progress.again("--resume", without=("--force",)) == ("lab2048 match first:order=as --rules '##|##' --resume")
    progress.remember(["match", "random", "--resume"])
    assert progress.again("--resume") == "lab2048 match random --resume"


def interrupted(words: list[str], until: str, tmp_path: Path) -> subprocess.CompletedProcess[str]:
    """Run a command, press Ctrl-C when a file is there, and wait for its end."""
    process = subprocess.Popen([*LAB, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path)
    while not list(tmp_path.glob(until)):
        assert process.poll() is None, process.communicate()
        time.sleep(0.05)  # not to wait for it, but to leave the processor to it
    process.send_signal(signal.SIGINT)
    out, err = process.communicate()
    return subprocess.CompletedProcess(words, process.returncode, out, err)


def test_an_interrupt_that_python_drops_comes_again() -> None:
    class Thing:
        pass

    def tidy_up(_: object) -> None:
        raise KeyboardInterrupt

    def work() -> None:
        thing = Thing()
        watched = weakref.ref(thing, tidy_up)
        del thing
        while watched() is None:  # until it comes
            pass

    with pytest.raises(KeyboardInterrupt), interruptible():
        work()


def stopped_by_the_flag() -> None:
    OF_PROCESS.set()
    OF_PROCESS.check()


def interrupted_by_the_signal() -> None:
    raise KeyboardInterrupt


@pytest.mark.parametrize("stop", [stopped_by_the_flag, interrupted_by_the_signal])
def test_an_interrupt_that_arrives_does_not_come_twice(
    monkeypatch: pytest.MonkeyPatch, stop: Callable[[], None]
) -> None:
    repeated: list[threading.Timer] = []

    class Timer(threading.Timer):
        def start(self) -> None:  # never fires by itself
            repeated.append(self)

    def work() -> None:
        sys.unraisablehook(SimpleNamespace(exc_type=KeyboardInterrupt))  # type: ignore[arg-type]
        stop()

    monkeypatch.setattr(threading, "Timer", Timer)
    with pytest.raises(KeyboardInterrupt), interruptible():
        work()
    [timer] = repeated
    assert timer.finished.is_set()  # cancelled


def test_a_solve_says_how_to_go_on(tmp_path: Path) -> None:
    words = ["solve", "3x4", "--out", "table", "--workers", "1", "--memory", "500M"]
    done = interrupted(words, "table/*", tmp_path)
    assert done.returncode == 130
    assert "continue with lab2048 solve 3x4 --out table --workers 1 --memory 500M" in done.stderr


def test_a_training_says_how_to_go_on(tmp_path: Path) -> None:
    words = ["train", "ntuple", "--network", "1x4", "--rules", "2x2", "--out", "net.safetensors"]
    done = interrupted([*words, "--checkpoint", "0.0001", "--threads", "1"], "net.safetensors", tmp_path)
    assert done.returncode == 130
    assert f"continue with lab2048 {' '.join(words)} --checkpoint 0.0001 --threads 1 --resume" in done.stderr


@pytest.mark.skipif(os.name == "nt", reason="pipes end otherwise there")
@pytest.mark.parametrize("words", ["players", "config show --all", "--help", "completion bash", "play --seed 1"])
def test_a_reader_that_leaves_is_no_trouble(words: str, tmp_path: Path) -> None:
    keys = tmp_path / "keys"
    keys.write_text("asdw\n" * 5000)
    command = f"{' '.join(LAB)} {words} < {keys} | head -n 1"
    done = subprocess.run(["bash", "-c", f"set -o pipefail; {command}"], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0
    assert [line for line in done.stderr.splitlines() if "--all shows" not in line] == []


def test_an_interrupt_while_a_library_runs_code_is_an_exit_code(tmp_path: Path) -> None:
    (tmp_path / "interrupted.py").write_text(
        "import lab2048.cli.app\n"
        "def run(words):\n"
        "    exec('raise KeyboardInterrupt')\n"  # as dataclasses do it while a module is imported
        "lab2048.cli.app.run = run\n"
        "lab2048.cli.main()\n"
    )
    process = subprocess.run([sys.executable, "-m", "interrupted"], cwd=tmp_path, check=False)
    assert process.returncode == 130

"""A real terminal: single keys, arrows, and a terminal that is left as it was found."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pexpect
import pytest

from lab2048.records.store import Store

COMMAND = f"{sys.executable} -m lab2048 play --rules 4x4 --seed 3"


@pytest.fixture
def shell() -> Iterator[pexpect.spawn]:  # type: ignore[type-arg]
    """A shell in a terminal of its own."""
    environment = {**os.environ, "TERM": "xterm", "PS1": "", "NO_COLOR": "1"}
    child = pexpect.spawn("/bin/sh", env=environment, encoding="utf-8", timeout=120, dimensions=(40, 100))
    yield child
    child.close(force=True)


def assert_restored(shell: pexpect.spawn) -> None:  # type: ignore[type-arg]
    shell.sendline("stty -a; echo done-$((1 + 1))")
    shell.expect("done-2")
    words = shell.before.replace(";", " ").split()
    assert "icanon" in words
    assert "echo" in words


def test_keys_act_at_once_and_the_terminal_is_restored(shell: pexpect.spawn) -> None:  # type: ignore[type-arg]
    shell.sendline(COMMAND)
    shell.expect("moves 0")
    shell.send("a")
    shell.expect("moves 1")
    shell.send("\x1b[B")  # the down arrow
    shell.expect("moves 2")
    shell.send("dw")
    shell.expect("moves 4")
    shell.send("u")
    shell.expect("moves 3")
    shell.send("q")
    shell.expect("seed 3, score .* 3 moves")
    assert_restored(shell)


def test_ctrl_c_leaves_the_terminal_as_it_was(shell: pexpect.spawn) -> None:  # type: ignore[type-arg]
    shell.sendline(f"{COMMAND}; echo code-$?")
    shell.expect("moves 0")
    shell.send("a")
    shell.expect("moves 1")
    shell.sendintr()
    shell.expect("code-130")
    assert_restored(shell)


def test_terminating_it_leaves_the_terminal_as_it_was(shell: pexpect.spawn) -> None:  # type: ignore[type-arg]
    shell.sendline(f"sh -c 'echo pid $$; exec {COMMAND}'; echo code-$?")
    shell.expect(r"pid (\d+)")
    pid = int(shell.match.group(1))
    shell.expect("moves 0")
    os.kill(pid, signal.SIGTERM)
    shell.expect("code-143")
    assert_restored(shell)


def test_the_end_of_the_input_ends_the_game(shell: pexpect.spawn) -> None:  # type: ignore[type-arg]
    shell.sendline(f"{COMMAND}; echo code-$?")
    shell.expect("moves 0")
    shell.send("a")
    shell.expect("moves 1")
    shell.sendeof()
    shell.expect("code-0")


def test_keys_that_mean_nothing_do_nothing(shell: pexpect.spawn) -> None:  # type: ignore[type-arg]
    shell.sendline(COMMAND)
    shell.expect("moves 0")
    shell.send("\x1b[3~\x1b[15~\x1bOPa")  # Delete, F5, F1
    shell.expect("moves 1")
    shell.send("\x1b[1;5B")  # Ctrl-Down
    shell.expect("moves 2")
    shell.send("\x1b")  # the Esc key
    shell.send("d")
    shell.expect("moves 3")
    shell.send("q")
    shell.expect("seed 3, score .* 3 moves")
    assert "unknown" not in shell.before + shell.after


def test_ctrl_z_gives_the_terminal_back_and_fg_takes_it_again(shell: pexpect.spawn) -> None:  # type: ignore[type-arg]
    shell.sendline(COMMAND)
    shell.expect("moves 0")
    shell.send("a")
    shell.expect("moves 1")
    for n in (2, 3):
        shell.send("\x1a")
        shell.expect("Stopped")
        assert_restored(shell)
        shell.sendline("fg")
        shell.expect(f"moves {n - 1}")  # the board is drawn again
        shell.send("s" if n == 2 else "d")
        shell.expect(f"moves {n}")
    shell.send("q")
    shell.expect("seed 3, score .* 3 moves")
    assert_restored(shell)


def test_a_program_that_was_stopped_from_outside_takes_the_terminal_again(shell: pexpect.spawn) -> None:  # type: ignore[type-arg]
    shell.sendline(f"sh -c 'echo pid $$; exec {COMMAND}'")
    shell.expect(r"pid (\d+)")
    pid = int(shell.match.group(1))
    shell.expect("moves 0")
    os.kill(pid, signal.SIGSTOP)
    shell.expect("Stopped")
    shell.sendline("stty sane; fg")
    shell.expect("moves 0")
    shell.send("a")
    shell.expect("moves 1")
    shell.send("q")
    assert_restored(shell)


def wait_until_kept(path: Path, n_moves: int) -> None:
    with Store.open(path) as store:
        while [entry.n_moves for entry in store.entries()] != [n_moves]:
            time.sleep(0.05)  # not to wait for it, but to leave the processor to it


def test_fast_keys_are_kept_in_a_pause(shell: pexpect.spawn, own_store: Path) -> None:  # type: ignore[type-arg]
    shell.sendline(COMMAND)
    shell.expect("moves 0")
    for n, key in enumerate("asdw", 1):
        shell.send(key)
        shell.expect(f"moves {n}")
    wait_until_kept(own_store, 4)
    shell.send("q")
    shell.expect("seed 3, score .* 4 moves")


def test_terminating_a_script_keeps_its_game(own_store: Path) -> None:
    with subprocess.Popen(COMMAND.split(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin
        assert process.stdout
        for key in "asdw":
            process.stdin.write(f"{key}\n")
            process.stdin.flush()
        while "moves 4" not in process.stdout.readline():
            pass
        process.terminate()
        process.communicate()
    assert process.returncode == 143
    with Store.open(own_store) as store:
        assert [entry.n_moves for entry in store.entries()] == [4]

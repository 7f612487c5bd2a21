"""A real terminal: single keys, arrows, and a terminal that is left as it was found."""

import os
import signal
import sys
from collections.abc import Iterator

import pexpect
import pytest

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

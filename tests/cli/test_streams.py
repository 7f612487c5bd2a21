"""Streams that are closed, narrow or shared with a player that prints: results stay results."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

LAB = [sys.executable, "-m", "lab2048"]


def shell(command: str, **environment: str) -> subprocess.CompletedProcess[str]:
    words = command.replace("lab2048", " ".join(LAB), 1)
    return subprocess.run(words, shell=True, capture_output=True, text=True, env={**os.environ, **environment})


@pytest.mark.parametrize("command", ["lab2048 --version", "lab2048 match random --games 3", "lab2048 games list"])
@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&-", ">&- 2>&- <&-"])
def test_closed_streams_do_no_harm(command: str, closed: str) -> None:
    done = shell(f"{command} {closed}")
    assert done.returncode == 0
    assert "internal error" not in done.stderr


def test_messages_never_get_among_results() -> None:
    done = shell("lab2048 match random --games 3 --json 2>&-")
    assert json.loads(done.stdout)["schema"] == "lab2048/match-1"


def test_an_ascii_terminal_gets_question_marks() -> None:
    done = shell("lab2048 match random first --games 20", PYTHONIOENCODING="ascii")
    assert done.returncode == 0
    assert "mean score" in done.stdout


def test_what_a_player_prints_is_no_result(tmp_path: Path) -> None:
    path = tmp_path / "loud.py"
    path.write_text(
        "from lab2048.players import *\n"
        "print('hello from the file')\n"
        "class Loud(Player):\n"
        "    def choose(self, board):\n"
        "        print('hello from choose')\n"
        "        legal = board.legal_moves()\n"
        "        return Decision(legal[0], dict.fromkeys(legal, 0.0))\n"
        "register('loud', Loud)\n"
    )
    for workers in (1, 2):
        done = shell(f"lab2048 match loud --player-file {path} --rules 2x2 --games 4 --json --workers {workers}")
        assert json.loads(done.stdout)["players"][0]["games"] == 4


@pytest.mark.parametrize(
    ("code", "says"),
    [("import sys; sys.exit(0)", "fails: line 2: SystemExit"), ("class P(Player): x: int", "expected a subclass")],
)
def test_a_player_file_that_leaves_is_an_error(tmp_path: Path, code: str, says: str) -> None:
    path = tmp_path / "gone.py"
    path.write_text(f"from lab2048.players import *\n{code}\nregister('gone', 3)\n")
    done = shell(f"lab2048 match gone --player-file {path}")
    assert done.returncode in (2, 3)
    assert says in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_ctrl_c_while_it_starts_is_no_traceback() -> None:
    """At every moment of starting, as far as signals can be sent one by one."""
    for _ in range(8):
        process = subprocess.Popen(
            [*LAB, "play"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        assert process.stdout is not None
        process.stdout.read(4)  # it has begun
        process.send_signal(signal.SIGINT)
        _, err = process.communicate()
        assert b"Traceback" not in err
        assert process.returncode == 130

"""Ctrl-C, kill -9 and a full disk in the middle of a match: nothing that was kept is lost, and it goes on."""

import io
import itertools
import json
import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from rich.console import Console

from lab2048.arena.batch import Batch, play_batch
from lab2048.arena.match import Match
from lab2048.errors import StoreError
from lab2048.players import load_player_file
from lab2048.records.store import Store
from lab2048.rules import Rules
from lab2048.views.match_table import match_table
from lab2048.views.number import count

SLOW = ["--rules", "3x3", "--games", "1000000"]  # never done while a test looks


def start(words: list[str], store: Path, **options: object) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "lab2048", "match", *words, "--store", str(store), "--json"]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)  # type: ignore[call-overload]


def n_kept(store: Path) -> int:
    """How many games are in the store; one that is not made yet has none."""
    try:
        with Store.open(store, create=False) as opened:
            return len(opened.entries(limit=100_000_000))
    except StoreError:
        return 0


def wait_for_games(process: subprocess.Popen[str], store: Path) -> None:
    while n_kept(store) == 0:
        assert process.poll() is None, process.communicate()
        time.sleep(0.05)  # not to wait for it, but to leave the processor to it


def resume(words: list[str], store: Path) -> str:
    """Go on a little further than the last game kept; workers may have left gaps before it."""
    with Store.open(store) as opened:
        n_games = opened.summaries_of(1)[-1].number + 6
    words = [*words[: words.index("--games")], "--games", str(n_games), "--resume"]
    process = start(words, store)
    out, err = process.communicate()
    assert process.returncode == 0, err
    assert json.loads(out)["players"][0]["games"] == n_games
    return err


@pytest.fixture(params=["compiled", "python, here", "python, in processes"])
def words(request: pytest.FixtureRequest, hug: Path) -> list[str]:
    if request.param == "compiled":
        return ["random", *SLOW, "--workers", "2"]
    workers = "1" if request.param == "python, here" else "2"
    return ["hug", "--player-file", str(hug), "--workers", workers, *SLOW]


def test_ctrl_c_reports_and_keeps_what_was_played(words: list[str], own_store: Path) -> None:
    process = start(words, own_store)
    wait_for_games(process, own_store)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate()
    assert process.returncode == 130, err
    n = json.loads(out)["players"][0]["games"]
    assert n == n_kept(own_store) > 0
    assert "the finished games are saved; continue with lab2048 match " in err
    assert "--json --resume\n" in err
    assert "stopping: finished games count, unfinished ones are dropped" in err
    assert "Traceback" not in err
    assert f"{count(n, 'game')} found" in resume(words, own_store)


def test_kill_does_what_ctrl_c_does_with_a_code_of_its_own(own_store: Path) -> None:
    words = ["random", *SLOW, "--workers", "1"]
    process = start(words, own_store)
    wait_for_games(process, own_store)
    process.terminate()
    out, err = process.communicate()
    assert process.returncode == 143, err
    assert json.loads(out)["players"][0]["games"] == n_kept(own_store) > 0
    assert "the finished games are saved; continue with lab2048 match " in err


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)])
@pytest.mark.parametrize(
    "words",
    [
        ["play", "--seed", "3"],
        ["watch", "first", "--games", "1000000"],
        ["games", "import", "-"],
    ],
)
def test_every_command_ends_by_the_same_codes(words: list[str], number: int, code: int) -> None:
    command = [sys.executable, "-m", "lab2048", *words]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, text=True, env={**os.environ, "PYTHONUNBUFFERED": "1"}, **pipes) as process:
        assert process.stdin
        if words[0] == "games":  # it says nothing before it is done
            process.stdin.write("{}\n" * 20_000)
            process.stdin.flush()
            assert process.stderr
            process.stderr.readline()
        else:
            assert process.stdout
            process.stdout.readline()
        process.send_signal(number)
        _, err = process.communicate()
    assert process.returncode == code, err
    assert "Traceback" not in err


def test_a_game_under_way_is_dropped_whoever_plays(hug: Path) -> None:
    load_player_file(hug)
    for player in ("hug", "random"):
        asked = itertools.count()
        batch = Batch(player, Rules.from_text("8x8"), 1, [0, 1, 2])
        assert play_batch(batch, lambda asked=asked: next(asked) >= 3).episodes == {}


def test_a_player_without_a_game_is_said_to_have_none() -> None:
    match = Match(Rules.from_text("2x2"), ["random", "expectimax"], 1, 5)
    match.count(play_batch(Batch("random", match.rules, 1, [0, 1]), lambda: False))
    console = Console(width=80, file=io.StringIO())
    console.print(match_table(match, title="2x2", width=80, is_over=True))
    shown = console.file.getvalue().splitlines()  # type: ignore[attr-defined]
    assert shown[-1].rstrip() == "expectimax: no finished game yet"
    assert ["games", "2", "0"] in [line.split() for line in shown]


def test_kill_9_loses_at_most_the_games_at_hand(words: list[str], own_store: Path) -> None:
    process = start(words, own_store)
    wait_for_games(process, own_store)
    process.kill()
    process.communicate()
    n = n_kept(own_store)
    assert n > 0
    assert f"{count(n, 'game')} found" in resume(words, own_store)
    with Store.open(own_store) as store:
        for entry in store.entries(limit=20):
            store.get(entry.id).episode.prove()


def test_a_full_disk_is_one_line_and_a_match_that_goes_on(own_store: Path) -> None:
    def little_room() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000))

    words = ["random", "--games", "100000"]
    process = start(words, own_store, preexec_fn=little_room)
    _, err = process.communicate()
    assert process.returncode == 3
    [line] = [line for line in err.splitlines() if not line.startswith("compiling")]
    assert "full" in line
    n = n_kept(own_store)
    assert n > 0
    assert f"{count(n, 'game')} found" in resume(words, own_store)

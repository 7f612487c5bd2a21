"""`tui`, `watch` and `play` in a real terminal: moves, undo, another player, and a terminal left as it was."""

import os
import re
import shlex
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from played import play
from terminal import LAB, Terminal

from lab2048.records.store import Store
from lab2048.rules import Rules

Open = Callable[..., Terminal]
TUI = f"{LAB} tui --rules 4x4 --seed 3 --player random"
# On this seed each of these ten keys is a legal move, in each of the ways that there are to say it.
TEN = ["a", "s", "\x1b[C", "w", "h", "j", "l", "\x1b[A", "a", "s"]


def moves(n: int) -> Callable[[list[str]], bool]:
    return lambda shown: any(re.search(rf"moves\s+{n}\b", line) for line in shown)


def kept(path: Path) -> list[tuple[int, str]]:
    with Store.open(path) as store:
        return [(entry.n_moves, entry.player) for entry in store.entries()]


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def start(terminal: Terminal) -> int:
    """Start the full screen and wait for its first board; return the process."""
    terminal.press(f" sh -c 'echo pid $$; exec {TUI}'; echo code-$?\n")
    terminal.until(lambda shown: any(re.search(r"pid \d+", line) for line in shown) or moves(0)(shown))
    found = re.search(r"pid (\d+)", "\n".join(terminal.shown))
    terminal.until(moves(0))
    if found:
        return int(found[1])
    rows, _, _ = terminal.screen.old
    text = "\n".join("".join(row[x].data for x in sorted(row)) for _, row in sorted(rows.items()))
    return int(re.findall(r"pid (\d+)", text)[-1])


def test_ten_moves_undo_another_player_and_out(open_terminal: Open, own_store: Path) -> None:
    terminal = open_terminal()
    start(terminal)
    for n, key in enumerate(TEN, 1):
        terminal.press(key)
        terminal.until(moves(n))
    terminal.press("u")
    terminal.until(moves(9))
    terminal.press("p")
    terminal.has("Player for hints", "Enter selects random", "▸random")
    terminal.press("fi")
    terminal.has("Enter selects first", "▸first", "options order=TEXT")
    terminal.press("\r")
    terminal.has("first selected")
    terminal.press(" ")
    terminal.until(moves(10))
    terminal.press("q")
    shown = terminal.has("code-0")
    terminal.assert_restored()
    with Store.open(own_store) as store:
        (entry,) = store.entries()
    assert (entry.player, entry.n_moves, entry.movers) == ("human", 10, ((10, "first"),))
    told = f"2048 on 4x4, seed 3, score {entry.score}, 10 moves; continue with lab2048 tui --game {entry.id}"
    assert told in "".join(line.ljust(80) for line in shown)


def test_a_game_goes_on_by_its_number(open_terminal: Open, own_store: Path) -> None:
    with Store.open(own_store) as store:
        run = store.begin_run("play", Rules.from_text("3x3"), "human", 1)
        store.keep(run, {0: (before := play("3x3", seed=1, player="human", max_moves=5))})
    terminal = open_terminal()
    terminal.play(program=f"{LAB} tui --game 1 --seed 3")
    terminal.has("lab2048: --game and --seed: a saved game has its own seed")
    terminal.play(program=f"{LAB} tui --game 1")
    terminal.until(moves(5))
    terminal.press("wasd")
    terminal.until(lambda shown: any(re.search(r"moves +[6789]", line) for line in shown))
    terminal.press("q")
    terminal.has("continue with lab2048 tui --game 2")
    terminal.assert_restored()
    with Store.open(own_store) as store:
        new, old = store.entries()
        assert store.get(old.id).episode == before
        assert store.get(new.id).episode.moves.startswith(before.moves)


@pytest.mark.parametrize(("variable", "words"), [("1", ""), ("", "--color never")])
def test_the_chosen_line_is_seen_without_colours(open_terminal: Open, variable: str, words: str) -> None:
    terminal = open_terminal(NO_COLOR=variable)
    terminal.play(program=f"{LAB} tui {words}")
    terminal.has("▸play", "q quit")
    terminal.press("\x1b[B")
    shown = terminal.has("▸watch")
    line = next(y for y, text in enumerate(shown) if "▸watch" in text)
    at = shown[line].index("▸")
    assert terminal.screen.buffer[line][at + 1].reverse
    assert not terminal.screen.buffer[line - 1][at + 1].reverse
    assert {letter.fg for row in terminal.screen.buffer.values() for letter in row.values()} == {"default"}


def test_keys_that_are_typed_at_once_all_count(open_terminal: Open, own_store: Path) -> None:
    terminal = open_terminal()
    start(terminal)
    terminal.press("".join(TEN))
    terminal.until(moves(10))
    terminal.press("q")
    terminal.has("code-0")
    assert kept(own_store) == [(10, "human")]


@pytest.mark.parametrize(("how", "code"), [("ctrl-c", 130), ("SIGINT", 130), ("SIGTERM", 143), ("SIGHUP", 129)])
def test_however_it_ends_the_terminal_is_restored_and_the_game_kept(
    open_terminal: Open, own_store: Path, how: str, code: int
) -> None:
    terminal = open_terminal()
    pid = start(terminal)
    terminal.press("a")
    terminal.until(moves(1))
    if how == "ctrl-c":
        terminal.press("\x03")
    else:
        os.kill(pid, getattr(signal, how))
    terminal.has(f"code-{code}")
    terminal.assert_restored()
    assert kept(own_store) == [(1, "human")]


def test_a_terminal_that_is_gone_is_not_waited_for(open_terminal: Open, own_store: Path) -> None:
    terminal = open_terminal()
    pid = start(terminal)
    terminal.press("a")
    terminal.until(moves(1))
    terminal.shell.close(force=True)
    while is_alive(pid):
        time.sleep(0.05)  # not to wait for it, but to leave the processor to it
    assert kept(own_store) == [(1, "human")]


def test_it_follows_the_size_of_the_terminal(open_terminal: Open) -> None:
    terminal = open_terminal()
    start(terminal)
    large = terminal.has("┌────────┐", "Esc menu")
    terminal.resize(50, 16)
    terminal.until(lambda shown: "┌─────┐" in "\n".join(shown) and "score 0" in "\n".join(shown))
    terminal.resize(30, 8)
    terminal.until(lambda shown: "┌" not in "\n".join(shown) and "score 0" in "\n".join(shown))
    terminal.resize(80, 24)
    terminal.expect(*large)


@pytest.mark.parametrize("words", ["", "--ascii"])
def test_the_menu_leads_to_a_game_and_back(open_terminal: Open, words: str) -> None:
    terminal = open_terminal()
    terminal.play(program=f"{LAB} tui {words}")
    terminal.has("play", "watch", "games", "match", "train", "solve")
    terminal.press("p")
    terminal.has("$ lab2048 play --rules 4x4 --goal 2048")
    terminal.press("\r")
    shown = "\n".join(terminal.until(moves(0)))
    assert shown.isascii() == bool(words)
    terminal.press("\x1b")
    terminal.has("players on the same seeds")
    terminal.press("q")
    terminal.ends_with("$")
    terminal.assert_restored()


def test_a_game_by_rules_of_its_own_is_kept_with_them(open_terminal: Open, own_store: Path) -> None:
    terminal = open_terminal()
    terminal.play(program=f"{LAB} tui --spawn 2:0.5,4:0.5 --start 3 --spawner first --goal 64 --seed 3 --color never")
    terminal.has("2048 on 4x4, spawn 2:0.5,4:0.5, 3 first tiles, first spawner")
    terminal.until(moves(0))
    for n, key in enumerate("sdsd", 1):
        terminal.press(key)
        terminal.until(moves(n))
    terminal.press("q")
    terminal.ends_with("$")
    terminal.assert_restored()
    with Store.open(own_store) as store:
        (entry,) = store.entries()
        episode = store.get(entry.id).episode
    spawn = {"spawn": "2:0.5,4:0.5", "start": 3, "spawner": "first"}
    assert episode.rules.to_json() == {"board": "4x4", "goal": 64, **spawn}
    assert len(list(episode.replay())) == 4


def test_an_error_inside_is_one_line_and_the_game_is_kept(open_terminal: Open, own_store: Path) -> None:
    broken = "import lab2048.views.tui.screens.play as p; p.PlayScreen.undo = lambda self: 1 / 0"
    code = f"{broken}; from lab2048.cli import main; main()"
    terminal = open_terminal(100)
    terminal.play(program=f'{shlex.quote(sys.executable)} -c "{code}" tui --rules 4x4 --seed 3; echo code-$?')
    terminal.until(moves(0))
    terminal.press("a")
    terminal.until(moves(1))
    terminal.press("u")
    shown = terminal.has("code-1")
    assert "lab2048: internal error: ZeroDivisionError: division by zero (--debug shows where)" in shown
    assert not any("Traceback" in line for line in shown)
    terminal.assert_restored()
    assert kept(own_store) == [(1, "human")]


def test_no_terminal_no_screen(open_terminal: Open, own_store: Path) -> None:
    terminal = open_terminal()
    terminal.play(program=f"{LAB} tui | cat")
    shown = terminal.has("lab2048: tui needs a terminal: use lab2048 play")
    assert not any("score" in line for line in shown)
    assert not own_store.exists()


# --- watch ---------------------------------------------------------------------------


def test_watch_draws_in_place_and_sums_up(open_terminal: Open, own_store: Path) -> None:
    terminal = open_terminal(100, 30)
    terminal.play(program=f"{LAB} watch random --rules 2x2 --seed 5 --games 2 --speed 1000")
    shown = terminal.has("mean score", "moves per second of thinking time")
    assert sum("2048 on 2x2" in line for line in shown) == 1  # every frame was drawn over the one before
    assert any(line.split()[:2] == ["1", "5"] for line in shown)
    terminal.assert_restored()
    assert [player for _, player in kept(own_store)] == ["random", "random"]


@pytest.mark.parametrize(("how", "code"), [("ctrl-c", 130), ("SIGTERM", 143)])
def test_however_watch_ends_the_terminal_is_restored_and_the_game_kept(
    open_terminal: Open, own_store: Path, how: str, code: int
) -> None:
    terminal = open_terminal(100, 30)
    command = f"{LAB} watch random --seed 5 --speed 100"
    terminal.press(f" sh -c 'echo pid $$; exec {command}'; echo code-$?\n")
    terminal.until(lambda shown: any(line.startswith("pid ") for line in shown))
    pid = int(next(line for line in terminal.shown if line.startswith("pid ")).split()[1])
    terminal.has("random plays", "moves 2")
    if how == "ctrl-c":
        terminal.press("\x03")
    else:
        os.kill(pid, getattr(signal, how))
    terminal.has("not finished", f"code-{code}")
    terminal.assert_restored()
    assert len(kept(own_store)) == 1


# --- play ----------------------------------------------------------------------------


def test_play_ten_moves_undo_and_out(open_terminal: Open, own_store: Path) -> None:
    terminal = open_terminal()
    terminal.play()
    for n, key in enumerate("asdwasdwas", 1):
        terminal.press(key)
        terminal.until(moves(n))
    terminal.press("u")
    terminal.until(moves(9))
    terminal.press("q")
    terminal.ends_with("$")
    terminal.assert_restored()
    assert kept(own_store) == [(9, "human")]

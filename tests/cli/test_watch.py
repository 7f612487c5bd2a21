"""`lab2048 watch`: lines in a pipe, frames on a terminal, and never a move less on a slow one."""

import json
import re
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pyte
import pytest
from terminal import LAB as TERMINAL_LAB
from terminal import Terminal

from lab2048.records.store import Store
from lab2048.rules import Board, Game, Rules
from lab2048.views.frame import Frames
from lab2048.views.text import render

LAB = [sys.executable, "-m", "lab2048", "watch"]


def watch(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*LAB, *words], capture_output=True, text=True)


def test_a_pipe_gets_a_line_a_move_and_the_summary(own_store: Path) -> None:
    done = watch("first", "--rules", "2x2", "--seed", "5", "--games", "2")
    lines = done.stdout.splitlines()
    with Store.open(own_store) as store:
        games = [store.get(id_).episode for id_ in store.ids()]
    assert done.returncode == 0
    last = 1 + len(games[0].moves)  # of the first game, after its head and its start
    assert [line for line in lines if " start " in line] == [lines[1], lines[last + 2]]
    assert [lines[0], lines[last + 1]] == [
        f"game {i} of 2, seed {game.seed}: turn, move, score and board" for i, game in enumerate(games, 1)
    ]
    number, move, score, board = lines[last].split(maxsplit=3)
    assert (int(number), move, int(score)) == (len(games[0].moves), lines[last].split()[1], games[0].score)
    assert Board.from_text(board) == games[0].prove().board
    assert all(line.count(" / ") == 1 for line in lines if line.split()[0].isdigit() and " start " in line)
    assert f"{games[1].score}" in lines[-3]
    assert lines[-2].startswith("2 games: mean score")
    assert lines[-1].startswith("by first on 2x2: ")
    assert watch("first", "--rules", "2x2", "--seed", "5", "--games", "2").stdout.splitlines()[:-1] == lines[:-1]


def test_json_is_the_summary_alone(own_store: Path) -> None:
    data = json.loads(watch("random", "--rules", "hex1", "--seed", "5", "--json").stdout)
    (game,) = data["games"]
    assert (data["schema"], data["player"], data["seed"]) == ("lab2048/watch-1", "random", 5)
    assert game["is_over"]
    assert game["moves"] == data["moves"]
    with Store.open(own_store) as store:
        (entry,) = store.entries()
    assert (entry.score, entry.max_tile, entry.player) == (game["score"], game["max_tile"], "random")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["randm"], "did you mean random?"),
        (["human"], "expected a player that chooses by itself"),
        (["random", "--speed", "-1"], "speed -1 is out of range: expected 0 to 1000"),
        (["random", "--games", "0"], "games 0 is out of range"),
        (["random", "--rules", "9x9"], "expected 1x2 to 8x8"),
    ],
)
def test_bad_words_get_one_line(words: list[str], says: str) -> None:
    done = watch(*words)
    assert done.returncode in (2, 3)
    assert says in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert not done.stdout


def test_a_reader_that_leaves_is_no_error(own_store: Path) -> None:
    with subprocess.Popen(
        [*LAB, "first", "--seed", "1", "--games", "50"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout
        assert process.stderr
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode in (0, 1)


def test_ctrl_c_leaves_the_table_in_order(open_terminal: Callable[..., Terminal]) -> None:
    terminal = open_terminal()
    terminal.play(program=f"{TERMINAL_LAB} watch first --rules 2x2 --seed 1 --games 100000")
    # A game has ended: without one, there is no table.
    terminal.until(lambda shown: any(re.match(r"first plays, game (?!1 )", line) for line in shown))
    terminal.press("\x03")
    shown = terminal.has("by first on 2x2: ")
    assert [line for line in shown if line.startswith("game ") and line.endswith("  2048")]
    assert not [line for line in shown if "^C" in line]
    terminal.press("echo code-$?\n")
    terminal.has("code-130")


class SlowSink:
    """A terminal that takes nothing until it is told to."""

    def __init__(self) -> None:
        self.written: list[str] = []
        self.is_asked = threading.Event()
        self.may_write = threading.Event()

    def write(self, text: str) -> None:
        if "frame" in text:
            self.is_asked.set()
            self.may_write.wait()
        self.written.append(text)

    def flush(self) -> None:
        pass


def test_a_slow_terminal_gets_the_newest_frame_and_the_last() -> None:
    sink = SlowSink()
    with Frames(sink) as frames:
        frames.show("frame 0")
        sink.is_asked.wait()
        for n in range(1, 1000):
            frames.show(f"frame {n}\nof many")  # never waits
        sink.may_write.set()
    drawn = [text for text in sink.written if "frame" in text]
    assert drawn == ["frame 0\n", "\x1b[1F\x1b[Jframe 999\nof many\n"]
    assert frames.n_drawn == 2
    assert sink.written[0] == "\x1b[?25l"
    assert sink.written[-1] == "\x1b[?25h"


def test_only_tiles_that_have_changed_are_drawn_again() -> None:
    screen = pyte.Screen(80, 24)
    stream = pyte.Stream(screen)
    rules, n_bytes = Rules.from_text("4x4"), []
    game = Game(rules, 3)

    class Sink(SlowSink):
        def write(self, text: str) -> None:
            n_bytes.append(len(text))
            stream.feed(text.replace("\n", "\r\n"))

    frames = Frames(Sink())
    while not game.is_over:
        frames._draw(f"{render(game.board, colour=True)}\nscore {game.score}")
        shown = [line.rstrip() for line in screen.display[:5]]
        assert shown == [*render(game.board).splitlines(), f"score {game.score}"]
        game.play(game.board.legal_moves()[0])
    assert 2 * sum(n_bytes) < len(n_bytes) * max(n_bytes)


def test_what_goes_wrong_while_drawing_is_told_to_whoever_shows() -> None:
    class ClosedSink(SlowSink):
        def write(self, text: str) -> None:
            if "frame" in text:
                raise BrokenPipeError

    with pytest.raises(BrokenPipeError), Frames(ClosedSink()) as frames:
        frames.show("frame")

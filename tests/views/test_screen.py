"""What stands on the screen of a terminal while a game is played: one board, at any size, and nothing stale."""

import shlex
import sys
from collections.abc import Callable

import pytest
from terminal import Terminal

HELP = "w a s d move, u undo, r redo, x new game, ? keys, q quit"
HINT = "? shows the keys"


Open = Callable[..., Terminal]

FIRST = (
    "     .     .     .     .",
    "     .     .     2     .",
    "     .     .     .     .",
    "     .     2     .     .",
    "score 0   moves 0   highest 2   goal 2048",
)
SECOND = (
    "     .     .     .     .",
    "     2     .     2     .",
    "     .     .     .     .",
    "     2     .     .     .",
    "score 0   moves 1   highest 2   goal 2048",
)


def test_the_screen_is_one_header_one_board_one_line_of_facts_and_one_message(open_terminal: Open) -> None:
    terminal = open_terminal()
    terminal.play()
    terminal.expect("2048 on 4x4, seed 3", *FIRST, HELP)
    terminal.press("a")
    terminal.expect("2048 on 4x4, seed 3", *SECOND, HINT)
    terminal.press("z")
    terminal.expect("2048 on 4x4, seed 3", *SECOND, f"unknown key 'z': {HELP}")
    terminal.press("u")
    terminal.expect("2048 on 4x4, seed 3", *FIRST, HINT)
    for key in "?h":
        terminal.press("u")
        terminal.expect("2048 on 4x4, seed 3", *FIRST, "nothing to undo")
        terminal.press(key)
        terminal.expect("2048 on 4x4, seed 3", *FIRST, HELP)


@pytest.mark.parametrize("board", ["1x2", "2x2", "8x8", "hex1", "hex2", "hex4", "####|#xx#|####"])
def test_any_board_is_drawn_over_itself(open_terminal: Open, board: str) -> None:
    terminal = open_terminal(100)
    terminal.play(f"--rules '{board}'")
    shown = terminal.until(lambda shown: shown[-1:] != [] and shown[-1].endswith("quit"))
    height, keys_help = len(shown), shown[-1]
    for key in "wdsaw":
        for keys, message in ((f"{key}z", "unknown key 'z'"), ("?", keys_help)):
            terminal.press(keys)
            terminal.until(lambda shown, start=message: len(shown) == height and shown[-1].startswith(start))
            assert sum("score" in line for line in terminal.shown) == 1


def test_keys_that_are_typed_too_early_count(open_terminal: Open) -> None:
    terminal = open_terminal()
    terminal.play()
    terminal.press("asdw")
    terminal.until(lambda shown: any("moves 4" in line for line in shown))
    assert sum("moves 4" in line for line in terminal.shown) == 1


def test_leaving_shows_the_last_board_below_what_was_there(open_terminal: Open) -> None:
    terminal = open_terminal(120)
    terminal.play()
    terminal.ends_with(HELP)
    terminal.press("aq")
    shown = terminal.ends_with("$")
    assert shown[0].startswith("$")
    assert shown[1:] == ["2048 on 4x4, seed 3", *SECOND, "seed 3, score 0, highest tile 2, 1 move", "$"]


def test_a_new_game_can_be_taken_back(open_terminal: Open) -> None:
    terminal = open_terminal()
    terminal.play()
    terminal.press("a")
    terminal.expect("2048 on 4x4, seed 3", *SECOND, HINT)
    for _ in range(2):  # the new game is the same each time
        terminal.press("x")
        shown = terminal.ends_with("new game, seed 1129857146550036; u goes back to the old one")
        assert shown[0] == "2048 on 4x4, seed 1129857146550036"
        assert shown[-2].startswith("score 0   moves 0")
        terminal.press("u")
        terminal.expect("2048 on 4x4, seed 3", *SECOND, "back to the game with seed 3")
    terminal.press("xduu")
    terminal.until(lambda shown: shown[-1:] == ["nothing to undo"])  # a game that had a move stays


# --- size ----------------------------------------------------------------------------


def test_a_narrow_terminal_gets_fewer_facts_and_a_longer_message(open_terminal: Open) -> None:
    terminal = open_terminal(30, 10)
    terminal.play()
    first = [*FIRST[:4], "score 0   moves 0   highest 2"]
    terminal.expect("2048 on 4x4, seed 3", *first, "w a s d move, u undo, r redo,", "x new game, ? keys, q quit")
    terminal.press("d")
    terminal.ends_with(HINT)
    terminal.press("u")
    terminal.expect("2048 on 4x4, seed 3", *first, HINT)


def test_tiles_stand_closer_in_a_narrow_terminal(open_terminal: Open) -> None:
    terminal = open_terminal(30, 10)
    terminal.play("--rules 8x8")
    row = "  .  .  .  .  .  .  .  ."
    facts = "score 0   moves 0   highest 2"
    three, six = "  .  .  .  2  .  .  .  .", "  .  .  .  .  2  .  .  ."
    board = [row] * 3 + [three] + [row] * 2 + [six] + [row]
    terminal.expect(*board, facts, "w a s d move, u undo, r...")
    terminal.press("asdwasdw")
    terminal.until(lambda shown: "moves 8" in "".join(shown) and shown[-1] == HINT)
    assert len(terminal.shown) == 10


def test_a_board_that_does_not_fit_says_so_and_waits_for_room(open_terminal: Open) -> None:
    terminal = open_terminal(50, 5)
    terminal.play()
    terminal.expect("the terminal is 50x5: this board needs 12x6")
    terminal.press("a")
    terminal.resize(20, 5)
    terminal.expect("20x5: needs 12x6")
    terminal.resize(60, 20)
    terminal.expect("2048 on 4x4, seed 3", *SECOND, HINT)
    terminal.resize(12, 6)
    terminal.expect("  .  .  .  .", "  2  .  2  .", "  .  .  .  .", "  2  .  .  .", "score 0", "? shows...")


# --- colour --------------------------------------------------------------------------


def luminance(colour: str) -> float:
    """Relative luminance as WCAG 2 defines it."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (0, 2, 4)]
    linear = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


TILES = "2 4 8 16 / 32 64 128 256 / 512 1024 2048 4096 / 8192 16384 # x"


@pytest.mark.parametrize("columns", [80, 30, 24])
def test_colour_moves_nothing_and_every_tile_can_be_read(open_terminal: Open, columns: int) -> None:
    plain, coloured = open_terminal(columns), open_terminal(columns, NO_COLOR="")
    for terminal in (plain, coloured):
        terminal.play(f"--rules '{TILES}'")
        terminal.until(lambda shown: shown[-1:] != [] and shown[-1].endswith("q quit"))
    assert plain.shown == coloured.shown
    backgrounds = set()
    top = next(y for y, line in enumerate(coloured.shown) if line.split() == ["2", "4", "8", "16"])
    for y in range(top, top + 4):
        for x, sign in enumerate(coloured.shown[y]):
            if sign not in " .":
                place = coloured.screen.buffer[y][x]
                assert luminance(place.bg) + 0.05 >= 4.5 * (luminance(place.fg) + 0.05)
                backgrounds.add(place.bg)
    assert len(backgrounds) == 15  # each tile has its own, and so has the brick


# --- lines ---------------------------------------------------------------------------


def test_a_dumb_terminal_gets_lines(open_terminal: Open) -> None:
    terminal = open_terminal(80, 50, TERM="dumb")
    terminal.play()
    terminal.until(lambda shown: shown[-1:] == [FIRST[-1]])
    assert f"{HELP}; end lines with Enter" in terminal.shown
    terminal.press("a\n")
    shown = terminal.until(lambda shown: shown[-1:] == [SECOND[-1]])
    assert sum("end lines" in line for line in shown) == 1
    terminal.press("q\n")
    assert terminal.ends_with("$")[-2] == "seed 3, score 0, highest tile 2, 1 move"


def test_without_termios_there_are_lines(open_terminal: Open) -> None:
    code = "import sys; sys.modules.update(termios=None, tty=None); from lab2048.cli import main; main()"
    terminal = open_terminal(200, 50)
    terminal.play(program=f'{shlex.quote(sys.executable)} -c "{code}" play --seed 3')
    terminal.until(lambda shown: shown[-1:] == [FIRST[-1]])
    assert f"{HELP}; end lines with Enter" in terminal.shown
    terminal.press("aq\n")
    assert terminal.ends_with("$")[-2] == "seed 3, score 0, highest tile 2, 1 move"

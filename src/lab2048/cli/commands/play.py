"""`lab2048 play`: play in a plain terminal or through a pipe."""

import os
import random
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from lab2048.cli.keyboard import REDRAW, Keys, can_read_keys, read_lines
from lab2048.cli.options import (
    GoalOption,
    JsonOption,
    RulesOption,
    SeedOption,
    SpawnerOption,
    SpawnOption,
    StartOption,
    StopOption,
    StoreOption,
    say,
)
from lab2048.cli.output import print_json
from lab2048.cli.rescue import rescue
from lab2048.rules import Rules
from lab2048.rules.dice import MAX_SEED
from lab2048.views.number import count
from lab2048.views.plain_play import PlainGame
from lab2048.views.screen import compose
from lab2048.views.text import wants_codes

if TYPE_CHECKING:
    from lab2048.arena.session import Session


def play(
    rules: RulesOption = "4x4",
    seed: SeedOption = None,
    goal: GoalOption = 2048,
    spawn: SpawnOption = "2:0.9,4:0.1",
    start: StartOption = None,
    spawner: SpawnerOption = "fair",
    stop_at_goal: StopOption = False,
    store: StoreOption = None,
    lines: Annotated[bool, typer.Option("--lines", help="Read whole lines of keys, as from a pipe.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Play in the terminal, on any board.

    Keys: w a s d or the arrows, u undo, r redo, x new game, ? keys, q quit;
    on hexagons q w e a s d move, and Q quits; ? shows the keys of any board.
    Without a terminal, lines of keys are read from standard input, so a script can play.  The board is printed after
    each line; with --json only the result of the last game is printed.

    Example: lab2048 play --rules "####|#xx#|####" --seed 7
    """
    from lab2048.arena.session import Session
    from lab2048.records.store import Store
    from lab2048.records.store_file import VIEW_SECONDS

    the_rules = Rules.from_text(rules, goal=goal, spawn=spawn, start=start, spawner=spawner, stop_at_goal=stop_at_goal)
    the_seed = random.SystemRandom().randint(0, MAX_SEED) if seed is None else seed
    code = 0
    with Store.open(store, timeout=VIEW_SECONDS) as the_store:
        has_screen = not (lines or as_json) and can_read_keys()
        session = Session(the_rules, the_seed, the_store, on_failure=_ignore if has_screen else _complain)
        plain = PlainGame(session)
        try:
            if has_screen:
                _play_on_screen(plain, session)
            elif as_json:
                _play_silently(plain, session)
            else:
                _play_lines(plain)
        finally:
            session.close()
            if has_screen:
                _leave_screen(plain)
            _sum_up(session, is_told=as_json)
            code = rescue(session.unsaved(), session.failure, the_store.path)
    raise typer.Exit(code)


def _play_on_screen(plain: PlainGame, session: "Session") -> None:
    """Handle each key at once, on a screen that shows one board."""
    with Keys() as source:
        message = plain.help
        _paint(plain, message)
        for keys in source:
            if not keys:
                session.save(at_once=False)
                continue
            if keys.strip(REDRAW):
                message = _press(keys.replace(REDRAW, ""), plain)
            if plain.has_ended:
                return
            otherwise = f"not saved yet: {session.failure}" if session.failure else "? shows the keys"
            _paint(plain, message or plain.status or otherwise)


def _paint(plain: PlainGame, message: str) -> None:
    """Draw the screen in one write, so that it does not flicker."""
    text = compose(plain, message, _size(), colour=wants_codes(sys.stdout))
    print(f"\x1b[H\x1b[J{text}", end="", flush=True)


def _size() -> os.terminal_size:
    """Return the current size of the terminal, ignoring COLUMNS; 80x24 if it is unknown."""
    try:
        columns, lines = os.get_terminal_size(sys.stdout.fileno())
    except OSError:
        columns, lines = 0, 0
    return os.terminal_size((columns or 80, lines or 24))


def _leave_screen(plain: PlainGame) -> None:
    """Print the last board after the screen is closed."""
    columns = _size().columns
    print(f"{plain.header(columns)}\n{plain.frame(columns, colour=wants_codes(sys.stdout))}", flush=True)


def _play_lines(plain: PlainGame) -> None:
    """Handle each line of keys, and print the board after it."""
    hint = "; end lines with Enter" if sys.stdin.isatty() else ""
    print(f"{plain.header()}\n{plain.help}{hint}\n")
    _show(plain, "")
    for keys in read_lines():
        header = plain.header()
        message = _press(keys, plain)
        if plain.has_ended:
            return
        if plain.header() != header:
            print(f"{plain.header()}\n")
        _show(plain, message)


def _play_silently(plain: PlainGame, session: "Session") -> None:
    """Handle all lines, then print the last game and all messages as JSON."""
    said: list[str] = []
    for keys in read_lines():
        for key in keys:
            message = plain.press(key)
            said += [message] * bool(message)
            if plain.has_ended:
                break
        if plain.has_ended:
            break
    game = session.last_played or session.game
    facts = {
        "rules": game.rules.to_json(),
        "seed": game.seed,
        "moves": game.moves_text(),
        "score": game.score,
        "max_tile": game.board.max_tile,
        "board": game.board.to_text(),
        "is_over": game.is_over,
        "is_won": any(turn.reaches_goal for turn in game.turns),
        "messages": list(dict.fromkeys(said)),
    }
    print_json("play-1", facts)


def _show(plain: PlainGame, message: str) -> None:
    """Print the board below the last one."""
    message = message or plain.status
    print(plain.frame(colour=wants_codes(sys.stdout)), *[message] * bool(message), "", sep="\n", flush=True)


def _press(keys: str, plain: PlainGame) -> str:
    """Press keys one by one until the end; return the last message."""
    message = ""
    for key in keys:
        message = plain.press(key) or message
        if plain.has_ended:
            break
    return message


def _ignore(failure: str) -> None:
    """Do nothing: the screen shows the failure."""


def _complain(failure: str) -> None:
    if failure:  # empty when saving works again
        say(f"lab2048: not saved yet: {failure}")


def _sum_up(session: "Session", *, is_told: bool) -> None:
    """Print the result of the last game."""
    game = session.last_played
    if game and not is_told:
        moves = count(len(game.turns), "move")
        print(f"seed {game.seed}, score {game.score}, highest tile {game.board.max_tile}, {moves}")

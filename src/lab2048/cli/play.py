"""`lab2048 play`: the game in a plain terminal, or in a pipe."""

import contextlib
import json
import random
import signal
import sys
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from lab2048.cli.keys import REDRAW, Keys, can_read_keys, read_lines
from lab2048.cli.options import (
    GoalOption,
    RulesOption,
    SeedOption,
    SpawnerOption,
    SpawnOption,
    StartOption,
    StoreOption,
    say,
)
from lab2048.rules import Rules
from lab2048.rules.dice import MAX_SEED, check_seed
from lab2048.views.plain import PlainGame
from lab2048.views.text import wants_colour

if TYPE_CHECKING:
    from lab2048.arena.sitting import Sitting


def play(
    rules: RulesOption = "4x4",
    seed: SeedOption = None,
    goal: GoalOption = 2048,
    spawn: SpawnOption = "2:0.9,4:0.1",
    start: StartOption = None,
    spawner: SpawnerOption = "fair",
    store: StoreOption = None,
    lines: Annotated[bool, typer.Option("--lines", help="Read whole lines of keys, as from a pipe.")] = False,
) -> None:
    """Play in the terminal, on any board.

    Keys: w a s d or the arrows (on hexagons q w e a s d), u undo, r redo, x new game, q quit.
    When the input is no terminal, lines of keys are read, and a script can play.

    Example: lab2048 play --rules "####|#xx#|####" --seed 7
    """
    from lab2048.arena.sitting import Sitting
    from lab2048.records.store import Store

    the_rules = Rules.from_text(rules, goal=goal, spawn=spawn, start=start, spawner=spawner)
    the_seed = random.SystemRandom().randint(0, MAX_SEED) if seed is None else check_seed(seed)
    with Store.open(store) as the_store, _leaving_when_terminated():
        sitting = Sitting(the_rules, the_seed, the_store, on_failure=_complain)
        plain = PlainGame(sitting)
        print(f"2048 on {the_rules.board.to_text()}, seed {the_seed}\n{plain.help}\n")
        try:
            if not lines and can_read_keys():
                with Keys() as keys:
                    _play_keys(keys, plain, sitting)
            else:
                _play_lines(read_lines(), plain)
        finally:
            sitting.close()
            _sum_up(sitting)


@contextlib.contextmanager
def _leaving_when_terminated() -> Iterator[None]:
    """SIGTERM ends the program as Ctrl-C does: the game is kept and the terminal restored."""

    def leave(number: int, frame: object) -> None:  # noqa: ARG001
        raise SystemExit(128 + number)

    handler = signal.signal(signal.SIGTERM, leave)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, handler)


def _play_keys(source: Iterable[str], plain: PlainGame, sitting: "Sitting") -> None:
    """Act on each key at once, and show every board over the last."""
    height = _show(plain, "", above=0)
    for keys in source:
        if not keys:
            sitting.keep()
            continue
        message = _press(keys.replace(REDRAW, ""), plain)
        if plain.has_ended:
            return
        height = _show(plain, message, above=0 if REDRAW in keys else height)


def _play_lines(source: Iterable[str], plain: PlainGame) -> None:
    """Act on each line, and show the board after it."""
    _show(plain, "", above=0)
    for keys in source:
        message = _press(keys, plain)
        if plain.has_ended:
            return
        _show(plain, message, above=0)


def _press(keys: str, plain: PlainGame) -> str:
    """Press keys one by one until the end; return the last message."""
    message = ""
    for key in keys:
        message = plain.press(key) or message
        if plain.has_ended:
            break
    return message


def _show(plain: PlainGame, message: str, *, above: int) -> int:
    """Print the board, over the last one if that is `above` lines high; return the height."""
    text = f"{plain.frame(colour=wants_colour(sys.stdout))}\n{message}\n"
    if above:
        print(f"\x1b[{above}A\x1b[J", end="")
    print(text, end="" if message or above else "\n", flush=True)
    return text.count("\n")


def _complain(failure: str) -> None:
    say(f"lab2048: this game cannot be kept: {failure}")


def _sum_up(sitting: "Sitting") -> None:
    """Say how the last game stands; give out as text what could not be kept."""
    game = sitting.last_played
    if game:
        print(f"seed {game.seed}, score {game.score}, highest tile {game.board.max_tile}, {len(game.turns)} moves")
    unkept = sitting.unkept()
    if unkept:
        say("the games of this sitting, as lines for `lab2048 games import`:")
        for episode in unkept:
            say(json.dumps(episode.to_json()))

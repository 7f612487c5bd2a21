"""`lab2048 play`: the game in a plain terminal, or in a pipe."""

import json
import random
import sys
import time
from typing import TYPE_CHECKING, Annotated

import typer

from lab2048.cli.keys import can_read_keys, read_keys, read_lines
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
from lab2048.errors import StoreError
from lab2048.rules import Game, Rules
from lab2048.rules.dice import MAX_SEED, check_seed
from lab2048.views.plain import PlainGame
from lab2048.views.text import wants_colour

if TYPE_CHECKING:
    from lab2048.records.episode import Episode
    from lab2048.records.store import Store

KEEP_SECONDS = 0.5  # how often a game from a pipe is kept


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
    from lab2048.records.store import Store

    the_rules = Rules.from_text(rules, goal=goal, spawn=spawn, start=start, spawner=spawner)
    the_seed = random.SystemRandom().randint(0, MAX_SEED) if seed is None else check_seed(seed)
    with Store.open(store) as the_store:
        plain = PlainGame(the_rules, the_seed)
        keeper = Keeper(the_store, plain)
        print(f"2048 on {the_rules.board.to_text()}, seed {the_seed}\n{plain.help}\n")
        try:
            _loop(plain, keeper, by_key=not lines and can_read_keys())
        finally:
            keeper.close()


def _loop(plain: PlainGame, keeper: "Keeper", *, by_key: bool) -> None:
    """Show the board, read keys, do what they say, until someone or something ends it."""
    colour = wants_colour(sys.stdout)
    height = _show(plain, "", colour=colour, above=0)
    for keys in read_keys() if by_key else read_lines():
        message = ""
        for key in keys:
            message = plain.press(key) or message
            keeper.watch()
            if plain.has_ended:
                return
        keeper.keep(at_once=by_key)
        height = _show(plain, message, colour=colour, above=height if by_key else 0)


def _show(plain: PlainGame, message: str, *, colour: bool, above: int) -> int:
    """Print the board, over the last one if that is `above` lines high; return the height."""
    text = f"{plain.frame(colour=colour)}\n{message}\n"
    if above:
        print(f"\x1b[{above}A\x1b[J", end="")
    print(text, end="" if message or above else "\n", flush=True)
    return text.count("\n")


class Keeper:
    """Keeps the games of one sitting; a store that fails must not end the game."""

    def __init__(self, store: "Store", plain: PlainGame) -> None:
        """Nothing is kept before the first move."""
        self._store = store
        self._plain = plain
        self._run: int | None = None
        self._games: list[Game] = []
        self._begun = self._kept_at = time.monotonic()
        self._failure = ""

    def watch(self) -> None:
        """Take note of a new game; the one before is kept."""
        game = self._plain.game
        if game.turns and (not self._games or self._games[-1] is not game):
            self.keep(at_once=True)
            self._games.append(game)
            self._begun = time.monotonic()

    def keep(self, *, at_once: bool) -> None:
        """Keep the game as it now stands: at once, or if the last time was a while ago."""
        if not self._games or self._failure or not (at_once or time.monotonic() - self._kept_at > KEEP_SECONDS):
            return
        self._kept_at = time.monotonic()
        try:
            if self._run is None:
                self._run = self._store.begin_run("play", self._plain.rules, "human", self._plain.seed)
            self._store.keep(self._run, {len(self._games) - 1: self._episode(self._games[-1])})
        except StoreError as error:
            self._failure = str(error)
            say(f"lab2048: this game cannot be kept: {error}")

    def _episode(self, game: Game) -> "Episode":
        from lab2048.records.episode import Episode

        return Episode.from_game(game, "human", time.monotonic() - self._begun)

    def close(self) -> None:
        """Keep the last game and sum it up; if it could not be kept, give it out as text."""
        if not self._games:
            return
        self.keep(at_once=True)
        game = self._games[-1]
        print(f"seed {game.seed}, score {game.score}, highest tile {game.board.max_tile}, {len(game.turns)} moves")
        if self._failure:
            say("the games of this sitting, as lines for `lab2048 games import`:")
            for game in self._games:
                say(json.dumps(self._episode(game).to_json()))

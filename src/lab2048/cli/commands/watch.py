"""`lab2048 watch`: watch a player in the plain terminal."""

import contextlib
import math
import os
import random
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lab2048.cli.live_view import begin_line
from lab2048.cli.option_types import Within
from lab2048.cli.options import (
    GAMES,
    GoalOption,
    JsonOption,
    PlayerFileOption,
    RulesOption,
    SeedOption,
    SpawnerOption,
    SpawnOption,
    StartOption,
    StopOption,
    StoreOption,
    load_players,
    say,
)
from lab2048.cli.output import print_json
from lab2048.cli.progress import make_ready
from lab2048.cli.rescue import rescue
from lab2048.errors import IllegalMoveError, PlayerError

if TYPE_CHECKING:
    from lab2048.arena.player_service import AskedPlayer
    from lab2048.arena.session import Session
    from lab2048.players.player import Note
    from lab2048.rules import Game, Turn


def watch(
    player: Annotated[
        str | None,
        typer.Argument(metavar="[PLAYER]", help="Such as expectimax:ms=20 (default: ntuple on 4x4, else expectimax)."),
    ] = None,
    rules: RulesOption = "4x4",
    speed: Annotated[
        float,
        typer.Option("--speed", metavar="N", help="Moves per second (0 = as fast as possible)."),
        Within(0, 1000),
    ] = 20.0,
    games: Annotated[int, typer.Option("--games", "-n", metavar="N", help="Number of games."), GAMES] = 1,
    seed: SeedOption = None,
    goal: GoalOption = 2048,
    spawn: SpawnOption = "2:0.9,4:0.1",
    start: StartOption = None,
    spawner: SpawnerOption = "fair",
    stop_at_goal: StopOption = False,
    as_json: JsonOption = False,
    store: StoreOption = None,
    player_file: PlayerFileOption = None,
) -> None:
    """Watch a player play, and see its results.

    A slow terminal shows fewer frames, but the player makes the same moves. In a pipe, one line per move is
    printed at full speed. Every game is saved.

    Example: lab2048 watch expectimax --speed 20 --games 5
    """
    from lab2048.arena.player_service import AskedPlayer
    from lab2048.arena.session import Session
    from lab2048.players import default_spec
    from lab2048.players.registry import autonomous_spec
    from lab2048.records.store import Store
    from lab2048.records.store_file import VIEW_SECONDS
    from lab2048.rules import Rules
    from lab2048.rules.dice import MAX_SEED

    load_players(player_file)
    the_rules = Rules.from_text(rules, goal=goal, spawn=spawn, start=start, spawner=spawner, stop_at_goal=stop_at_goal)
    the_seed = random.SystemRandom().randint(0, MAX_SEED) if seed is None else seed
    spec = autonomous_spec(player or default_spec(the_rules))
    the_player = AskedPlayer(spec, the_rules, the_seed)
    groups = the_player.groups
    code, seen = 0, Seen(spec)
    with Store.open(store, timeout=VIEW_SECONDS) as the_store:
        make_ready(*groups)
        session = Session(the_rules, the_seed, the_store, on_failure=_complain)
        try:
            with _view(session, spec, games, is_quiet=as_json) as show:
                pace = speed if sys.stdout.isatty() and not as_json else 0.0
                _play(session, the_player, seen, games, pace, show)
        except KeyboardInterrupt:
            code = 130
            begin_line(sys.stdout)
        finally:
            session.close()
            seen.note(session.game)
            code = rescue(session.unsaved(), session.failure, the_store.path) or code
        _report(seen, session, as_json=as_json)
    raise typer.Exit(code)


@dataclass
class Seen:
    """The games watched so far."""

    player: str

    def __post_init__(self) -> None:
        self.games: list[dict[str, Any]] = []
        self.seconds = 0.0  # of the player's thinking time
        self.n_moves = 0

    def note(self, game: "Game") -> None:
        """Add a game, if it has a move and was not added yet."""
        if not game.turns or any(known["seed"] == game.seed for known in self.games):
            return
        facts = {"seed": game.seed, "score": game.score, "max_tile": game.board.max_tile, "moves": len(game.turns)}
        self.games.append(facts | {"moves_to_goal": game.moves_to_goal, "is_over": game.is_over})


def _play(
    session: "Session",
    player: "AskedPlayer",
    seen: Seen,
    n_games: int,
    speed: float,
    show: "Callable[[Turn | None, Note | None], None]",
) -> None:
    """Play the games at the given speed."""
    due = time.monotonic()
    for number in range(1, n_games + 1):
        player.start_game(session.game.seed)
        show(None, None)
        while not session.game.is_over:
            begin = time.perf_counter()
            decision = player.choose(session.game.board)
            seen.seconds += time.perf_counter() - begin
            if speed:
                due = max(due + 1 / speed, time.monotonic() - 1)  # after a long pause, do not catch up all of it
                time.sleep(max(0.0, due - time.monotonic()))
            try:
                board = session.game.board
                show(session.play(decision.move, by=seen.player), player.note(board, decision))
            except IllegalMoveError as error:
                raise PlayerError(f"player {seen.player} chose an illegal move: {error}") from None
            seen.n_moves += 1
        seen.note(session.game)
        if number < n_games:
            session.new_game()


@contextlib.contextmanager
def _view(
    session: "Session", spec: str, n_games: int, *, is_quiet: bool
) -> "Iterator[Callable[[Turn | None, Note | None], None]]":
    """Yield a function that shows a turn and why it was made: as a frame, as a line in a pipe, not at all if quiet."""
    from lab2048.rules.move import move_name
    from lab2048.views.frame import Frames
    from lab2048.views.game_list import printable
    from lab2048.views.plain_play import PlainGame
    from lab2048.views.screen import compose
    from lab2048.views.text import wants_codes

    if is_quiet:
        yield lambda _turn, _note: None
        return
    n_begun = 0
    if not sys.stdout.isatty() or os.environ.get("TERM") == "dumb":

        def line(turn: "Turn | None", note: "Note | None") -> None:
            nonlocal n_begun
            board = session.game.board.to_text(spaced=True)
            if turn is None:
                n_begun += 1
                of = f" of {n_games}" if n_games > 1 else ""
                print(f"game {n_begun}{of}, seed {session.game.seed}: turn, move, score and board")
                print(f"0 start 0 {board}")
            else:
                print(f"{turn.number} {move_name(turn.move)} {turn.score} {board}")
            if note is not None:
                print(f"  {note.text}")

        yield line
        return
    plain, colour = PlainGame(session), wants_codes(sys.stdout)
    with Frames(sys.stdout) as frames:

        def frame(turn: "Turn | None", note: "Note | None") -> None:
            nonlocal n_begun
            n_begun += turn is None
            of = f", game {n_begun} of {n_games}" if n_games > 1 else ""
            size = os.get_terminal_size(sys.stdout.fileno())
            room = os.terminal_size((size.columns or 80, (size.lines or 24) - 1))  # the cursor is below
            why = f" {note.text}" if note is not None else ""
            frames.show(compose(plain, f"{printable(spec)} plays{of}; Ctrl-C stops.{why}", room, colour=colour))

        yield frame


def _complain(failure: str) -> None:
    if failure:  # empty when saving works again
        say(f"lab2048: not saved yet: {failure}")


def _report(seen: Seen, session: "Session", *, as_json: bool) -> None:
    """Print a table of the games, and a summary."""
    from lab2048.arena.statistics import mean_interval, rate_interval
    from lab2048.views.match_table import rate_text, spread
    from lab2048.views.number import count

    rules, games = session.rules, seen.games
    if as_json:
        data = {"player": seen.player, "rules": rules.to_json(), "seed": session.seed}
        print_json("watch-1", data | {"games": games, "moves": seen.n_moves, "seconds": seen.seconds})
        return
    if not games:
        return
    width = max(len("seed"), *(len(str(game["seed"])) for game in games))
    print(f"{'game':>4}  {'seed':>{width}}  {'score':>9}  {'highest tile':>12}  {'moves':>7}  {rules.goal}")
    for number, game in enumerate(games, 1):
        to_goal = game["moves_to_goal"]
        goal = "not reached" if to_goal is None else f"after {count(to_goal, 'move')}"
        cut = "" if game["is_over"] else ", not finished"
        facts = f"{game['score']:>9,}  {game['max_tile']:>12}  {game['moves']:>7,}"
        print(f"{number:>4}  {game['seed']:>{width}}  {facts}  {goal}{cut}")
    whole = [game for game in games if game["is_over"]]
    if len(whole) > 1:
        mean = spread(mean_interval([game["score"] for game in whole]))
        rate = rate_text(rate_interval(sum(game["moves_to_goal"] is not None for game in whole), len(whole)))
        print(f"{len(whole)} games: mean score {mean}, {rules.goal} in {rate}")
    pace = seen.n_moves / seen.seconds if seen.seconds else math.inf
    print(f"by {seen.player} on {rules.board.to_text()}: {pace:,.0f} moves per second of thinking time")

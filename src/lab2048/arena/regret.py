"""Regret: how much a player's moves lose against optimal play, on a solved board."""

import heapq
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from lab2048.arena.episode import ask
from lab2048.arena.executor.executor import Executor
from lab2048.arena.statistics import Interval, mean_interval, rate_interval
from lab2048.errors import UsageError
from lab2048.players import make_player
from lab2048.players.spec_file import with_files
from lab2048.rules import Board, Game
from lab2048.rules.dice import episode_seed
from lab2048.rules.move import move_name
from lab2048.solver.probing import MoveValue
from lab2048.solver.table import Table
from lab2048.stop_flag import current

N_WORST = 10
_ROUNDING = 1e-11  # relative rounding error of values; moves this close are equally good


@dataclass(frozen=True)
class Mistake:
    """A move that was not optimal."""

    board: Board
    move: str
    best: str
    loss: float  # value of the best move minus value of this one
    value: float  # of the best move

    def to_json(self) -> dict[str, Any]:
        return {
            "board": self.board.to_text(),
            "move": self.move,
            "best": self.best,
            "loss": self.loss,
            "value": self.value,
        }


@dataclass
class Regret:
    """The measured regret of one player."""

    player: str
    games: list[float] = field(default_factory=list)  # loss per game: the sum over its moves
    scores: list[float] = field(default_factory=list)
    n_won: int = 0
    n_moves: int = 0
    n_best: int = 0
    worst: list[Mistake] = field(default_factory=list)  # distinct boards up to symmetry, worst first

    @property
    def per_move(self) -> float:
        """Return the mean loss per move."""
        return sum(self.games) / self.n_moves if self.n_moves else 0.0

    @property
    def per_game(self) -> Interval:
        """Return the mean loss per game."""
        return mean_interval(self.games)

    def to_json(self, *, has_goal: bool) -> dict[str, Any]:
        loss, n = self.per_game, len(self.games)
        score = mean_interval(self.scores)
        won = rate_interval(self.n_won, n)
        return {
            "player": self.player,
            "games": n,
            "moves": self.n_moves,
            "loss_per_move": self.per_move,
            "loss_per_game": loss.value,
            "loss_per_game_ci95": [loss.low, loss.high],
            "best_moves": self.n_best / self.n_moves if self.n_moves else 1.0,
            "mean_score": score.value,
            "mean_score_ci95": [score.low, score.high],
            **({"won": won.value, "won_ci95": [won.low, won.high]} if has_goal else {}),
            "worst": [mistake.to_json() for mistake in self.worst],
        }


@dataclass(frozen=True)
class RegretGame:
    """One game, every move compared with the best one."""

    loss: float
    score: float
    is_won: bool
    n_moves: int
    n_best: int
    mistakes: tuple[Mistake, ...]  # in the order of the game


class Grader:
    """Plays numbered games of one player on the board of a table, and compares every move with the best one."""

    def __init__(self, table: Table, spec: str, seed: int, made_by: str = "") -> None:
        """Make the player; `made_by` is its spec with the paths of this machine, if they are others."""
        self._table, self._spec, self._seed = table, spec, seed
        self._player = make_player(made_by or spec)
        if self._player.is_interactive:
            raise UsageError(f"player {spec} is a person: expected a player that chooses by itself", field="player")
        self._known: dict[Board, list[MoveValue]] = {}

    def play(self, number: int) -> RegretGame:
        """Play a game; game i has the same seed for all players.  If there is a goal, it ends when it is reached."""
        table, player = self._table, self._player
        game = Game(table.problem.rules, episode_seed(self._seed, number))
        player.start(game.rules, game.seed)
        total, n_moves, n_best, mistakes = 0.0, 0, 0, []
        while not game.is_over and not table.problem.is_decided(game.board):
            current().check()
            board = game.board
            if board not in self._known:
                self._known[board] = table.move_values(board)
            best = table.best(self._known[board])
            move = ask(player, self._spec, board).move
            value = next((each for each in self._known[board] if each.move == move), None)
            game.play(move)  # raises on an illegal move
            assert value is not None
            loss = _difference(best, value)
            total += loss
            n_moves += 1
            n_best += loss == 0
            if loss > 0:
                moves = board.shape.moves
                mistakes.append(Mistake(board, move_name(moves[move]), move_name(best.move), loss, best.value))
        is_won = table.problem.is_won(game.board)
        return RegretGame(total, float(game.score), is_won, n_moves, n_best, tuple(mistakes))


@dataclass(frozen=True)
class RegretBatch:
    """Games to grade, a unit of work for executors."""

    table: Path
    player: str  # canonical spec
    seed: int
    numbers: Sequence[int]
    spec: str = ""  # the same player with the paths of its files on this machine, if they are elsewhere

    @property
    def specs(self) -> tuple[str, ...]:
        return (self.player,)

    @property
    def paths(self) -> tuple[Path, ...]:
        return (self.table,)

    @property
    def home(self) -> None:
        return None

    @property
    def is_compiled(self) -> bool:
        return False

    def moved(self, where: Mapping[str, str]) -> "RegretBatch":
        """Return the batch for a machine where files are elsewhere."""
        table = Path(where.get(str(self.table.absolute()), self.table))
        return replace(self, table=table, spec=with_files(self.player, where))

    def run(self, is_stopped: Callable[[], bool]) -> tuple[str, dict[int, RegretGame]]:
        """Play the games; return them by number, with their player."""
        grader = Grader(Table.open(self.table), self.player, self.seed, self.spec)
        games = {number: grader.play(number) for number in self.numbers if not is_stopped()}
        return self.player, games


def measure_regret(
    table: Table, spec: str, *, seed: int, n_games: int, progress: Callable[[int], None] = lambda _: None
) -> Regret:
    """Play games on the table's board and compare every move with the best one."""
    grader = Grader(table, spec, seed)

    def games() -> Iterator[RegretGame]:
        for number in range(n_games):
            yield grader.play(number)
            progress(number + 1)

    return add_up(table, spec, games())


def add_up(table: Table, spec: str, games: Iterable[RegretGame]) -> Regret:
    """Return the regret over games, in the order of their numbers."""
    found, canonical = Regret(spec), table.problem.canonical
    worst: dict[Board, Mistake] = {}
    for game in games:
        for mistake in game.mistakes:
            key = canonical(mistake.board)
            if key not in worst or worst[key].loss < mistake.loss:
                worst[key] = mistake
        found.games.append(game.loss)
        found.scores.append(game.score)
        found.n_won += game.is_won
        found.n_moves += game.n_moves
        found.n_best += game.n_best
        if len(worst) > 1000:
            worst = {canonical(mistake.board): mistake for mistake in _largest(worst)}
    found.worst = list(_largest(worst))
    return found


def measure_on(executor: Executor, table: Table, specs: Sequence[str], *, seed: int, n_games: int) -> Iterator[Regret]:
    """Measure several players on an executor; yield each when its games are over."""
    size = max(1, min(20, n_games // (4 * max(1, executor.n_workers))))
    cuts = [range(n_games)[begin : begin + size] for begin in range(0, n_games, size)]
    games: dict[str, dict[int, RegretGame]] = {spec: {} for spec in specs}
    for spec, found in executor.run(RegretBatch(table.folder, spec, seed, cut) for spec in specs for cut in cuts):
        games[spec] |= found
        if len(games[spec]) == n_games:
            yield add_up(table, spec, (games[spec][number] for number in range(n_games)))


def _difference(best: MoveValue, chosen: MoveValue) -> float:
    """Return how much less a move is worth; for near-certain wins, computed from the chances to lose."""
    if best.loss is not None and chosen.loss is not None and best.value > 0.5:
        difference, scale = chosen.loss - best.loss, chosen.loss
    else:
        difference, scale = best.value - chosen.value, best.value
    return difference if difference > _ROUNDING * scale else 0.0


def _largest(worst: dict[Board, Mistake]) -> Iterator[Mistake]:
    return iter(heapq.nlargest(N_WORST, worst.values(), key=lambda mistake: mistake.loss))

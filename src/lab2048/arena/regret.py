"""Regret: how much a player's moves lose against optimal play, on a solved board."""

import heapq
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from lab2048.arena.episode import ask
from lab2048.arena.statistics import Interval, mean_interval, rate_interval
from lab2048.errors import UsageError
from lab2048.players import make_player
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


def measure_regret(
    table: Table, spec: str, *, seed: int, n_games: int, progress: Callable[[int], None] = lambda _: None
) -> Regret:
    """Play games on the table's board and compare every move with the best one.

    Game i has the same seed for all players.  If there is a goal, games end when it is reached.
    """
    player, found = make_player(spec), Regret(spec)
    if player.is_interactive:
        raise UsageError(f"player {spec} is a person: expected a player that chooses by itself", field="player")
    canonical = table.problem.canonical
    known: dict[Board, list[MoveValue]] = {}
    worst: dict[Board, Mistake] = {}
    for number in range(n_games):
        game = Game(table.problem.rules, episode_seed(seed, number))
        player.start(game.rules, game.seed)
        total = 0.0
        while not game.is_over and not table.problem.is_decided(game.board):
            current().check()
            board = game.board
            if board not in known:
                known[board] = table.move_values(board)
            best = table.best(known[board])
            move = ask(player, spec, board).move
            value = next((each for each in known[board] if each.move == move), None)
            game.play(move)  # raises on an illegal move
            assert value is not None
            loss = _difference(best, value)
            total += loss
            found.n_moves += 1
            found.n_best += loss == 0
            if loss > 0:
                moves = board.shape.moves
                mistake = Mistake(board, move_name(moves[move]), move_name(best.move), loss, best.value)
                key = canonical(board)
                if key not in worst or worst[key].loss < loss:
                    worst[key] = mistake
        found.games.append(total)
        found.scores.append(float(game.score))
        found.n_won += table.problem.is_won(game.board)
        progress(number + 1)
        if len(worst) > 1000:
            worst = {canonical(mistake.board): mistake for mistake in _largest(worst)}
    found.worst = list(_largest(worst))
    return found


def _difference(best: MoveValue, chosen: MoveValue) -> float:
    """Return how much less a move is worth; for near-certain wins, computed from the chances to lose."""
    if best.loss is not None and chosen.loss is not None and best.value > 0.5:
        difference, scale = chosen.loss - best.loss, chosen.loss
    else:
        difference, scale = best.value - chosen.value, best.value
    return difference if difference > _ROUNDING * scale else 0.0


def _largest(worst: dict[Board, Mistake]) -> Iterator[Mistake]:
    return iter(heapq.nlargest(N_WORST, worst.values(), key=lambda mistake: mistake.loss))

"""Evaluation games: play a fixed set of seeds that are not used in training."""

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lab2048.arena.statistics import mean_interval, rate_interval
from lab2048.learning.deep.vector_games import N_RANKS, FinishedGame, Moves, Ranks, RewardShaping, VectorGames
from lab2048.rules import Rules
from lab2048.rules.afterstates import Afterstates

SEED = 20482048  # of the evaluation games
N_TILES = 6  # number of highest tiles with reported rates

# (boards, afterstates, moves played so far) -> one move per board
Choose = Callable[[Ranks, Afterstates, NDArray[np.int64]], Moves]


@dataclass
class Evaluation:
    """Statistics of evaluation games, with 95% intervals."""

    n: int
    mean: float
    mean_low: float
    mean_high: float
    total: float  # mean return after reward shaping
    length: float
    tile_sum: float
    max_tile: int
    rates: dict[int, tuple[float, float, float]]  # share of games that reached each tile, with the interval
    pairs: dict[int, float]  # adjacent equal tiles per game, by tile

    def share(self, tile: int) -> float:
        """Return the share of games that reached a tile; 1 or 0 for tiles outside `rates`."""
        return self.rates[tile][0] if tile in self.rates else float(tile <= self.max_tile)

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


class Played(NamedTuple):
    """Finished games."""

    finished: list[FinishedGame]  # in the order of their seeds
    pairs: NDArray[np.int64]  # one row per game: adjacent pairs of each rank, summed over states


def evaluate(
    rules: Rules, n: int, choose: Choose, *, seed: int = SEED, shape_rewards: RewardShaping | None = None
) -> Evaluation:
    """Play n vectorized games to the end and summarise them."""
    played = play_evaluation_games(rules, n, choose, seed=seed, shape_rewards=shape_rewards)
    return summarize(played.finished, played.pairs.sum(axis=0))


def play_evaluation_games(
    rules: Rules,
    n: int,
    choose: Choose,
    *,
    seed: int = SEED,
    shape_rewards: RewardShaping | None = None,
    show: Callable[[int], None] = lambda _: None,
) -> Played:
    """Play n vectorized games to the end; `show` gets the number of finished games after every move."""
    games = VectorGames(rules, n, seed)
    is_open = np.ones(n, np.bool_)
    finished: dict[int, FinishedGame] = {}
    pairs = np.zeros((n, N_RANKS), np.int64)
    while is_open.any():
        pairs += games.pairs_now() * is_open[:, None]
        afterstates = games.slide()
        moves = np.asarray(afterstates.legal.argmax(axis=1), np.int64)  # finished games continue but are ignored
        part = Afterstates(afterstates.boards[is_open], afterstates.rewards[is_open])
        moves[is_open] = choose(games.ranks[is_open], part, games.lengths[is_open])
        step = games.step(moves, shape_rewards)
        for game in np.flatnonzero(step.ended):
            finished_game = games.finished.popleft()
            if is_open[game]:
                finished[int(game)] = finished_game
                is_open[game] = False
        show(len(finished))
    return Played([finished[game] for game in range(n)], pairs)


def summarize(finished: list[FinishedGame], pairs: NDArray[np.int64]) -> Evaluation:
    """Compute statistics of finished games."""
    n = len(finished)
    mean = mean_interval([finished_game.score for finished_game in finished])
    tiles = np.array([finished_game.max_tile for finished_game in finished])
    highest = int(tiles.max())
    rates: dict[int, tuple[float, float, float]] = {}
    for rank in range(max(1, highest.bit_length() - N_TILES), highest.bit_length()):
        rates[1 << rank] = rate_interval(int((tiles >= 1 << rank).sum()), n)
    return Evaluation(
        n=n,
        mean=mean.value,
        mean_low=mean.low if math.isfinite(mean.low) else mean.value,
        mean_high=mean.high if math.isfinite(mean.high) else mean.value,
        total=float(np.mean([finished_game.total for finished_game in finished])),
        length=float(np.mean([finished_game.n_moves for finished_game in finished])),
        tile_sum=float(np.mean([finished_game.tile_sum for finished_game in finished])),
        max_tile=highest,
        rates=rates,
        pairs={1 << rank: float(pairs[rank] / n) for rank in range(1, N_RANKS) if pairs[rank]},
    )

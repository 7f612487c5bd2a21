"""Trials: how a network plays games that it has not learnt from, always the same ones."""

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lab2048.arena.statistics import mean_interval, rate_interval
from lab2048.learning.deep.vector_games import N_RANKS, Crowd, Ending, Moves, Ranks, Weigh
from lab2048.rules import Rules
from lab2048.rules.afterstates import Afters

SEED = 20482048  # of the games of a trial
N_TILES = 6  # highest tiles whose rates are reported

# Given boards, what their moves lead to and how many moves were made before: a move for each.
Choose = Callable[[Ranks, Afters, NDArray[np.int64]], Moves]


@dataclass
class Trial:
    """How some games ended, with the 95% intervals of what can be concluded."""

    n: int
    mean: float
    mean_low: float
    mean_high: float
    total: float  # mean return as the learner counts rewards
    length: float
    tile_sum: float
    max_tile: int
    rates: dict[int, tuple[float, float, float]]  # of games that made a tile, with the interval
    pairs: dict[int, float]  # how often two tiles lay side by side, a game

    def share(self, tile: int) -> float:
        """How many of the games made a tile; none that is far below the highest is asked about."""
        return self.rates[tile][0] if tile in self.rates else float(tile <= self.max_tile)

    def to_json(self) -> dict[str, Any]:
        """A point of the curve."""
        return asdict(self)


class Played(NamedTuple):
    """Games that were played to their ends."""

    endings: list[Ending]  # in the order of their seeds
    pairs: NDArray[np.int64]  # a row a game: how often two tiles of each rank lay side by side


def run_trial(rules: Rules, n: int, choose: Choose, *, seed: int = SEED, weigh: Weigh | None = None) -> Trial:
    """Play n games to their ends, all at once, and sum them up."""
    played = play_trial(rules, n, choose, seed=seed, weigh=weigh)
    return summarize(played.endings, played.pairs.sum(axis=0))


def play_trial(
    rules: Rules,
    n: int,
    choose: Choose,
    *,
    seed: int = SEED,
    weigh: Weigh | None = None,
    show: Callable[[int], None] = lambda _: None,
) -> Played:
    """Play n games to their ends, all at once; `show` is told how many have ended, after every move."""
    crowd = Crowd(rules, n, seed)
    is_open = np.ones(n, np.bool_)
    endings: dict[int, Ending] = {}
    pairs = np.zeros((n, N_RANKS), np.int64)
    while is_open.any():
        pairs += crowd.pairs_now() * is_open[:, None]
        afters = crowd.slide()
        moves = np.asarray(afters.legal.argmax(axis=1), np.int64)  # games that are over go on, unseen
        part = Afters(afters.boards[is_open], afters.rewards[is_open])
        moves[is_open] = choose(crowd.ranks[is_open], part, crowd.lengths[is_open])
        step = crowd.step(moves, weigh)
        for game in np.flatnonzero(step.ended):
            ending = crowd.endings.popleft()
            if is_open[game]:
                endings[int(game)] = ending
                is_open[game] = False
        show(len(endings))
    return Played([endings[game] for game in range(n)], pairs)


def summarize(endings: list[Ending], pairs: NDArray[np.int64]) -> Trial:
    """What can be concluded from some games."""
    n = len(endings)
    mean = mean_interval([ending.score for ending in endings])
    tiles = np.array([ending.max_tile for ending in endings])
    highest = int(tiles.max())
    rates: dict[int, tuple[float, float, float]] = {}
    for rank in range(max(1, highest.bit_length() - N_TILES), highest.bit_length()):
        rates[1 << rank] = rate_interval(int((tiles >= 1 << rank).sum()), n)
    return Trial(
        n=n,
        mean=mean.value,
        mean_low=mean.low if math.isfinite(mean.low) else mean.value,
        mean_high=mean.high if math.isfinite(mean.high) else mean.value,
        total=float(np.mean([ending.total for ending in endings])),
        length=float(np.mean([ending.n_moves for ending in endings])),
        tile_sum=float(np.mean([ending.tile_sum for ending in endings])),
        max_tile=highest,
        rates=rates,
        pairs={1 << rank: float(pairs[rank] / n) for rank in range(1, N_RANKS) if pairs[rank]},
    )

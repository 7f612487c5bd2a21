"""Matches: players meet the same seeds, and their scores are compared."""

import math
import statistics
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import TYPE_CHECKING, Any

from lab2048.arena.statistics import Interval, games_to_decide, mean_interval, rate_interval
from lab2048.errors import UsageError
from lab2048.records.store import Summary
from lab2048.rules import Rules

if TYPE_CHECKING:  # whoever only reads a match need not load the kernels
    from lab2048.arena.batch import Batch, Played
    from lab2048.arena.executor import Pool

SCHEMA = "lab2048/match-1"
BATCH_SECONDS = 0.4  # aim: long enough to cost nothing, short enough to show progress and lose little
MAX_BATCH = 4096


@dataclass
class Standing:
    """What one player has played so far; games are kept by their number."""

    player: str
    games: dict[int, Summary] = field(default_factory=dict)
    cpu_seconds: float = 0.0  # of the games played now, not of those that a resumed match found in the store

    @property
    def scores(self) -> list[int]:
        return [game.score for game in self.games.values()]

    @property
    def median_score(self) -> float:
        return statistics.median(self.scores)

    def reached(self, tile: int) -> Interval:
        """The rate of games that made this tile."""
        return rate_interval(sum(game.max_tile >= tile for game in self.games.values()), len(self.games))

    @property
    def n_won(self) -> int:
        return sum(game.moves_to_goal is not None for game in self.games.values())

    @property
    def n_moves(self) -> int:
        return sum(game.n_moves for game in self.games.values())

    @property
    def seconds(self) -> float:
        return math.fsum(game.seconds for game in self.games.values())

    @property
    def seconds_to_goal(self) -> float | None:
        """The mean time until the goal stood on the board, over the games that reached it."""
        times = [
            game.seconds * game.moves_to_goal / max(1, game.n_moves)
            for game in self.games.values()
            if game.moves_to_goal is not None
        ]
        return statistics.fmean(times) if times else None


@dataclass
class Match:
    """Players, rules, and the games that they play on the same seeds."""

    rules: Rules
    players: Sequence[str]  # canonical specs
    seed: int
    n_games: int
    until_goal: bool = False  # games end when the goal is made

    def __post_init__(self) -> None:
        """Nobody has played yet."""
        if len(set(self.players)) < len(self.players):
            raise UsageError(f"players {' '.join(self.players)}: expected each player once", field="players")
        self.standings = {player: Standing(player) for player in self.players}

    def play(self, pool: "Pool") -> "Iterator[Played]":
        """Play what is missing; each piece is counted when it is handed out."""
        pace = dict.fromkeys(self.players, 0.0)  # seconds a game, as far as is known
        for played in pool.run(self._batches(pace, pool.n_workers)):
            self.count(played)
            if played.episodes:
                pace[played.player] = played.cpu_seconds / len(played.episodes)
            yield played

    def count(self, played: "Played") -> None:
        """Add finished games to their player's standing."""
        standing = self.standings[played.player]
        standing.cpu_seconds += played.cpu_seconds
        for number, episode in played.episodes.items():
            standing.games[number] = Summary(
                number,
                episode.score,
                len(episode.moves),
                episode.max_tile,
                episode.moves_to_goal,
                episode.seconds,
            )

    def _batches(self, pace: dict[str, float], n_workers: int) -> "Iterator[Batch]":
        """Cut the missing games into batches, all players in step, so that a match cut short is still paired."""
        from lab2048.arena.batch import Batch

        missing = {
            player: [n for n in range(self.n_games) if n not in standing.games]
            for player, standing in self.standings.items()
        }
        begin, size = 0, 1
        while begin < self.n_games:
            for player, numbers in missing.items():
                mine = numbers[bisect_left(numbers, begin) : bisect_left(numbers, begin + size)]
                if mine:
                    yield Batch(player, self.rules, self.seed, mine, self.until_goal)
            begin += size
            # Grow with care: the next games may be longer.  Shrink at the end, so that all workers end together.
            wanted = int(BATCH_SECONDS / max(*pace.values(), 1e-6))
            size = max(1, min(wanted, 2 * size, MAX_BATCH, (self.n_games - begin) // (2 * n_workers)))

    def tiles(self) -> list[int]:
        """The tiles worth a column: from the lowest highest tile of any game to the highest, and the goal."""
        tops = [game.max_tile for standing in self.standings.values() for game in standing.games.values()]
        high = max([*tops, self.rules.goal])
        low = min([*tops, self.rules.goal])
        return [2**rank for rank in range(low.bit_length() - 1, high.bit_length())]

    def to_json(self) -> dict[str, Any]:
        """The result as data; a player without a game has only its name and 0 games."""
        return {
            "schema": SCHEMA,
            "rules": self.rules.to_json(),
            "seed": self.seed,
            "players": [self._player_json(standing) for standing in self.standings.values()],
            "paired": [self._paired_json(a, b) for a, b in combinations(self.standings.values(), 2)],
        }

    def _player_json(self, standing: Standing) -> dict[str, Any]:
        n = len(standing.games)
        if n == 0:
            return {"player": standing.player, "games": 0}
        mean = mean_interval(standing.scores)
        return {
            "player": standing.player,
            "games": n,
            "mean_score": mean.value,
            "mean_score_ci95": _ends(mean),
            "median_score": standing.median_score,
            "max_score": max(standing.scores),
            "reached": {str(tile): _rate_json(standing.reached(tile)) for tile in self.tiles()},
            "won": standing.n_won,
            "moves": standing.n_moves,
            "moves_per_second": standing.n_moves / standing.seconds if standing.seconds else None,
            "cpu_seconds": standing.cpu_seconds,
            "seconds_per_game": standing.seconds / n,
            "seconds_to_goal": standing.seconds_to_goal,
        }

    def difference(self, a: Standing, b: Standing) -> tuple[Interval, int] | None:
        """The mean of a's score less b's on the same seed, and the number of seeds that both played."""
        both = sorted(a.games.keys() & b.games.keys())
        if not both:
            return None
        return mean_interval([a.games[n].score - b.games[n].score for n in both]), len(both)

    def _paired_json(self, a: Standing, b: Standing) -> dict[str, Any]:
        result = self.difference(a, b)
        pair: dict[str, Any] = {"players": [a.player, b.player]}
        if result is None:
            return pair | {"games": 0}
        difference, n = result
        return pair | {
            "games": n,
            "mean_difference": difference.value,
            "mean_difference_ci95": _ends(difference),
            "games_to_decide": games_to_decide(difference, n),
        }


def _ends(interval: Interval) -> list[float | None]:
    """An interval for JSON, which has no infinity: the one of a single game has no ends."""
    return [end if math.isfinite(end) else None for end in (interval.low, interval.high)]


def _rate_json(rate: Interval) -> dict[str, Any]:
    return {"rate": rate.value, "ci95": _ends(rate)}

"""Matches: all players play the same seeds, and their scores are compared."""

import math
import statistics
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import TYPE_CHECKING, Any

from lab2048.arena.statistics import Interval, games_to_decide, mean_interval, rate_interval
from lab2048.errors import UsageError
from lab2048.records.store import Summary
from lab2048.rules import Rules

if TYPE_CHECKING:  # reading a match does not load the kernels
    from lab2048.arena.batch import Batch, Played
    from lab2048.arena.executor.executor import Executor
    from lab2048.arena.review.control import Adjusted

SCHEMA = "lab2048/match-1"
BATCH_SECONDS = 0.2  # long enough to be cheap, short enough for progress and little loss
MAX_BATCH = 4096


@dataclass
class PlayerResult:
    """The games of one player so far, by number."""

    player: str
    games: dict[int, Summary] = field(default_factory=dict)
    tile_sums: dict[int, int] = field(
        default_factory=dict
    )  # of the last boards; missing if only the summary of a game is known
    cpu_seconds: float = 0.0  # of this session only, not of games resumed from the store
    lucks: dict[int, float] = field(default_factory=dict)  # if luck is measured

    @property
    def scores(self) -> list[int]:
        return [game.score for game in self.games.values()]

    @property
    def adjusted(self) -> "Adjusted | None":
        """Return the mean score without luck; None if luck was not measured."""
        from lab2048.arena.review.control import adjust

        if not self.lucks:
            return None
        numbers = sorted(self.lucks)
        return adjust([self.games[number].score for number in numbers], [self.lucks[number] for number in numbers])

    @property
    def median_score(self) -> float:
        return statistics.median(self.scores)

    @property
    def commonest_max_tile(self) -> int:
        """Return the highest tile of most games; the larger one if two are equally common."""
        tops = Counter(game.max_tile for game in self.games.values())
        return max(tops, key=lambda tile: (tops[tile], tile))

    @property
    def mean_tile_sum(self) -> float | None:
        """Return the mean tile sum of the last boards; None if it is not known for all games."""
        is_known = self.games and self.tile_sums.keys() >= self.games.keys()
        return statistics.fmean(self.tile_sums.values()) if is_known else None

    def reached(self, tile: int) -> Interval:
        """Return the rate of games that reached this tile."""
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
        """Return the mean time to reach the goal, over the games that reached it."""
        times = [
            game.seconds * game.moves_to_goal / max(1, game.n_moves)
            for game in self.games.values()
            if game.moves_to_goal is not None
        ]
        return statistics.fmean(times) if times else None


@dataclass
class Match:
    """Players that play the same seeds under the same rules."""

    rules: Rules
    players: Sequence[str]  # canonical specs
    seed: int
    n_games: int

    def __post_init__(self) -> None:
        """Raise UsageError if a player is listed twice."""
        if len(set(self.players)) < len(self.players):
            raise UsageError(f"players {' '.join(self.players)}: expected each player once", field="players")
        self.results = {player: PlayerResult(player) for player in self.players}

    def play(self, pool: "Executor", *, is_counted: bool = True) -> "Iterator[Played]":
        """Play the missing games; each batch is counted before it is yielded, or the caller counts it later."""
        pace = dict.fromkeys(self.players, 0.0)  # seconds per game; 0 = unknown
        for played in pool.run(self._batches(pace, pool.n_workers)):
            if is_counted:
                self.count(played)
            if played.episodes:
                pace[played.player] = played.cpu_seconds / len(played.episodes)
            yield played

    def count(self, played: "Played") -> None:
        """Add finished games to their player's result."""
        player_result = self.results[played.player]
        player_result.cpu_seconds += played.cpu_seconds
        player_result.tile_sums |= played.tile_sums
        for number, episode in played.episodes.items():
            player_result.games[number] = Summary(
                number,
                episode.score,
                len(episode.moves),
                episode.max_tile,
                episode.moves_to_goal,
                episode.seconds,
            )

    def _batches(self, pace: dict[str, float], n_workers: int) -> "Iterator[Batch]":
        """Split the missing games into batches, alternating players, so an interrupted match is still paired."""
        from lab2048.arena.batch import Batch

        missing = {
            player: [n for n in range(self.n_games) if n not in player_result.games]
            for player, player_result in self.results.items()
        }
        begin, size = 0, 1
        while begin < self.n_games:
            for player, numbers in missing.items():
                mine = numbers[bisect_left(numbers, begin) : bisect_left(numbers, begin + size)]
                if mine:
                    yield Batch(player, self.rules, self.seed, mine)
            begin += size
            # Grow slowly, because later games may be longer; shrink at the end so that all workers finish together.
            wanted = int(BATCH_SECONDS / max(*pace.values(), 1e-6))
            size = max(1, min(wanted, 2 * size, MAX_BATCH, (self.n_games - begin) // (2 * n_workers)))

    def tiles(self) -> list[int]:
        """Return the tiles to show as columns: the range of highest tiles over all games, including the goal."""
        tops = [game.max_tile for player_result in self.results.values() for game in player_result.games.values()]
        high = max([*tops, self.rules.goal])
        low = min([*tops, self.rules.goal])
        return [2**rank for rank in range(low.bit_length() - 1, high.bit_length())]

    def to_json(self) -> dict[str, Any]:
        """Return the result as JSON data; a player without games has only its name and 0 games."""
        return {
            "schema": SCHEMA,
            "rules": self.rules.to_json(),
            "seed": self.seed,
            "players": [self._player_json(player_result) for player_result in self.results.values()],
            "paired": [self._paired_json(a, b) for a, b in combinations(self.results.values(), 2)],
        }

    def _player_json(self, player_result: PlayerResult) -> dict[str, Any]:
        n = len(player_result.games)
        if n == 0:
            return {"player": player_result.player, "games": 0}
        mean, adjusted = mean_interval(player_result.scores), player_result.adjusted
        luck = (
            {
                "luck_adjusted_mean": adjusted.mean.value,
                "luck_adjusted_mean_ci95": _ends(adjusted.mean),
                "luck_adjusted_games": adjusted.n,
                "luck_variance_ratio": adjusted.variance_ratio,
            }
            if adjusted
            else {}
        )
        return {
            "player": player_result.player,
            "games": n,
            "mean_score": mean.value,
            "mean_score_ci95": _ends(mean),
            **luck,
            "median_score": player_result.median_score,
            "min_score": min(player_result.scores),
            "max_score": max(player_result.scores),
            "commonest_max_tile": player_result.commonest_max_tile,
            "mean_tile_sum": player_result.mean_tile_sum,
            "reached": {str(tile): _rate_json(player_result.reached(tile)) for tile in self.tiles()},
            "won": player_result.n_won,
            "moves": player_result.n_moves,
            "moves_per_second": player_result.n_moves / player_result.seconds if player_result.seconds else None,
            "cpu_seconds": player_result.cpu_seconds,
            "seconds_per_game": player_result.seconds / n,
            "seconds_to_goal": player_result.seconds_to_goal,
        }

    def difference(self, a: PlayerResult, b: PlayerResult) -> tuple[Interval, int] | None:
        """Return the mean paired difference of scores, a - b, and the number of common seeds."""
        both = sorted(a.games.keys() & b.games.keys())
        if not both:
            return None
        return mean_interval([a.games[n].score - b.games[n].score for n in both]), len(both)

    def _paired_json(self, a: PlayerResult, b: PlayerResult) -> dict[str, Any]:
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
    """Return the ends for JSON; infinite ends (of a single game) become null."""
    return [end if math.isfinite(end) else None for end in (interval.low, interval.high)]


def _rate_json(rate: Interval) -> dict[str, Any]:
    return {"rate": rate.value, "ci95": _ends(rate)}

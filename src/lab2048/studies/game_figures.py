"""Compute the figures of a study from games."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from lab2048.arena.review.totals import Totals
from lab2048.arena.statistics import Interval, mean_interval
from lab2048.records.episode import Episode
from lab2048.rules import Rules, dice
from lab2048.studies.measure import SUMMARIES, Measure, Measured, Unit
from lab2048.studies.result import GameResult


def game_result(
    number: int,
    episode: Episode,
    n_overridden: int | None = None,
    n_replaced: int | None = None,
    review: Totals | None = None,
) -> GameResult:
    """Summarise a finished game."""
    return GameResult(
        number,
        episode.score,
        len(episode.moves),
        episode.max_tile,
        tile_sum(episode.rules, episode.seed, len(episode.moves)),
        episode.moves_to_goal,
        round(episode.seconds, 9),
        n_overridden,
        n_replaced,
        *((review.accuracy, review.error_rate, review.luck) if review else ()),
    )


def tile_sum(rules: Rules, seed: int, n_moves: int) -> int:
    """Return the tile sum after `n_moves` moves.

    Slides do not change the sum, and with the fair spawner the seed alone decides which tiles spawn.

    >>> tile_sum(Rules.from_text("4x4"), seed=1, n_moves=0)
    4
    """
    n = rules.n_start + n_moves
    ends = np.array(dice.thresholds(tuple(p for _, p in rules.spawn_table)), np.uint64)
    tiles = np.array([1 << rank for rank, _ in rules.spawn_table], np.int64)
    with np.errstate(over="ignore"):
        words = np.uint64(dice.stream_key(seed, dice.SPAWN)) + np.arange(1, n + 1, dtype=np.uint64) * np.uint64(
            dice.GOLDEN
        )
        words = (words ^ words >> np.uint64(30)) * np.uint64(0xBF58_476D_1CE4_E5B9)
        words = (words ^ words >> np.uint64(27)) * np.uint64(0x94D0_49BB_1331_11EB)
    low = (words ^ words >> np.uint64(31)) & np.uint64(0xFFFF_FFFF)
    return rules.board.tile_sum + int(tiles[np.searchsorted(ends, low, side="right")].sum())


def measure_games(games: Sequence[GameResult], measure: Measure) -> Measured | None:
    """Return a figure over some games, or None if they have no value for it."""
    found = list(samples(games, measure).values())
    if not found:
        return None
    if measure.name in SUMMARIES:
        return replace(Measured.single(SUMMARIES[measure.name](found)), n=len(found))
    if measure.meaning.unit is Unit.RATE:
        return Measured.rate(round(sum(found)), len(found))
    return Measured.mean(found)


def measure_evaluations(curve: Sequence[Mapping[str, float]], measure: Measure) -> Measured | None:
    """Return a figure over the evaluations of a training, or None if it had none or the measure is another."""
    points = [point for point in curve if "max_tile" in point and "n" in point]
    if measure.name == "evaluations" and points:
        return Measured.rate(sum(point["max_tile"] >= measure.tile for point in points), len(points))
    if measure.name == "evaluation-sum" and points:
        return Measured.mean([point["tile_sum"] for point in points])
    return None


def samples(games: Sequence[GameResult], measure: Measure) -> dict[int, float]:
    """Return the figure per game number, or per ten games; games without a value are left out."""
    chosen = [game for game in games if not measure.first or game.number < measure.first]
    if measure.name == "best-of-ten":
        tens = [[game.max_tile for game in chosen if game.number // 10 == i] for i in range(len(chosen) // 10)]
        return {i: float(max(tiles) >= measure.tile) for i, tiles in enumerate(tens) if len(tiles) == 10}
    found = {game.number: _sample(game, measure) for game in chosen}
    return {number: float(value) for number, value in found.items() if value is not None}


def _sample(game: GameResult, measure: Measure) -> float | None:
    match measure.name:
        case "won":
            return game.moves_to_goal is not None
        case "reached":
            return game.max_tile >= measure.tile
        case "score":
            return game.score
        case "tile" | "mode":
            return game.max_tile
        case "sum" | "highest-sum" | "lowest-sum":
            return game.tile_sum
        case "length":
            return game.n_moves
        case "move-time":
            return game.seconds / max(1, game.n_moves)
        case "goal-time":
            to_goal = game.moves_to_goal
            return None if to_goal is None else game.seconds * to_goal / max(1, game.n_moves)
        case "overrides":
            return game.n_overridden
        case "interventions":
            return game.n_replaced
        case "accuracy":
            return game.accuracy
        case "error-rate":
            return game.error_rate
        case "luck":
            return game.luck
        case "adjusted-score":
            return None if game.luck is None else game.score - game.luck
        case _:
            return None


def paired_difference(ours: Sequence[GameResult], theirs: Sequence[GameResult], measure: Measure) -> Interval | None:
    """Return ours minus theirs on the same seeds, or None if the seeds differ."""
    a, b = samples(ours, measure), samples(theirs, measure)
    if len(a) < 2 or a.keys() != b.keys():
        return None
    return mean_interval([a[number] - b[number] for number in a])

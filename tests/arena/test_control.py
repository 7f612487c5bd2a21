"""Luck as a control variate: the mean stays unbiased, and the interval gets smaller."""

import random
import statistics
from pathlib import Path
from typing import Any

import pytest

from lab2048.arena.match import Match
from lab2048.arena.review.control import adjust
from lab2048.arena.review.reviewer import make_reviewer
from lab2048.arena.review.totals import total_up
from lab2048.arena.statistics import mean_interval
from lab2048.library.match import MatchRunner, match
from lab2048.records.episode import Episode
from lab2048.rules import Game, Rules


def test_the_mean_without_luck_is_unbiased_over_many_small_matches() -> None:
    """Scores are 100 + 2 luck + noise; luck has mean zero.  The error of the mean must not differ from zero."""
    dice, errors, ratios = random.Random(5), [], []
    for _ in range(3000):
        lucks = [dice.gauss(0, 10) if dice.random() < 0.9 else dice.expovariate(0.1) - 10 for _ in range(12)]
        scores = [100 + 2 * luck + luck * luck / 50 - dice.gauss(0, 5) for luck in lucks]
        found = adjust(scores, lucks)
        errors.append(found.mean.value - 100 - 2.0)
        ratios.append(found.variance_ratio)
    bias = mean_interval(errors)
    assert bias.low <= 0.15
    assert bias.high >= -0.15
    assert statistics.fmean(ratios) < 0.5


def test_the_luck_of_a_perfect_player_explains_all_of_its_score() -> None:
    """On a solved board a perfect player has neither losses nor drift: without luck every game is worth the same."""
    result = match("optimal", rules="2x2", games=40, luck=True, progress=False)
    [player] = result.to_dict()["players"]
    reviewer = make_reviewer("optimal", Rules.from_text("2x2"))
    first = [
        total_up(Episode.from_game(Game(Rules.from_text("2x2"), seed), "x", 0.0), reviewer).initial_value
        for seed in range(3)
    ]
    assert player["luck_variance_ratio"] < 0.35
    assert player["luck_adjusted_games"] == 40
    assert min(first) < player["luck_adjusted_mean"] * 1.2


def test_luck_of_players_averages_zero() -> None:
    the_match = Match(Rules.from_text("2x3"), ["random", "greedy"], 3, 200)
    with MatchRunner(the_match, 1, luck=True, progress=False) as runner:
        runner.play()
    for result in the_match.results.values():
        lucks = list(result.lucks.values())
        assert abs(statistics.fmean(lucks)) < 3 * statistics.stdev(lucks) / len(lucks) ** 0.5
        adjusted, plain = result.adjusted, mean_interval(result.scores)
        assert adjusted is not None
        assert adjusted.n == 200
        assert adjusted.mean.low < plain.high
        assert adjusted.mean.high > plain.low
        assert adjusted.variance_ratio < 1


def test_a_resumed_match_has_the_luck_of_saved_games_too(tmp_path: Path) -> None:
    def play(games: int, *, resume: bool) -> dict[str, Any]:
        options: dict[str, Any] = {"rules": "2x3", "seed": 4, "store": tmp_path / "games.db", "progress": False}
        [player] = match("greedy", games=games, luck=True, resume=resume, **options).to_dict()["players"]
        return dict(player)

    play(12, resume=False)
    resumed = play(30, resume=True)
    [whole] = match("greedy", rules="2x3", seed=4, games=30, luck=True, progress=False).to_dict()["players"]
    assert resumed["luck_adjusted_games"] == 30
    assert resumed["luck_adjusted_mean"] == pytest.approx(whole["luck_adjusted_mean"])

"""What a match is required to show: how it is written, what it looks at, and how it fails."""

import json
from pathlib import Path

import pytest
from trained import SMALL, train

from lab2048.arena.match import Match
from lab2048.arena.requirement import Requirement
from lab2048.arena.statistics import mean_interval
from lab2048.cli.app import run
from lab2048.errors import UsageError
from lab2048.records.store import Summary
from lab2048.rules import Rules


@pytest.fixture
def match() -> Match:
    """Two players, four games each; the first one has 100 points more on every seed but one."""
    match = Match(Rules.from_text("4x4", goal=64), ["one", "two"], seed=1, n_games=4)
    for player, scores in {"one": [200, 300, 400, 500], "two": [100, 200, 300, 450]}.items():
        match.results[player].games = {
            n: Summary(n, score, score // 10, 64 if score > 250 else 32, 9 if score > 250 else None, 2.0)
            for n, score in enumerate(scores)
        }
    return match


@pytest.mark.parametrize(
    ("text", "values", "is_met"),
    [
        ("mean>=350", [350, 262.5], [True, False]),
        (" mean > 350 ", [350, 262.5], [False, False]),
        ("1.mean>=3.5e2", [350], [True]),
        ("2.mean<300", [262.5], [True]),
        ("median<=350", [350, 250], [True, True]),
        ("min>100", [200, 100], [True, False]),
        ("max>=500", [500, 450], [True, False]),
        ("win>=75%", [0.75, 0.5], [True, False]),
        ("win32>=1", [1, 1], [True, True]),
        ("win32>=100%", [1, 1], [True, True]),
        ("win128>0", [0, 0], [False, False]),
        ("moves>30", [35, 26.25], [True, False]),
        ("2.speed>10", [105 / 8], [True]),
        ("lead>0", [87.5], [True]),
        ("2.lead>0", [-87.5], [False]),
    ],
)
def test_figures(match: Match, text: str, values: list[float], is_met: list[bool]) -> None:
    found = list(Requirement.from_text(text, 2).check(match))
    assert [required_result.value for required_result in found] == pytest.approx(values)
    assert [required_result.is_met for required_result in found] == is_met


def test_the_ends_of_intervals(match: Match) -> None:
    interval = mean_interval([200, 300, 400, 500])
    for end, value in (("low", interval.low), ("high", interval.high)):
        [required_result] = Requirement.from_text(f"1.mean-{end}>0", 2).check(match)
        assert required_result.value == pytest.approx(value)
    [required_result] = Requirement.from_text("lead-low>0", 2).check(match)
    assert required_result.is_met


def test_without_a_game_there_is_no_figure(match: Match) -> None:
    match.results["one"].games.clear()
    [first, second] = Requirement.from_text("mean>=0", 2).check(match)
    assert (first.value, first.is_met, second.is_met) == (None, False, True)
    [required_result] = Requirement.from_text("lead>0", 2).check(match)
    assert not required_result.is_met


def test_one_game_has_no_interval(match: Match) -> None:
    for number in (1, 2, 3):
        del match.results["one"].games[number]
    [required_result] = Requirement.from_text("1.mean-low>0", 2).check(match)
    assert (required_result.value, required_result.is_met) == (None, False)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("mean", "is not understood: expected a figure and a bound, as in mean>=380000"),
        ("mean=3", "is not understood"),
        ("men>=3", "unknown figure 'men': did you mean mean?"),
        ("mean>=many", "'many' is not a number: expected for example 380000"),
        ("mean>=nan", "'nan' is not a number"),
        ("3.mean>=3", "there is no player 3: expected 1 to 2"),
        ("0.mean>=3", "there is no player 0"),
        ("median-low>=3", "median has no interval: expected one of mean, win, moves, lead"),
        ("mean2048>=3", "mean has no tile: expected win2048, or mean alone"),
        ("win3>=0.5", "3 is not a tile"),
        ("win>=90", "90 is not a share of games: did you mean 90%?"),
        ("win4096-low>=1.5", "1.5 is not a share of games: did you mean 1.5%?"),
        ("win>=900", "900 is not a share of games: expected 0% to 100%"),
        ("win>=101%", "101% is not a share of games: expected 0% to 100%"),
        ("win<=-1%", "-1% is not a share of games: expected 0% to 100%"),
        ("win>100%", "no share is above 100%"),
        ("win<0", "no share is below 0%"),
        ("win>=most", "'most' is not a number: expected for example 0.9 or 90%"),
        ("mean>=90%", "only win is a share: expected 90 without %"),
    ],
)
def test_what_makes_no_sense_is_refused(text: str, says: str) -> None:
    with pytest.raises(UsageError) as caught:
        Requirement.from_text(text, 2)
    assert says in str(caught.value)


def test_a_player_alone_has_no_lead() -> None:
    with pytest.raises(UsageError, match="expected two players or more"):
        Requirement.from_text("lead>0", 1)


# --- as one types it -----------------------------------------------------------------

WORDS = ["match", "random", "first", "--games", "10", "--rules", "3x3", "--no-keep", "--workers", "1"]


def test_a_match_that_shows_it_is_done(capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*WORDS, "--require", "mean>=1", "--require", "win2048<=0"]) == 0
    assert capsys.readouterr().err == ""


def test_a_match_that_does_not_fails_with_a_code_of_its_own(capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*WORDS, "--require", "1.mean>=1e6", "--require", "mean>=1"]) == 4
    captured = capsys.readouterr()
    assert "mean score" in captured.out  # the result is there all the same
    [line] = captured.err.splitlines()
    assert line.startswith("lab2048: required 1.mean>=1e6: random has ")


@pytest.mark.parametrize("form", ["--json", "--jsonl"])
def test_programs_are_told(capsys: pytest.CaptureFixture[str], form: str) -> None:
    assert run([*WORDS, form, "--require", "max>1e6"]) == 4
    data = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert [(entry["player"], entry["is_met"]) for entry in data["requirements"]] == [
        ("random", False),
        ("first", False),
    ]


def test_a_mistake_is_told_before_a_game_is_played(capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*WORDS, "--require", "men>=3"]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "did you mean mean?" in captured.err


def test_a_network_may_be_required_to_play_well(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "network.safetensors"
    assert train(out, *SMALL, "--moves", "500") == 0
    assert run(["evaluate", str(out), "--games", "5", "--require", "mean>=1"]) == 0
    assert run(["evaluate", str(out), "--games", "5", "--require", "mean>=1e9"]) == 4
    assert "required mean>=1e9" in capsys.readouterr().err

"""Running studies: resumed without loss, gone on with for more games, and every study at its smallest size."""

import json
import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

import lab2048
from lab2048.studies.measure import REVIEWED
from lab2048.studies.reading import load_study, read_study, study_names
from lab2048.studies.report import Report, make_report
from lab2048.studies.result import Result, ResultFolder
from lab2048.studies.run.runner import Runner, reason_to_skip
from lab2048.views.study.text import report_markdown, report_table
from studies.test_study import SMALL
from studies.test_study import small as small


def finish(result_folder: ResultFolder, *, stop_after: int = 100, only: Sequence[str] = ()) -> list[str]:
    """Run until so many rows are done; return which."""
    runner, done = Runner(result_folder, 1, say=lambda _: None, show=lambda _: None, only=only), []
    for row, _ in runner.run():
        done.append(row.id)
        if len(done) == stop_after:
            runner.stop()
    return done


def shown(report: Report) -> str:
    """The table as a pipe gets it."""
    console = Console(width=1000)
    with console.capture() as capture:
        console.print(report_table(report, None))
    return capture.get()


def test_a_run_is_resumed_row_by_row(small: Path, tmp_path: Path) -> None:
    result_folder = ResultFolder(read_study(small), "full", 1, tmp_path / "results")
    assert finish(result_folder, stop_after=1) == ["random"]
    first = (result_folder.folder / "random.json").read_bytes()
    assert finish(result_folder) == ["random", "best", "regret", "missing"]
    assert (result_folder.folder / "random.json").read_bytes() == first
    report = make_report(result_folder)
    words = {(line.row.id, line.figure.measure.to_text()): line.agreement.word for line in report.lines}
    assert words["best", "won"] == "better"
    assert words["missing", "score"] == "not measured"
    assert "install a lab2048 that has the player nosuchplayer" in str(report.lines[-1].agreement)
    assert report.results["random"].provenance["study"] == "small"
    again = Result.from_json(json.loads(json.dumps(report.results["best"].to_json())))
    assert again == report.results["best"]


def test_games_of_an_unfinished_row_are_not_played_again(small: Path, tmp_path: Path) -> None:
    study = read_study(small)
    whole, broken = (ResultFolder(study, "full", 1, tmp_path / name) for name in ("whole", "broken"))
    finish(whole, stop_after=1)
    games = whole.results()["random"].games
    marked = [game._replace(score=10**6) for game in games[:5]]
    digest_without_games = study.rows[0].digest_without_games("full")
    part = replace(
        whole.results()["random"], digest=digest_without_games, games=marked, seconds=1000.0, cpu_seconds=2000.0
    )
    broken.save_partial(part)
    finish(broken, stop_after=1)
    result = broken.results()["random"]
    assert [game.score for game in result.games[:5]] == [10**6] * 5
    assert [game[:6] for game in result.games[5:]] == [game[:6] for game in games[5:]]
    assert not list(broken.folder.glob("*.part.json"))
    # What it took is counted from the first of its games on, and every run is named.
    assert result.seconds > 1000
    assert result.cpu_seconds >= 2000
    assert result.provenance["earlier"] == [part.provenance]


def test_a_row_that_says_something_else_now_is_run_again(small: Path, tmp_path: Path) -> None:
    finish(ResultFolder(read_study(small), "full", 1, tmp_path), stop_after=1)
    other = small.with_name("other") / "small.toml"
    other.parent.mkdir()
    other.write_text(SMALL.replace('player = "random"', 'player = "first"', 1))
    result_folder = ResultFolder(read_study(other), "full", 1, tmp_path)
    assert result_folder.results() == {}
    assert result_folder.find_fewer(result_folder.study.rows[0]) is None


def test_a_row_that_is_to_have_more_games_goes_on(small: Path, tmp_path: Path) -> None:
    study = read_study(small)
    result_folder = ResultFolder(study, "full", 1, tmp_path)
    finish(result_folder, stop_after=1)
    first = result_folder.results()["random"]
    result_folder.keep(replace(first, games=[game._replace(score=10**6) for game in first.games]))
    more = small.with_name("more") / "small.toml"
    more.parent.mkdir()
    more.write_text(SMALL.replace("full = 40", "full = 43", 1))
    grown = ResultFolder(read_study(more), "full", 1, tmp_path)
    assert grown.find(grown.study.rows[0]) is None  # 40 games are not what the study says now
    assert "random (40 of 43 games)" in shown(make_report(grown))
    assert "random (40 of 43 games)" in report_markdown(make_report(grown), charts={}, command="lab2048")
    unfinished = replace(first, digest=study.rows[0].digest_without_games("full"), games=first.games[:7])
    grown.save_partial(unfinished)  # of fewer games than the result has
    finish(grown, stop_after=1)
    result = grown.results()["random"]
    assert [game.number for game in result.games] == list(range(43))
    assert [game.score == 10**6 for game in result.games] == [True] * 40 + [False] * 3
    assert result.provenance["earlier"] == [first.provenance]
    assert result_folder.results() == {}  # fewer games are played anew
    # An interrupted run goes on though the number of games has changed meanwhile.
    result_folder.save_partial(replace(unfinished, games=[game._replace(score=1) for game in first.games]))
    (result_folder.folder / "random.json").unlink()
    finish(grown, only=["random"])
    assert [game.score == 1 for game in grown.results()["random"].games] == [True] * 40 + [False] * 3
    # By force nothing of it is used.
    runner = Runner(result_folder, 1, say=lambda _: None, show=lambda _: None, only=["random"], force=True)
    assert [len(result.games) for _, result in runner.run()] == [40]
    runner = Runner(grown, 1, say=lambda _: None, show=lambda _: None, only=["random"], force=True)
    ((_, result),) = runner.run()
    assert "earlier" not in result.provenance


def test_a_damaged_result_is_named(small: Path, tmp_path: Path) -> None:
    result_folder = ResultFolder(read_study(small), "full", 1, tmp_path)
    finish(result_folder, stop_after=1)
    (others := result_folder.results()).pop("random")
    for text in ("{", "[" * 100_000, "[]"):
        (result_folder.folder / "random.json").write_text(text)
        assert result_folder.results() == others
        [line] = result_folder.damaged.values()
        assert "random.json is damaged: delete it" in line
    finish(result_folder, only=["random"])  # replaces it
    assert "random" in result_folder.results()


SHIELDED = """
title = "Shields"
question = "Who overrules?"
source = "Nobody."

[[rows]]
id = "shield"
title = "a shield from the first move on"
kind = "match"
player = "shield:warm_up=0"
spawn = "2:0.5,4:0.5"
full = 3
figures = [{ measure = "overrides" }, { measure = "interventions" }, { measure = "length" }]
"""


def test_what_the_shield_replaces_is_counted_by_itself(tmp_path: Path) -> None:
    path = tmp_path / "shields.toml"
    path.write_text(SHIELDED)
    result_folder = ResultFolder(read_study(path), "full", 1, tmp_path / "kept")
    finish(result_folder)
    overruled, replaced, length = (line.ours.value if line.ours else 0 for line in make_report(result_folder).lines)
    assert 0 < replaced < overruled < length
    result = result_folder.results()["shield"]
    older = result.to_json()
    older["games"] = [game[:7] for game in older["games"]]  # as results of before it was counted
    assert all(game.n_replaced is None for game in Result.from_json(older).games)


@pytest.mark.parametrize("name", study_names())
def test_every_study_runs_at_its_smallest_size(name: str, tmp_path: Path) -> None:
    result_folder = ResultFolder(load_study(name), "test", 1, tmp_path)
    runner = Runner(result_folder, 1, say=lambda _: None, show=lambda _: None)
    for row, result in runner.run():
        assert result.skip_reason == reason_to_skip(row, "test")
    report = make_report(result_folder)
    untold = ("goal-time", "best-of-ten")  # by games that miss the goal, or are fewer than ten
    for line in report.lines:
        assert (line.ours is None) == (line.skip_reason != "") or line.figure.measure.name in untold
        assert line.ours is None or not math.isnan(line.ours.value)


def test_games_are_reviewed_where_a_figure_asks_for_it(small: Path, tmp_path: Path) -> None:
    figures = "[" + ", ".join(f'{{ measure = "{name}" }}' for name in (*sorted(REVIEWED), "score")) + "]"
    small.write_text(
        'title = "Skill"\nquestion = "Who plays well?"\nsource = "none"\n'
        '[every]\nkind = "match"\nrules = "2x2"\nfull = 30\n'
        f'[[rows]]\nid = "random"\ntitle = "random"\nplayer = "random"\nfigures = {figures}\n'
        f'[[rows]]\nid = "greedy"\ntitle = "greedy"\nplayer = "greedy"\nfigures = {figures}\n'
    )
    result_folder = ResultFolder(read_study(small), "full", 1, tmp_path)
    finish(result_folder)
    found = {(line.row.id, line.figure.measure.name): line.ours for line in make_report(result_folder).lines}
    assert found["random", "accuracy"].value < found["greedy", "accuracy"].value <= 100
    assert found["random", "error-rate"].value > found["greedy", "error-rate"].value >= 0
    for row, result in result_folder.results().items():
        ours = lab2048.review_player(row, rules="2x2", games=30, seed=1, progress=False)
        assert [game.luck for game in result.games] == pytest.approx([game.luck for game in ours.games])
        assert found[row, "adjusted-score"].value == pytest.approx(found[row, "score"].value - found[row, "luck"].value)
        assert Result.from_json(json.loads(json.dumps(result.to_json()))) == result

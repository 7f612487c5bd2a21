"""Running studies: resumed without loss, reported in every form, and every study at its smallest size."""

import json
import math
import signal
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console
from test_study import SMALL
from test_study import small as small

from lab2048.cli.app import run
from lab2048.errors import FileError, UsageError
from lab2048.studies.job import Job
from lab2048.studies.reading import load_study, read_study, study_names
from lab2048.studies.report import Report, make_report
from lab2048.studies.result import Result, Shelf
from lab2048.studies.runner import Runner, reason_left_out, run_row
from lab2048.studies.verdict import WORDS
from lab2048.views.study import report_markdown, report_table
from lab2048.views.study_curve import curves_svg

# --- running -----------------------------------------------------------------------------


def finish(shelf: Shelf, *, stop_after: int = 100, only: Sequence[str] = ()) -> list[str]:
    """Run until so many rows are done; return which."""
    runner, done = Runner(shelf, 1, say=lambda _: None, show=lambda _: None, only=only), []
    for row, _ in runner.run():
        done.append(row.id)
        if len(done) == stop_after:
            runner.stop()
    return done


def test_a_run_is_resumed_row_by_row(small: Path, tmp_path: Path) -> None:
    shelf = Shelf(read_study(small), "full", 1, tmp_path / "results")
    assert finish(shelf, stop_after=1) == ["random"]
    first = (shelf.folder / "random.json").read_bytes()
    assert finish(shelf) == ["random", "best", "regret", "missing"]
    assert (shelf.folder / "random.json").read_bytes() == first
    report = make_report(shelf)
    words = {(line.row.id, line.figure.measure.to_text()): line.verdict.word for line in report.lines}
    assert words["best", "won"] == "better"
    assert words["missing", "score"] == "not measured"
    assert "install a lab2048 that has the player nosuchplayer" in str(report.lines[-1].verdict)
    assert report.results["random"].provenance["study"] == "small"
    again = Result.from_json(json.loads(json.dumps(report.results["best"].to_json())))
    assert again == report.results["best"]


def test_games_of_an_unfinished_row_are_not_played_again(small: Path, tmp_path: Path) -> None:
    study = read_study(small)
    whole, broken = (Shelf(study, "full", 1, tmp_path / name) for name in ("whole", "broken"))
    finish(whole, stop_after=1)
    games = whole.results()["random"].games
    marked = [game._replace(score=10**6) for game in games[:5]]
    likeness = study.rows[0].likeness("full")
    part = replace(whole.results()["random"], digest=likeness, games=marked, seconds=1000.0, cpu_seconds=2000.0)
    broken.keep_part(part)
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
    finish(Shelf(read_study(small), "full", 1, tmp_path), stop_after=1)
    other = small.with_name("other") / "small.toml"
    other.parent.mkdir()
    other.write_text(SMALL.replace('player = "random"', 'player = "first"', 1))
    shelf = Shelf(read_study(other), "full", 1, tmp_path)
    assert shelf.results() == {}
    assert shelf.find_fewer(shelf.study.rows[0]) is None


def test_a_row_that_is_to_have_more_games_goes_on(small: Path, tmp_path: Path) -> None:
    study = read_study(small)
    shelf = Shelf(study, "full", 1, tmp_path)
    finish(shelf, stop_after=1)
    first = shelf.results()["random"]
    shelf.keep(replace(first, games=[game._replace(score=10**6) for game in first.games]))
    more = small.with_name("more") / "small.toml"
    more.parent.mkdir()
    more.write_text(SMALL.replace("full = 40", "full = 43", 1))
    grown = Shelf(read_study(more), "full", 1, tmp_path)
    assert grown.find(grown.study.rows[0]) is None  # 40 games are not what the study says now
    assert "random (40 of 43 games)" in shown(make_report(grown))
    assert "random (40 of 43 games)" in report_markdown(make_report(grown), charts={}, command="lab2048")
    unfinished = replace(first, digest=study.rows[0].likeness("full"), games=first.games[:7])
    grown.keep_part(unfinished)  # of fewer games than the result has
    finish(grown, stop_after=1)
    result = grown.results()["random"]
    assert [game.number for game in result.games] == list(range(43))
    assert [game.score == 10**6 for game in result.games] == [True] * 40 + [False] * 3
    assert result.provenance["earlier"] == [first.provenance]
    assert shelf.results() == {}  # fewer games are played anew
    # An interrupted run goes on though the number of games has changed meanwhile.
    shelf.keep_part(replace(unfinished, games=[game._replace(score=1) for game in first.games]))
    (shelf.folder / "random.json").unlink()
    finish(grown, only=["random"])
    assert [game.score == 1 for game in grown.results()["random"].games] == [True] * 40 + [False] * 3
    # By force nothing of it is used.
    runner = Runner(shelf, 1, say=lambda _: None, show=lambda _: None, only=["random"], force=True)
    assert [len(result.games) for _, result in runner.run()] == [40]
    runner = Runner(grown, 1, say=lambda _: None, show=lambda _: None, only=["random"], force=True)
    ((_, result),) = runner.run()
    assert "earlier" not in result.provenance


def test_a_damaged_result_is_named(small: Path, tmp_path: Path) -> None:
    shelf = Shelf(read_study(small), "full", 1, tmp_path)
    finish(shelf, stop_after=1)
    (shelf.folder / "random.json").write_text("{")
    with pytest.raises(FileError, match=r"random\.json is damaged: remove it"):
        shelf.results()


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
    shelf = Shelf(read_study(path), "full", 1, tmp_path / "kept")
    finish(shelf)
    overruled, replaced, length = (line.ours.value if line.ours else 0 for line in make_report(shelf).lines)
    assert 0 < replaced < overruled < length
    result = shelf.results()["shield"]
    older = result.to_json()
    older["games"] = [game[:7] for game in older["games"]]  # as results of before it was counted
    assert all(game.n_replaced is None for game in Result.from_json(older).games)


TRAIN = """
title = "Learning"
question = "Does it go on?"
source = "Nobody."

[[rows]]
id = "learn"
title = "a small network"
kind = "train"
rules = "2x3"
player = "ntuple:weights={weights},depth=1"
full = 5
train = { method = "ntuple", options = { network = "rows" }, full = 5000 }
figures = [{ measure = "score" }, { measure = "bytes" }, { measure = "training-time" }]
"""


def test_a_training_goes_on_where_it_was_stopped(tmp_path: Path) -> None:
    path = tmp_path / "learning.toml"
    path.write_text(TRAIN)
    whole, broken = (Shelf(read_study(path), "full", 1, tmp_path / name) for name in ("whole", "broken"))
    finish(whole)
    runner = Runner(broken, 1, say=lambda _: None, show=lambda text: runner.stop() if "trained" in text else None)
    assert list(runner.run()) == []
    assert (broken.folder / "learn.safetensors").exists()
    finish(broken)
    ours, theirs = (shelf.results()["learn"] for shelf in (broken, whole))
    assert [game[:6] for game in ours.games] == [game[:6] for game in theirs.games]
    assert ours.measured["bytes"] == theirs.measured["bytes"]
    assert ours.curve
    assert [file.name for file in broken.folder.iterdir()] == ["learn.json"]


SEVERAL = (
    TRAIN.replace("full = 5\n", "full = 5\ntrainings = 3\n")
    + """
[[rows]]
id = "again"
title = "the same network"
kind = "train"
rules = "2x3"
player = "ntuple:weights={weights},depth=2"
full = 5
trainings = 3
train = { of = "learn" }
figures = [{ measure = "score", against = "learn" }]
"""
)


def test_a_row_may_have_several_trainings_and_lend_them(tmp_path: Path) -> None:
    path = tmp_path / "learning.toml"
    path.write_text(SEVERAL)
    shelf = Shelf(read_study(path), "full", 1, tmp_path / "kept")
    assert finish(shelf, stop_after=1) == ["learn.1"]
    report = make_report(shelf)
    assert [len(line.each) for line in report.lines] == [1, 1, 1, 0]
    assert "1 of 3 trainings" in shown(report)
    assert finish(shelf, only=["learn.3"]) == ["learn.3"]
    with pytest.raises(UsageError, match="did you mean"):
        finish(shelf, only=["learn.4"])
    assert finish(shelf) == ["learn.1", "learn.2", "learn.3", "again.1", "again.2", "again.3"]
    assert not list(shelf.folder.glob("*.safetensors"))  # lent, and of no more use
    report = make_report(shelf)
    scores = [line for line in report.lines if line.figure.measure.name == "score"]
    assert [len(line.each) for line in scores] == [3, 3]
    assert len({each.value for each in scores[0].each}) > 1  # each has a seed of its own
    assert scores[0].ours is not None
    assert scores[0].ours.n == 15
    trained = [report.results[f"{row}.2"].provenance["trained"]["moves"] for row in ("learn", "again")]
    assert trained[0] == trained[1]
    assert len(report.to_json()["figures"][0]["trainings"]) == 3
    assert "3 x 5" in report_markdown(report, charts={}, command="lab2048")


GRADED = """
title = "Graded"
question = "What does a network lose?"
source = "Nobody."

[every]
kind = "regret"
rules = "2x2"
objective = "score"
full = 4

[[rankings]]
title = "What is lost"
by = "loss"
rules = "2x2"

[[rows]]
id = "random"
title = "random"
player = "random"
figures = [{ measure = "loss" }]

[[rows]]
id = "learn"
title = "a network"
player = "ntuple:weights={weights},depth=1"
train = { method = "ntuple", full = 20000 }
figures = [{ measure = "score" }, { measure = "loss", against = "random" }, { measure = "training-time" }]

[[rows]]
id = "again"
title = "the same, deeper"
player = "ntuple:weights={weights},depth=2"
train = { of = "learn" }
figures = [{ measure = "loss", against = "learn" }]
"""


def test_a_player_that_learns_is_graded_and_ranked(tmp_path: Path) -> None:
    path = tmp_path / "graded.toml"
    path.write_text(GRADED)
    shelf = Shelf(read_study(path), "full", 1, tmp_path / "kept")
    assert finish(shelf) == ["random", "learn", "again"]
    assert not list(shelf.folder.glob("*.safetensors"))
    report = make_report(shelf)
    assert report.n_measured == len(report.lines)
    (ranked,) = report.ranked
    assert [standing.line.row.id for standing in ranked.standings][-1] == "random"
    places = {standing.line.row.id: (standing.first, standing.last) for standing in ranked.standings}
    assert places == {"learn": (1, 2), "again": (1, 2), "random": (3, 3)}
    assert [measure.to_text() for measure in ranked.measures] == ["score", "training-time"]
    page = report_markdown(report, charts={}, command="lab2048")
    assert "| 1 to 2 | a network, 20,000 games learnt |" in page
    assert "| 3 | random |" in page


def shown(report: Report) -> str:
    """The table as a pipe gets it."""
    console = Console(width=1000)
    with console.capture() as capture:
        console.print(report_table(report, None))
    return capture.get()


DEEP = """
title = "Deep learning"
question = "Does it play at once?"
source = "Nobody."

[every]
kind = "train"
rules = "2x3"
full = 20

[[rows]]
id = "values"
title = "afterstates"
player = "{trained}"
train = { method = "afterstate", options = { crowd = 8, widths = "16,8,16", trial_every = 20 }, full = 60 }
figures = [{ measure = "score" }, { measure = "pairs:16" }, { measure = "gradients" }, { measure = "training-pace" }]

[[rows]]
id = "turned"
title = "afterstates, turned"
player = "{trained}:turned=true"
train = { of = "values" }
figures = [{ measure = "score", against = "values" }]
"""


def test_a_trained_network_plays_all_games_at_once(tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="torch is not installed: pip install 'lab2048[deep]'")
    path = tmp_path / "deeply.toml"
    path.write_text(DEEP)
    shelf = Shelf(read_study(path), "full", 1, tmp_path / "kept")
    assert finish(shelf) == ["values", "turned"]
    report = make_report(shelf)
    assert report.n_measured == 5
    result = report.results["values"]
    assert [game.number for game in result.games] == list(range(20))
    assert result.provenance["trained"]["sessions"][0]["threads"] == 1
    assert report.lines[-1].gap is not None  # on the same seeds
    picture = curves_svg(report)
    assert picture is not None
    assert picture.count("<polyline") >= 4
    wrong = path.with_name("wrong.toml")
    wrong.write_text(DEEP.replace('"pairs:16"', '"won"'))
    with pytest.raises(FileError, match="do not tell it"):
        read_study(wrong)
    wrong.write_text(DEEP.replace('of = "values"', 'of = "turned"'))
    with pytest.raises(FileError, match="a row before it that trains"):
        read_study(wrong.rename(wrong.with_name("other.toml")))


@pytest.mark.parametrize("name", study_names())
def test_every_study_runs_at_its_smallest_size(name: str, tmp_path: Path) -> None:
    shelf = Shelf(load_study(name), "test", 1, tmp_path)
    runner = Runner(shelf, 1, say=lambda _: None, show=lambda _: None)
    for row, result in runner.run():
        assert result.left_out == reason_left_out(row, "test")
    report = make_report(shelf)
    untold = ("goal-time", "best-of-ten")  # by games that miss the goal, or are fewer than ten
    for line in report.lines:
        assert (line.ours is None) == (line.left_out != "") or line.figure.measure.name in untold
        assert line.ours is None or not math.isnan(line.ours.value)


# --- the command line --------------------------------------------------------------------


def test_the_commands(
    small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("LAB2048_STUDIES", str(tmp_path / "results"))
    assert run(["study", "report", str(small)]) == 2
    assert f"study run {small} comes first" in capsys.readouterr().err
    assert run(["study", "run", str(small), "--workers", "1"]) == 0
    shown = capsys.readouterr()
    assert "missing: left out: install" in shown.err
    assert "15 of 100" in shown.out
    assert shown.out.index("Who wins") < shown.out.index("best play") < shown.out.index("15 of 100")
    # In a pipe nothing is folded, and the columns have heads.
    table = shown.out.splitlines()
    assert any(line.startswith("measured") and "ours [95% interval]" in line and "verdict" in line for line in table)
    assert any("15 of 100" in line and ("agrees" in line or "worse" in line or "better" in line) for line in table)
    assert "with nothing published" in table[-1]
    page, text = tmp_path / "page.html", tmp_path / "page.md"
    assert run(["study", "report", str(small), "--html", str(page), "--markdown", str(text)]) == 0
    html = page.read_text()
    assert "<script src" not in html
    assert "Plotly" in html
    assert "15 of 100" in html
    assert "| better |" in text.read_text()
    assert page.with_suffix(".svg").read_text().startswith("<svg")
    assert run(["study", "report", str(small), "--html", str(page)]) == 3
    capsys.readouterr()
    assert run(["study", "report", str(small), "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["schema"] == "lab2048/study-report-1"
    assert [place["row"] for place in data["rankings"][0]["places"]] == ["best", "random"]
    assert {figure["verdict"] for figure in data["figures"]} <= set(WORDS) - {"not comparable"}
    assert run(["study", "list", "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["studies"]) == len(study_names())
    assert run(["study", "run", str(small), "--row", "bost"]) == 2
    assert "did you mean best" in capsys.readouterr().err
    assert run(["study", "run", str(small), "--seed", "2", "--row", "random", "--workers", "1"]) == 0
    assert [path.name for path in (tmp_path / "results" / "small" / "full-2").iterdir()] == ["random.json"]
    capsys.readouterr()
    assert run(["study"]) == 2
    assert run(["study", "run", "000-optimol"]) == 2
    assert "did you mean 000-optimal" in capsys.readouterr().err


def test_all_studies_are_one_command(
    small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("LAB2048_STUDIES", str(tmp_path / "results"))
    monkeypatch.setattr("lab2048.studies.reading.FOLDER", small.parent)
    pages = tmp_path / "pages"
    assert run(["study", "run", "all", "--workers", "1"]) == 0
    assert capsys.readouterr().out.startswith("small: full run, seed 1: 6 of 7 figures measured;")
    assert run(["study", "report", "all", "--markdown", str(pages)]) == 0
    assert sorted(page.name for page in pages.iterdir()) == ["README.md", "small.md", "small.svg"]
    assert "[small: Small](small.md): full run" in (pages / "README.md").read_text()
    assert run(["study", "report", "all"]) == 2
    assert run(["study", "run", "all", "--json"]) == 2


def test_an_interrupted_run_says_how_to_go_on(
    small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(job: Job) -> Result:
        signal.raise_signal(signal.SIGINT)
        return run_row(job)

    monkeypatch.setattr("lab2048.studies.runner.run_row", interrupted)
    words = ["study", "run", str(small), "--seed", "7", "--workers", "1", "--folder", str(tmp_path), "--row", "random"]
    assert run(words) == 130
    told = capsys.readouterr().err
    assert "keeping what is done" in told
    assert f"go on with lab2048 study run {small} --seed 7 --folder {tmp_path} --row random --workers 1" in told

"""Running studies: resumed without loss, reported in every form, and every study at its smallest size."""

import json
import math
import signal
from pathlib import Path

import pytest
from test_study import SMALL
from test_study import small as small

from lab2048.cli.app import run
from lab2048.errors import FileError
from lab2048.studies.job import Job
from lab2048.studies.reading import load_study, read_study, study_names
from lab2048.studies.report import make_report
from lab2048.studies.result import Result, Shelf
from lab2048.studies.runner import Runner, reason_left_out, run_row

# --- running -----------------------------------------------------------------------------


def finish(shelf: Shelf, *, stop_after: int = 100) -> list[str]:
    """Run until so many rows are done; return which."""
    runner, done = Runner(shelf, 1, say=lambda _: None, show=lambda _: None), []
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
    assert words["missing", "score"] == "not comparable"
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
    broken.keep_part(study.rows[0], marked)
    finish(broken, stop_after=1)
    found = broken.results()["random"].games
    assert [game.score for game in found[:5]] == [10**6] * 5
    assert [game[:6] for game in found[5:]] == [game[:6] for game in games[5:]]
    assert not list(broken.folder.glob("*.part.json"))


def test_a_row_that_says_something_else_now_is_run_again(small: Path, tmp_path: Path) -> None:
    finish(Shelf(read_study(small), "full", 1, tmp_path), stop_after=1)
    other = small.with_name("other") / "small.toml"
    other.parent.mkdir()
    other.write_text(SMALL.replace("full = 40", "full = 41", 1))
    assert Shelf(read_study(other), "full", 1, tmp_path).results() == {}


def test_a_damaged_result_is_named(small: Path, tmp_path: Path) -> None:
    shelf = Shelf(read_study(small), "full", 1, tmp_path)
    finish(shelf, stop_after=1)
    (shelf.folder / "random.json").write_text("{")
    with pytest.raises(FileError, match=r"random\.json is damaged: remove it"):
        shelf.results()


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


@pytest.mark.parametrize("name", study_names())
def test_every_study_runs_at_its_smallest_size(name: str, tmp_path: Path) -> None:
    shelf = Shelf(load_study(name), "test", 1, tmp_path)
    runner = Runner(shelf, 1, say=lambda _: None, show=lambda _: None)
    for row, result in runner.run():
        assert result.left_out == reason_left_out(row, "test")
    report = make_report(shelf)
    for line in report.lines:
        assert (line.ours is None) == (line.left_out != "") or line.figure.measure.name == "goal-time"
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
    assert {figure["verdict"] for figure in data["figures"]} <= {"agrees", "better", "worse", "not comparable"}
    assert run(["study", "list", "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["studies"]) == len(study_names())
    assert run(["study"]) == 2
    assert run(["study", "run", "000-optimol"]) == 2
    assert "did you mean 000-optimal" in capsys.readouterr().err


def test_an_interrupted_run_says_how_to_go_on(
    small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(job: Job) -> Result:
        signal.raise_signal(signal.SIGINT)
        return run_row(job)

    monkeypatch.setattr("lab2048.studies.runner.run_row", interrupted)
    words = ["study", "run", str(small), "--seed", "7", "--workers", "1", "--folder", str(tmp_path)]
    assert run(words) == 130
    told = capsys.readouterr().err
    assert "keeping what is done" in told
    assert f"lab2048 study run {small} --seed 7 --folder {tmp_path} goes on" in told

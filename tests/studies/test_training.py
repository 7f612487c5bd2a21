"""Studies that train: gone on with where they were stopped, several times over, lent, graded and ranked."""

from pathlib import Path

import pytest

from lab2048.errors import FileError, UsageError
from lab2048.studies.reading import read_study
from lab2048.studies.report import make_report
from lab2048.studies.result import ResultFolder
from lab2048.studies.run.runner import Runner
from lab2048.views.study.curve import curves_svg
from lab2048.views.study.text import report_markdown
from studies.test_run import finish, shown

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
    whole, broken = (ResultFolder(read_study(path), "full", 1, tmp_path / name) for name in ("whole", "broken"))
    finish(whole)
    runner = Runner(broken, 1, say=lambda _: None, show=lambda text: runner.stop() if "trained" in text else None)
    assert list(runner.run()) == []
    assert (broken.folder / "learn.safetensors").exists()
    finish(broken)
    ours, theirs = (result_folder.results()["learn"] for result_folder in (broken, whole))
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
    result_folder = ResultFolder(read_study(path), "full", 1, tmp_path / "kept")
    assert finish(result_folder, stop_after=1) == ["learn.1"]
    report = make_report(result_folder)
    assert [len(line.each) for line in report.lines] == [1, 1, 1, 0]
    assert "1 of 3 trainings" in shown(report)
    assert finish(result_folder, only=["learn.3"]) == ["learn.3"]
    with pytest.raises(UsageError, match="did you mean"):
        finish(result_folder, only=["learn.4"])
    assert finish(result_folder) == ["learn.1", "learn.2", "learn.3", "again.1", "again.2", "again.3"]
    assert not list(result_folder.folder.glob("*.safetensors"))  # lent, and of no more use
    report = make_report(result_folder)
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
    result_folder = ResultFolder(read_study(path), "full", 1, tmp_path / "kept")
    assert finish(result_folder) == ["random", "learn", "again"]
    assert not list(result_folder.folder.glob("*.safetensors"))
    report = make_report(result_folder)
    assert report.n_measured == len(report.lines)
    (ranked,) = report.ranked
    assert [ranked_row.line.row.id for ranked_row in ranked.rows][-1] == "random"
    places = {ranked_row.line.row.id: (ranked_row.first, ranked_row.last) for ranked_row in ranked.rows}
    assert places == {"learn": (1, 2), "again": (1, 2), "random": (3, 3)}
    assert [measure.to_text() for measure in ranked.measures] == ["score", "training-time"]
    page = report_markdown(report, charts={}, command="lab2048")
    assert "| 1 to 2 | a network, 20,000 games of training |" in page
    assert "| 3 | random |" in page


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
    result_folder = ResultFolder(read_study(path), "full", 1, tmp_path / "kept")
    assert finish(result_folder) == ["values", "turned"]
    report = make_report(result_folder)
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
    with pytest.raises(FileError, match="not available for vectorized games"):
        read_study(wrong)
    wrong.write_text(DEEP.replace('of = "values"', 'of = "turned"'))
    with pytest.raises(FileError, match="an earlier row with a training"):
        read_study(wrong.rename(wrong.with_name("other.toml")))

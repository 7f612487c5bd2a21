"""Charts of studies: what is drawn, once, and beside which published figures."""

from dataclasses import replace
from pathlib import Path

import pytest

from lab2048.errors import FileError
from lab2048.studies.measure import Measured
from lab2048.studies.reading import read_study
from lab2048.studies.report import Report, make_report
from lab2048.studies.result import GameResult, Result, ResultFolder
from lab2048.views.study.chart import PAIRS, panels, report_svg
from lab2048.views.study.curve import curves, curves_svg
from lab2048.views.study.page import figures

LEARNERS = """
title = "Learners"
question = "What is drawn?"
source = "Nobody."
charts = ["pairs:64", "tile"]

[every]
kind = "train"
player = "{trained}"
full = 10

[[rows]]
id = "random"
title = "random"
kind = "match"
player = "random"
figures = [{ measure = "score" }, { measure = "tile" }, { measure = "length" }]

[[rows]]
id = "short"
title = "a short training"
train = { method = "c51", preset = "003", full = 50 }
figures = [{ measure = "pairs:32", published = "7", where = "a page", differs = "rounded" }, { measure = "pairs:64" }]

[[rows]]
id = "long"
title = "a long one"
train = { method = "c51", preset = "003", full = 100 }
figures = [
  { measure = "pairs:32", against = "short" },
  { measure = "pairs:32", published = "9", where = "a page" },
  { measure = "reached:64", published = "at least 1 of 10", where = "a page" },
]

[[rows]]
id = "lent"
title = "the same network"
train = { of = "long" }
figures = [{ measure = "reached:64", published = "at least 9 of 10", where = "a page" }, { measure = "sum" }]

[[rows]]
id = "even"
title = "with other spawns"
spawn = "2:0.5,4:0.5"
train = { method = "c51", preset = "003", full = 50 }
figures = [{ measure = "score", against = "long" }]
"""


@pytest.fixture
def report(tmp_path: Path) -> Report:
    """Results as a run would have kept them: nothing is trained here."""
    path = tmp_path / "learners.toml"
    path.write_text(LEARNERS)
    result_folder = ResultFolder(read_study(path), "full", 1, tmp_path / "kept")
    games = [GameResult(i, 100 + i, 50, 32, 120, None, 0.1) for i in range(10)]
    pairs = {f"pairs:{tile}": Measured.mean([tile / 32, 2.0]) for tile in (32, 64)}
    for row in result_folder.study.rows:
        n_games = row.training_spec.games["full"] if row.training_spec else 0
        curve = [{"n_games": n, "n": 10, "total": 5.0 + n, "loss": 2.0} for n in range(25, n_games + 1, 25)]
        kept = Result(
            row.id, row.digest("full"), 1, games=games, curve=curve, measured=pairs if row.training_spec else {}
        )
        result_folder.keep(kept)
    return make_report(result_folder)


def test_a_study_says_what_its_picture_shows(report: Report) -> None:
    picture = report_svg(report)
    assert [panel.title for panel in panels(report)][:2] == [PAIRS, "mean highest tile"]
    assert PAIRS in picture
    assert "mean highest tile" in picture
    assert "mean score" not in picture  # a page shows it
    assert "mean score" in [figure.layout.title.text for figure in figures(report)]


def test_pairs_of_all_tiles_stand_on_one_chart(report: Report) -> None:
    panel = next(panel for panel in panels(report) if panel.title == PAIRS)
    assert [panel.label(line) for line in panel.lines] == [
        "32: a short training",
        "32: a long one",  # once, beside what is published
        "64: a short training",
    ]
    assert panel.lines[1].figure.published is not None


def test_of_at_least_so_many_the_lower_end_is_drawn(report: Report) -> None:
    panel = next(panel for panel in panels(report) if panel.measure.name == "reached")
    bounds = [line.bound for line in panel.lines]
    assert [bound and bound[1] for bound in bounds] == [1, 1]
    ends = [bound[0] for bound in bounds if bound]
    assert ends == pytest.approx([0.0179, 0.5958], abs=1e-4)
    (figure,) = (figure for figure in figures(report) if figure.layout.title.text == panel.title)
    (arrows,) = (trace for trace in figure.data if trace.name == "published: at least")
    names = list(figure.layout.yaxis.ticktext)
    assert [names[round(y)] for y in arrows.y] == ["the same network", "a long one"]
    assert all(y < round(y) for y in arrows.y)  # below ours, so that neither hides the other
    assert list(arrows.x) == ends[::-1]
    assert "published: a bound" not in report_svg(report)  # it shows no such figure
    others = replace(report, study=replace(report.study, charts=()))
    assert "published: a bound" in report_svg(others)


def test_published_bars_stand_below_ours(report: Report) -> None:
    panel = next(panel for panel in panels(report) if panel.title == PAIRS)
    (figure,) = (figure for figure in figures(report) if figure.layout.title.text == PAIRS)
    ours, published = figure.data
    assert {ours.type, published.type} == {"bar"}
    assert len(ours.x) == len(panel.lines) == 3
    assert list(published.x) == [9, 7]  # the first one is on top
    assert all(y > round(y) for y in ours.y)
    assert all(y < round(y) for y in published.y)
    picture = report_svg(report)
    n_bars = sum(line.ours is not None for panel in panels(report)[:2] for line in panel.lines)
    assert picture.count("<rect") == 1 + 2 + n_bars + 2  # the paper, the legend, ours, published


def test_what_was_only_published_stands_beside_what_was_measured(report: Report, tmp_path: Path) -> None:
    folder = ResultFolder(report.study, "full", 1, tmp_path / "kept")
    (folder.folder / "long.json").unlink()
    fewer = make_report(folder)
    panel = next(panel for panel in panels(fewer) if panel.title == PAIRS)
    (line,) = (line for line in panel.lines if line.row.id == "long")
    assert line.ours is None
    assert "published 9" in report_svg(fewer)


def test_a_training_is_drawn_once(report: Report) -> None:
    drawn = curves(report)
    assert list(drawn) == ["total", "loss", *(f"pairs of {1 << rank}" for rank in range(1, 12))]
    # The same network plays in two rows, and the short training is the beginning of the long one.
    assert list(drawn["total"]) == ["a long one", "with other spawns"]
    picture = curves_svg(report)
    assert picture is not None
    assert picture.count("<polyline") == 2 * 3  # return, loss and pairs of 128


def test_what_is_asked_for_must_be_there(tmp_path: Path) -> None:
    path = tmp_path / "wrong.toml"
    path.write_text(LEARNERS.replace('"tile"]', '"tile", "won"]'))
    with pytest.raises(FileError, match="charts: no row has the figure won"):
        read_study(path)

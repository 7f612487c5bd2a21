"""`lab2048 study`: run, report in every form, interrupted."""

import json
import signal
from pathlib import Path

import pytest
from studies.test_study import small as small

from lab2048.cli.app import run
from lab2048.studies.agreement import WORDS
from lab2048.studies.reading import study_names
from lab2048.studies.result import Result
from lab2048.studies.run.runner import run_row
from lab2048.studies.run.task import RowTask


def test_the_commands(
    small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("LAB2048_STUDIES", str(tmp_path / "results"))
    assert run(["study", "report", str(small)]) == 2
    assert f"study run {small} first" in capsys.readouterr().err
    assert run(["study", "run", str(small), "--workers", "1"]) == 0
    shown = capsys.readouterr()
    assert "missing: skipped: install" in shown.err
    assert "15 of 100" in shown.out
    assert shown.out.index("Who wins") < shown.out.index("best play") < shown.out.index("15 of 100")
    # In a pipe nothing is folded, and the columns have heads.
    table = shown.out.splitlines()
    assert any(line.startswith("measured") and "ours [95% interval]" in line and "agreement" in line for line in table)
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
    assert capsys.readouterr().out.startswith("small: Full run, seed 1: 6 of 7 figures measured;")
    assert run(["study", "report", "all", "--markdown", str(pages)]) == 0
    assert sorted(page.name for page in pages.iterdir()) == ["README.md", "small.md", "small.svg"]
    assert "[small: Small](small.md): Full run" in (pages / "README.md").read_text()
    assert run(["study", "report", "all"]) == 2
    assert run(["study", "run", "all", "--json"]) == 2


def test_an_interrupted_run_says_how_to_go_on(
    small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(task: RowTask) -> Result:
        signal.raise_signal(signal.SIGINT)
        return run_row(task)

    monkeypatch.setattr("lab2048.studies.run.runner.run_row", interrupted)
    words = ["study", "run", str(small), "--seed", "7", "--workers", "1", "--folder", str(tmp_path), "--row", "random"]
    assert run(words) == 130
    told = capsys.readouterr().err
    assert "saving the finished rows" in told
    assert f"continue with lab2048 study run {small} --seed 7 --folder {tmp_path} --row random --workers 1" in told

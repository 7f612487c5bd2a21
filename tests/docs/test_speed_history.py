"""benchmarks/history.json and the picture that docs/speed.md shows of it."""

import importlib.util
import json
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from lab2048.kernels import reference_loop

TOP = Path(__file__).parents[2]


@pytest.fixture
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("history", TOP / "benchmarks" / "history.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_file_is_well_formed_and_its_picture_is_up_to_date(script: ModuleType) -> None:
    assert list(script.find_faults(json.loads(script.HISTORY.read_text()))) == []


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"date": None}, "expected the fields"),
        ({"loops": {"compute": 0.0, "memory": 1.0}}, "expected positive numbers"),
        ({"figures": {"chess": {}}}, "figures of"),
        ({"figures": {"kernels": {"random play": {"rate": 1.0}}}}, "expected rate and both ratios"),
    ],
)
def test_faults_of_a_line_are_found(script: ModuleType, change: dict[str, Any], message: str) -> None:
    line = json.loads(script.HISTORY.read_text())[-1] | change
    line = {name: value for name, value in line.items() if value is not None}
    assert message in "; ".join(script.find_line_faults(line))


def test_an_old_picture_is_found(script: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(script, "PICTURE", tmp_path / "old.svg")
    script.PICTURE.write_text("<svg/>")
    (fault,) = script.find_faults(json.loads(script.HISTORY.read_text()))
    assert "--draw" in fault


def test_the_picture_has_every_release(script: ModuleType) -> None:
    line = json.loads(script.HISTORY.read_text())[-1]
    svg = script.draw([line | {"version": "0.0.9"}, line])
    n_figures = sum(len(figures) for figures in line["figures"].values())
    assert svg.count("lab2048 0.0.9") == svg.count(f"lab2048 {line['version']}") == n_figures


def test_the_page_has_the_constants_of_the_loops() -> None:
    page = (TOP / "docs" / "speed.md").read_text()
    for constant in (reference_loop.MULTIPLIER, reference_loop.INCREMENT, f"0x{int(reference_loop.ODD):X}"):
        assert f"{constant}u" in page

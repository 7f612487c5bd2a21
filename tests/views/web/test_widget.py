"""The widget is one file that needs nothing else."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

from lab2048.cli.app import run
from lab2048.models.ntuple.file import save_network
from lab2048.models.ntuple.network import Design, Network
from lab2048.rules import Rules
from lab2048.views.web import document, review_page, widget


def data_of(page: str) -> dict[str, object]:
    found = re.search(r'<script id="data" type="application/json">(.*?)</script>', page, re.DOTALL)
    assert found
    data: dict[str, object] = json.loads(found[1])
    return data


def test_it_is_one_small_file_that_loads_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "game.html"
    assert run(["widget", "--out", str(out), "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    page = out.read_text("utf-8")
    assert answer["bytes"] == len(page.encode()) <= widget.MAX_BYTES
    assert "{{" not in page
    addresses = re.findall(r'(?:src|href|url)\s*[=(]\s*"?([^"\s)>]+)', page)
    assert [each for each in addresses if not each.startswith("data:")] == []
    assert "http://" not in page.replace("http://www.w3.org/2000/svg", "")
    assert "https://" not in page


@pytest.mark.parametrize("main", [widget.MAIN, review_page.MAIN])
def test_every_import_has_its_script(main: str) -> None:
    scripts = document._scripts(main)
    assert main in scripts
    for text in scripts.values():
        for name in re.findall(r'^(?:import|export) (?:[^"]* from )?"([^"]+)";', text, re.MULTILINE):
            assert name in scripts


def test_an_existing_file_is_kept(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "game.html"
    out.write_text("mine")
    assert run(["widget", "--out", str(out)]) == 3
    assert "exists already" in capsys.readouterr().err
    assert out.read_text() == "mine"
    assert run(["widget", "--out", str(out), "--force"]) == 0


def network_file(path: Path, board: str, patterns: str, stages: tuple[int, ...] = ()) -> Path:
    design = Design.from_text(Rules.from_text(board), patterns, stages)
    generator = np.random.default_rng(1)
    save_network(path, Network(design, generator.normal(0, 100, design.n_weights).astype(np.float32)))
    return path


@pytest.mark.parametrize(("board", "patterns", "stages"), [("3x3", "012,147", ()), ("hex1", "012", (5,))])
def test_networks_of_other_boards_fit(tmp_path: Path, board: str, patterns: str, stages: tuple[int, ...]) -> None:
    path = network_file(tmp_path / "network", board, patterns, stages)
    data = data_of(widget.make_widget(path, "Mine"))
    network = data["network"]
    assert isinstance(network, dict)
    assert len(network["lookups"]) == len(patterns.split(",")) * len(Rules.from_text(board).shape.symmetries)
    assert network["stages"] == list(stages)


@pytest.mark.parametrize(
    ("player", "code", "words"),
    [
        ("expectimax", 2, "expected ntuple:weights=FILE"),
        ("ntuple", 2, "expected ntuple:weights=FILE"),
        ("ntuple:weights=nowhere", 3, "there is no file nowhere"),
        ("nobody", 2, "nobody"),
    ],
)
def test_what_cannot_run_in_a_browser_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], player: str, code: int, words: str
) -> None:
    assert run(["widget", "--out", str(tmp_path / "game.html"), "--player", player]) == code
    [line] = capsys.readouterr().err.splitlines()
    assert words in line
    assert not (tmp_path / "game.html").exists()


def test_a_network_that_is_too_large_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    save_network(tmp_path / "large", Network.empty(Design.from_text(Rules.from_text("4x4"), "1x6")))
    out = tmp_path / "game.html"
    assert run(["widget", "--out", str(out), "--player", f"ntuple:weights={tmp_path / 'large'}"]) == 3
    assert "weights: expected at most" in capsys.readouterr().err

"""What README and documentation show is what happens: commands, sessions of Python, and links."""

import doctest
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from lab2048.rules import hexagon

TOP = Path(__file__).parents[2]
README = TOP / "README.md"
DOCS = [README, *sorted((TOP / "docs").rglob("*.md")), TOP / "CONTRIBUTING.md", TOP / "CHANGELOG.md"]
WITH_COMMANDS = [path for path in DOCS if "```console\n" in path.read_text()]


def sessions(page: str) -> list[tuple[str, str]]:
    """The commands of a page with the output that it shows, in order."""
    found = []
    for block in re.findall(r"```console\n(.*?)```", page, re.DOTALL):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, output = part.partition("\n")
            found.append((command, output))
    return found


def write_files(page: str, folder: Path) -> list[Path]:
    """Save the Python files of a page: blocks whose first line names the file."""
    found = []
    for name, text in re.findall(r'```python\n(?="""(\w+\.py): )(.*?)```', page, re.DOTALL):
        found.append(folder / name)
        found[-1].write_text(text)
    return found


@pytest.mark.parametrize("path", WITH_COMMANDS, ids=lambda path: path.name)
def test_commands_show_what_happens(path: Path, tmp_path: Path) -> None:
    write_files(path.read_text(), tmp_path)
    for command, expected in sessions(path.read_text()):
        words = command.replace("lab2048", f"{sys.executable} -m lab2048")
        done = subprocess.run(words, shell=True, capture_output=True, text=True, check=True, cwd=tmp_path)
        same = doctest.OutputChecker().check_output(
            expected, done.stdout, doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
        )
        assert same, f"$ {command}\n{done.stdout}\nexpected\n{expected}"


def test_the_python_of_the_readme_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    [code] = re.findall(r"```python\n(.*?)```", README.read_text(), re.DOTALL)
    made: dict[str, Any] = {}
    exec(compile(code, "README.md", "exec"), made)
    assert len(made["game"].turns) == 100
    assert made["result"].mean("expectimax:depth=2") > made["result"].mean("random")
    assert made["network"].points()[-1]["n_moves"] > 0


def test_the_readme_is_short() -> None:
    assert len(README.read_text().split()) <= 700


@pytest.mark.parametrize("path", DOCS, ids=lambda path: path.name)
def test_links_lead_somewhere(path: Path) -> None:
    for link in re.findall(r"\]\(([^)#]+)", path.read_text()):
        if not link.startswith("http"):
            assert (path.parent / link).exists(), link


def test_every_block_of_python_of_a_player_is_a_file_or_a_session(tmp_path: Path) -> None:
    page = (TOP / "docs" / "extend.md").read_text()
    blocks = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    files = write_files(page, tmp_path)
    assert [path.name for path in files] == ["hug.py", "shaky.py", "tidy.py"]
    assert len(files) + sum(block.startswith(">>>") for block in blocks) == len(blocks)


@pytest.mark.usefixtures("own_registry")
@pytest.mark.parametrize("path", DOCS, ids=lambda path: path.name)
def test_python_sessions_run(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_files(path.read_text(), tmp_path)
    monkeypatch.chdir(tmp_path)
    failed, _ = doctest.testfile(str(path), module_relative=False, optionflags=doctest.ELLIPSIS)
    assert failed == 0


@pytest.mark.parametrize("radius", [1, 2, 4])
def test_hexagons_lie_and_move_as_the_docs_say(radius: int) -> None:
    """The sentence of docs/records.md, word by word."""
    places = []
    for i in range(2 * radius + 1):
        n = 2 * radius + 1 - abs(i - radius)
        places += [(i - radius, j - min(i, radius)) for j in range(n)]
    steps = {"w": (0, -1), "e": (1, -1), "d": (1, 0), "s": (0, 1), "a": (-1, 1), "q": (-1, 0)}
    shape = hexagon(radius)
    assert shape.letters == "".join(steps)
    for lines, (q, r) in zip(shape.lines, steps.values(), strict=True):
        ends = [place for place in places if (place[0] + q, place[1] + r) not in places]
        expected = set()
        for x, y in ends:
            line = [(x - n * q, y - n * r) for n in range(2 * radius + 1)]
            expected.add(tuple(places.index(place) for place in line if place in places))
        assert set(lines) == expected

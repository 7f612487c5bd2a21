"""What every test starts from: a store of its own, no colours, and dice that never surprise."""

import os
import re
import signal
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import settings
from terminal import Terminal

# The same examples every time, and no clock: a test that fails only sometimes helps nobody.
# HYPOTHESIS_PROFILE=explore looks for new ones.
settings.register_profile("steady", derandomize=True, deadline=None, database=None, max_examples=100)
settings.register_profile("explore", deadline=None, max_examples=2000)
settings.register_profile("slow", derandomize=True, deadline=None, database=None, max_examples=20)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "steady"))

# A shell that starts the tests in the background has Ctrl-C ignored in all that they start.
signal.signal(signal.SIGINT, signal.default_int_handler)

# Each test process has its own Ray folder: otherwise `doctor` finds the clusters that tests in other processes started.
# Ray's sockets need a short path, so the folder is not below tmp_path.
_RAY_FOLDER = tempfile.TemporaryDirectory(prefix="ray", ignore_cleanup_errors=True)
os.environ["RAY_TMPDIR"] = _RAY_FOLDER.name


def pytest_unconfigure() -> None:
    """Delete the folder here: a test process of pytest-xdist ends without the usual handlers."""
    _RAY_FOLDER.cleanup()


DATA = Path(__file__).parent / "data"
EXTEND = Path(__file__).parents[1] / "docs" / "extend.md"


@pytest.fixture(autouse=True)
def own_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Keep the user's store, jobs and settings out of the tests, and what commands only say when they are slow."""
    monkeypatch.setattr("lab2048.library.progress._PATIENCE_ELSEWHERE", 1e6)
    path = tmp_path / "games.sqlite"
    monkeypatch.setenv("LAB2048_STORE", str(path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    kept = ("LAB2048_STORE", "LAB2048_CACHE", "LAB2048_NO_JIT")
    for name in ("NO_COLOR", "FORCE_COLOR", *(name for name in os.environ if name.startswith("LAB2048_"))):
        if name not in kept:
            monkeypatch.delenv(name, raising=False)
    return path


@pytest.fixture
def own_registry(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forget afterwards which players, evaluators and files were registered."""
    for name in ("registry._registered", "registry._line_functions", "player_file._named", "player_file._failures"):
        monkeypatch.setattr(f"lab2048.players.{name}", {})


@pytest.fixture
def hug(tmp_path: Path, own_registry: None) -> Path:
    """The player of docs/extend.md as a file; what it registers is forgotten afterwards."""
    text = re.findall(r"```python\n(.*?)```", EXTEND.read_text(), re.DOTALL)[0]
    assert len(text.splitlines()) < 60
    path = tmp_path / "hug.py"
    path.write_text(text)
    return path


@pytest.fixture
def open_terminal() -> Iterator[Callable[..., Terminal]]:
    opened: list[Terminal] = []

    def open_one(columns: int = 80, lines: int = 24, **environment: str) -> Terminal:
        opened.append(Terminal(columns, lines, **environment))
        return opened[-1]

    yield open_one
    for terminal in opened:
        terminal.shell.close(force=True)

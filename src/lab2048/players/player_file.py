"""Player files: Python files that register players and evaluators.

The files of the folder `players` in the user's configuration folder are loaded when something is registered, or an
unknown name is looked up, for the first time.  So what a user registers replaces what a file of the folder registered.
"""

import contextlib
import importlib.util
import sys
import threading
import warnings
import zlib
from pathlib import Path

from lab2048.errors import FileError, PlayerFileWarning, users_code
from lab2048.folders import config_folder

_MODULE = "lab2048_player_"  # begins the name of the module of a player file

_named: dict[str, Path] = {}  # files that the user named, by module: other processes have to load them, too
_failures: dict[Path, FileError] = {}  # files of the folder that do not load
_loading = threading.RLock()
_loaded_folder: Path | None = None


def players_folder() -> Path:
    """Return the folder whose player files are always known."""
    return config_folder() / "players"


def load_player_file(path: "Path | str") -> None:
    """Run a Python file that registers players or evaluators.

    What it prints goes to standard error.  Worker processes load it, too.
    """
    load_players_folder()
    path = Path(path)
    _load(path)
    _named[_module_name(path)] = path.absolute()


def load_players_folder() -> None:
    """Load the files of the players folder, unless that has been done; a file that fails is a warning."""
    global _loaded_folder
    folder = players_folder()
    with _loading:
        if folder == _loaded_folder:
            return
        _loaded_folder = folder  # already now: the files register players, which leads here
        _failures.clear()
        for path in sorted(folder.glob("*.py")):
            try:
                _load(path)
            except FileError as error:
                _failures[path] = error
                warnings.warn(f"{error}; its players are missing", PlayerFileWarning, stacklevel=2)


def missing_files() -> str:
    """Return which files of the players folder do not load and why, as a hint; empty if all do."""
    return "; ".join(str(error) for error in _failures.values())


def named_files() -> tuple[Path, ...]:
    """Return the player files that were loaded by name, and not from the players folder."""
    return tuple(_named.values())


def named_modules() -> tuple[tuple[str, Path], ...]:
    """Return the modules of these files, each with the path of its file."""
    return tuple(_named.items())


def is_of_file(module: str) -> bool:
    """Return True if a module is a player file, which other processes can load."""
    return module.startswith(_MODULE)


def named_file(module: str) -> Path | None:
    """Return the file of a module that was loaded by name; relative, if it is below the current folder."""
    path = _named.get(module)
    return path.relative_to(Path.cwd()) if path and path.is_relative_to(Path.cwd()) else path


def _module_name(path: Path) -> str:
    return f"{_MODULE}{path.stem}_{zlib.crc32(str(path.absolute()).encode()):08x}"


def _load(path: Path) -> None:
    spec = importlib.util.spec_from_file_location(_module_name(path), path)
    if spec is None or spec.loader is None:
        raise FileError(f"player file {path} is not understood: expected a Python file, as in docs/extend.md")
    try:
        path.read_bytes()
    except OSError as error:
        raise FileError(f"player file {path} cannot be read: {error.strerror}", code="file.unreadable") from None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    with users_code(f"player file {path} fails", FileError, kept=()), contextlib.redirect_stdout(sys.stderr):
        spec.loader.exec_module(module)

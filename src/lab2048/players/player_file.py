"""Player files: Python files that register players and evaluators.

The files of the folder `players` in the user's configuration folder are loaded when something is registered, or an
unknown name is looked up, for the first time.  So what a user registers replaces what a file of the folder registered.

A player file can import modules that lie beside it.  They become submodules of its own module, so helpers of the same
name in different folders do not collide, and `sys.path` stays as it is.
"""

import builtins
import contextlib
import hashlib
import importlib.util
import sys
import threading
import warnings
import zlib
from dataclasses import dataclass
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import ModuleType
from typing import Any

from lab2048.errors import FileError, PlayerFileWarning, reason_of, users_code
from lab2048.folders import config_folder
from lab2048.records.atomic_file import replacing_bytes
from lab2048.records.input_file import open_file

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

    It can import modules that lie beside it.  What it prints goes to standard error.  Worker processes load it, too.

    >>> import lab2048 as lab, tempfile, pathlib
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "mine.py"
    >>> _ = file.write_text('''
    ... import lab2048 as lab
    ...
    ... class Upward(lab.Player):
    ...     def choose(self, board):
    ...         return lab.Decision(board.legal_moves()[0], {})
    ...
    ... lab.register("upward", Upward)
    ... ''')
    >>> lab.load_player_file(file)
    >>> lab.player("upward").ask("# # / 2 2").move
    Move.UP
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


@dataclass(frozen=True)
class PlayerSource:
    """A player file and the modules beside it that it has imported, for another machine."""

    name: str  # of the player file
    files: tuple[tuple[str, bytes], ...]  # paths below its folder, and contents

    @property
    def digest(self) -> str:
        return hashlib.sha256(repr(self).encode()).hexdigest()[:24]

    def load(self, folder: Path) -> None:
        """Write the files below a folder, and load the player file."""
        here = folder / self.digest
        for name, data in self.files:
            path = here / name
            path.parent.mkdir(parents=True, exist_ok=True)
            if not path.exists() or path.read_bytes() != data:
                with replacing_bytes(path, force=True) as file:
                    file.write(data)
        load_player_file(here / self.name)


def player_sources() -> tuple[PlayerSource, ...]:
    """Return all player files that are loaded here, those of the folder first; not those that failed."""
    load_players_folder()
    in_folder = [(_module_name(path), path) for path in sorted(players_folder().glob("*.py"))]
    found = []
    for module, path in [*(each for each in in_folder if each[0] not in _named), *_named.items()]:
        if module not in sys.modules:
            continue
        beside = [each for name, each in list(sys.modules.items()) if name.startswith(f"{module}.")]
        files = [path, *(Path(each.__file__) for each in beside if each.__file__)]
        contents = {file.relative_to(path.parent).as_posix(): file.read_bytes() for file in files}
        found.append(PlayerSource(path.name, tuple(sorted(contents.items()))))
    return tuple(found)


def is_of_file(module: str) -> bool:
    """Return True if a module is a player file or lies beside one, so that other processes can load it."""
    return module.startswith(_MODULE)


def named_file(module: str) -> Path | None:
    """Return the file of a module that was loaded by name; relative, if it is below the current folder."""
    path = _named.get(module.partition(".")[0])
    return path.relative_to(Path.cwd()) if path and path.is_relative_to(Path.cwd()) else path


def _module_name(path: Path) -> str:
    return f"{_MODULE}{path.stem}_{zlib.crc32(str(path.absolute()).encode()):08x}"


def _load(path: Path) -> None:
    name = _module_name(path)
    if path.suffix != ".py":
        raise FileError(f"player file {path} is not understood: expected a Python file, as in docs/extend.md")
    try:
        open_file(path).close()
    except OSError as error:
        raise FileError(f"player file {path} cannot be read: {reason_of(error)}", code="file.unreadable") from None
    for old in [each for each in sys.modules if each.startswith(f"{name}.")]:
        del sys.modules[old]  # helpers may have changed since
    if not any(isinstance(finder, _HelperFinder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _HelperFinder())
    folder = str(path.absolute().parent)
    loader = _Loader(name, str(path))
    spec = importlib.util.spec_from_file_location(name, path, loader=loader, submodule_search_locations=[folder])
    assert spec is not None
    module, before = importlib.util.module_from_spec(spec), sys.modules.get(name)
    sys.modules[name] = module  # dataclasses look their module up
    try:
        with users_code(f"player file {path} fails", FileError, kept=()), contextlib.redirect_stdout(sys.stderr):
            loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        if before is not None:  # its players are still registered
            sys.modules[name] = before
        raise


class _HelperFinder(MetaPathFinder):
    """Finds the modules beside a player file, as submodules of its module."""

    def find_spec(self, name: str, path: Any = None, target: ModuleType | None = None) -> ModuleSpec | None:
        if not is_of_file(name):
            return None
        spec = PathFinder.find_spec(name, path, target)
        if spec is not None and spec.origin is not None and isinstance(spec.loader, SourceFileLoader):
            spec.loader = _Loader(name, spec.origin)
        return spec


class _Loader(SourceFileLoader):
    """Runs a player file, or a module beside it, so that `import helper` finds helper.py beside the player file."""

    def exec_module(self, module: ModuleType) -> None:
        player = sys.modules[module.__name__.partition(".")[0]]
        folder, own = Path(player.__path__[0]), Path(str(player.__file__)).stem

        def is_beside(name: str) -> bool:
            # The standard library comes first: a player may be called random.py.
            if name in sys.stdlib_module_names or name in ("lab2048", own):
                return False
            return (folder / f"{name}.py").is_file() or (folder / name / "__init__.py").is_file()

        def import_beside(name: str, frame: Any = None, names: Any = None, wanted: Any = (), level: int = 0) -> Any:
            top = name.partition(".")[0]
            if level or not is_beside(top):
                return builtins.__import__(name, frame, names, wanted, level)
            found = builtins.__import__(f"{player.__name__}.{name}", frame, names, wanted)
            return found if wanted else sys.modules[f"{player.__name__}.{top}"]

        vars(module)["__builtins__"] = vars(builtins) | {"__import__": import_beside}
        super().exec_module(module)

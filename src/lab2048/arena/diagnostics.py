"""What lab2048 finds on this machine, and what to do about problems.

A problem means that something does not work; a note that it is slower or limited.
"""

import importlib.metadata
import os
import platform
import re
import shutil
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import lab2048
from lab2048.errors import LabError, PlayerFileWarning
from lab2048.extras import DISTRIBUTIONS, EXTRAS, install_command, missing_packages

GOOD, NOTE, PROBLEM = "good", "note", "problem"
HUGE_PAGES = Path("/sys/kernel/mm/transparent_hugepage/enabled")
_LITTLE_MEMORY, _LITTLE_DISK, _NO_DISK = 2 * 2**30, 2 * 2**30, 100 * 2**20
_LEAST_PYTHON = (3, 11)


@dataclass(frozen=True)
class Finding:
    """The result of one check."""

    name: str
    state: str  # good, note or problem
    found: str
    advice: str = ""


def diagnose(*further: Callable[[], Finding]) -> list[Finding]:
    """Run all checks, and `further` ones; a check that fails is a problem and does not stop the others."""
    checks: list[Callable[[], Finding]] = [_program, _libraries, _compiler, _cores, _memory, _huge_pages]
    checks += [_kernel_cache, _network, _player_files, _store, _disk, _cluster, *further]
    findings = []
    for check in checks:
        try:
            findings.append(check())
        except (LabError, OSError) as error:
            findings.append(Finding(check.__name__.strip("_").replace("_", " "), PROBLEM, str(error)))
    return [*findings, *_extras()]


def _program() -> Finding:
    where = f"lab2048 {lab2048.__version__} in {Path(lab2048.__file__).parent}"
    found = f"{where}, Python {platform.python_version()}, {platform.system()} {platform.machine()}"
    if sys.version_info < _LEAST_PYTHON:
        return Finding("program", PROBLEM, found, "install Python 3.11 or newer")
    return Finding("program", GOOD, found)


def _libraries() -> Finding:
    found, missing = [], []
    for name in _requirements():
        try:
            found.append(f"{name} {importlib.metadata.version(name)}")
        except importlib.metadata.PackageNotFoundError:
            missing.append(name)
    if missing:
        advice = f"pip install {' '.join(missing)}"
        return Finding("libraries", PROBLEM, f"missing: {', '.join(missing)}", advice)
    return Finding("libraries", GOOD, ", ".join(found))


def _requirements() -> Iterator[str]:
    """Return the required packages, without Numba, which has a check of its own, and without extras."""
    try:
        wanted = importlib.metadata.requires("lab2048") or []
    except importlib.metadata.PackageNotFoundError:
        wanted = ["numpy", "typer", "rich", "platformdirs"]
    for text in wanted:
        name = re.match(r"[A-Za-z0-9._-]+", text)
        if name and "extra ==" not in text and name[0] != "numba":
            yield name[0]


def _compiler() -> Finding:
    from lab2048.kernels import _jit

    if os.environ.get("LAB2048_NO_JIT"):
        return Finding("compiler", NOTE, "kernels run as plain Python: slow, but correct", "unset LAB2048_NO_JIT")
    if not _jit.IS_COMPILED:
        advice = "pip install numba (it has no wheels for Intel Macs)"
        return Finding("compiler", NOTE, "no Numba: kernels run as plain Python, slow, but correct", advice)
    return Finding("compiler", GOOD, f"Numba {importlib.metadata.version('numba')}")


def _cores() -> Finding:
    from lab2048.arena.compile import n_cores

    n_all = os.cpu_count() or 1
    usable = n_cores()
    return Finding("cores", GOOD, f"{n_all}" if usable == n_all else f"{usable} of {n_all} available")


def _memory() -> Finding:
    from lab2048.records.memory import free_memory

    free = free_memory()
    if not free:
        return Finding("memory", GOOD, "unknown on this system")
    if free < _LITTLE_MEMORY:
        advice = f"limit solve to {max(400, free // 2**21)}M of memory, and train smaller networks such as 4x5"
        return Finding("memory", NOTE, f"{_size(free)} free", advice)
    return Finding("memory", GOOD, f"{_size(free)} free")


def _huge_pages() -> Finding:
    if not sys.platform.startswith("linux"):
        return Finding("huge pages", GOOD, "managed by the system")
    try:
        chosen = re.search(r"\[(\w+)\]", HUGE_PAGES.read_text())
    except OSError:
        chosen = None
    if chosen and chosen[1] in ("always", "madvise"):
        return Finding("huge pages", GOOD, chosen[1])
    advice = f"echo madvise | sudo tee {HUGE_PAGES}; without them networks train and play more slowly"
    return Finding("huge pages", NOTE, chosen[1] if chosen else "not supported by this system", advice)


def _kernel_cache() -> Finding:
    from lab2048.arena.compile import is_ready
    from lab2048.kernels import _jit
    from lab2048.kernels.group import GROUPS

    if not _jit.IS_COMPILED:
        return Finding("kernel cache", GOOD, "not needed without Numba")
    if not _jit.CAN_KEEP:
        advice = "set LAB2048_CACHE to a writable folder; until then kernels are compiled at every start"
        return Finding("kernel cache", PROBLEM, f"{_jit.FOLDER} is not writable", advice)
    size = sum(path.stat().st_size for path in _jit.cache_root().rglob("*") if path.is_file())
    ready = [group for group in GROUPS if is_ready(group)]
    found = f"{_jit.cache_root()}, {_size(size)}; compiled: {', '.join(ready) or 'none yet'}"
    waiting = [group for group in GROUPS if group not in ready]
    advice = f"{', '.join(waiting)}: compiled on first use, which takes a few seconds each" if waiting else ""
    return Finding("kernel cache", GOOD, found, advice)


def _network() -> Finding:
    from lab2048.models.ntuple.file import read_header
    from lab2048.models.ntuple.shipped import FILE

    if not FILE.exists():
        return Finding("network", NOTE, "this lab2048 ships without one", "train one with lab2048 train ntuple")
    read_header(FILE)
    return Finding("network", GOOD, f"{FILE.name}, {_size(FILE.stat().st_size)}")


def _player_files() -> Finding:
    from lab2048.players.player_file import load_players_folder, missing_files, players_folder

    folder = players_folder()
    with warnings.catch_warnings(action="ignore", category=PlayerFileWarning):  # the finding says the same
        load_players_folder()
    if failures := missing_files():
        return Finding("player files", PROBLEM, failures, "fix the file, or move it out of the players folder")
    n_files = len(list(folder.glob("*.py")))
    return Finding("player files", GOOD, f"{n_files} in {folder}" if n_files else f"none in {folder}")


def _store() -> Finding:
    from lab2048.records.database import default_path
    from lab2048.records.store import Store

    path = default_path()
    if not path.exists():
        return Finding("store", GOOD, f"{path}, created by the first game")
    try:
        with Store.open(path, create=False) as store:
            n_games = len(store.ids())
            store.check()
    except LabError as error:
        advice = "copy the file; lab2048 games export saves what can be read; set LAB2048_STORE to start another"
        return Finding("store", PROBLEM, error.message, advice)
    if not os.access(path, os.W_OK) or not os.access(path.parent, os.W_OK):
        return Finding("store", PROBLEM, f"{path} cannot be written", "change its permissions, or set LAB2048_STORE")
    # SQLite keeps recent changes in files beside the store.
    beside = [path.with_name(f"{path.name}-{end}") for end in ("wal", "shm")]
    size = sum(each.stat().st_size for each in (path, *beside) if each.exists())
    return Finding("store", GOOD, f"{path}, {_size(size)}, {n_games:,} game{'' if n_games == 1 else 's'}")


def _disk() -> Finding:
    from lab2048.records.database import default_path

    folder = default_path().parent
    while not folder.exists():
        folder = folder.parent
    free = shutil.disk_usage(folder).free
    found = f"{_size(free)} free at {folder}"
    if free < _NO_DISK:
        return Finding("disk", PROBLEM, found, "free some space, or set LAB2048_STORE to another disk")
    if free < _LITTLE_DISK:
        return Finding("disk", NOTE, found, "large tables of solved boards may not fit")
    return Finding("disk", GOOD, found)


def _cluster() -> Finding:
    where = os.environ.get("LAB2048_CLUSTER", "")
    running = Path(os.environ.get("RAY_TMPDIR", tempfile.gettempdir())) / "ray" / "ray_current_cluster"
    if not where and not os.environ.get("RAY_ADDRESS") and not running.exists():
        return Finding("cluster", GOOD, "none is running on this machine")
    if missing_packages("cluster"):
        if not where:
            return Finding("cluster", GOOD, "not used: the extra cluster is not installed")
        return Finding("cluster", PROBLEM, f"LAB2048_CLUSTER is {where}, but Ray is not installed", _to_install())
    from lab2048.arena.executor.status import survey
    from lab2048.cluster.connection import LOCAL, Cluster

    if where == LOCAL:
        return Finding("cluster", GOOD, "started on this machine for each command")
    try:
        with Cluster(where or "auto") as cluster:
            states = list(survey(cluster))
    except LabError as error:
        if where:
            raise
        advice = "unset RAY_ADDRESS" if os.environ.get("RAY_ADDRESS") else "run: ray stop"
        return Finding("cluster", NOTE, f"one was started, but does not answer: {error.message}", advice)
    found = ", ".join(
        f"{n} {word}{'' if n == 1 else 's'}"
        for n, word in ((len(states), "node"), (sum(state.info.n_cores for state in states), "core"))
    )
    if problems := [state.problem for state in states if state.problem]:
        return Finding("cluster", PROBLEM, f"{found}; {problems[0]}", "lab2048 cluster status shows all nodes")
    return Finding("cluster", GOOD, found)


def _to_install() -> str:
    return f"run: {install_command('cluster')}"


def _extras() -> Iterator[Finding]:
    for name, extra in EXTRAS.items():
        if missing := missing_packages(name):
            found = f"not installed ({extra.purpose}); missing: {', '.join(missing)}"
            yield Finding(f"extra {name}", GOOD, found, f"to install it: {install_command(name)}")
        else:
            names = [DISTRIBUTIONS.get(package, package) for package in extra.packages]
            versions = (f"{each} {importlib.metadata.version(each)}" for each in names)
            yield Finding(f"extra {name}", GOOD, ", ".join(versions))


def _size(n: float) -> str:
    for unit in ("bytes", "KB", "MB"):
        if n < 1024:
            return f"{n:.0f} {unit}"
        n /= 1024
    return f"{n:.1f} GB"

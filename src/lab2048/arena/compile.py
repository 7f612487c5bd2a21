"""Compile the kernels and unpack the shipped network, once after an update."""

import importlib
import pkgutil
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from lab2048.models import SHIPPED
from lab2048.records.process_lock import ProcessLock

# Groups of kernels, so that users wait only for kernels that they use.  A file names its group; the default is PLAY.
PLAY, SOLVER, ENVIRONMENTS, NETWORK = GROUPS = ("play", "solver", "environments", "network")
# SHIPPED is a group without kernels: the network that is shipped with lab2048.

_WAITING = "another lab2048 is compiling or unpacking: waiting for it"
_compiled: set[str] = set()  # by this process; matters where the cache cannot be written


@dataclass(frozen=True)
class Preparing:
    """Preparation in progress; any thread may read how far it is."""

    text: str
    n_all: int
    count: Callable[[], int]

    @property
    def n_done(self) -> int:
        return min(self.count(), self.n_all)

    def __str__(self) -> str:
        return f"{self.text}: {self.n_done} of {self.n_all}"


def prepare(
    say: Callable[[str], None] = lambda _: None,
    *groups: str,
    begun: Callable[[Preparing], None] = lambda _: None,
) -> None:
    """Compile the kernels of some groups (default PLAY) unless they are compiled already.

    Call it before worker processes start.  Only one process compiles at a time, because two can damage Numba's cache.
    `say` gets messages for the user; `begun` gets a Preparing for each piece of work when it starts.
    """
    from lab2048.kernels import _jit

    wanted = groups or (PLAY,)
    missing = [group for group in wanted if group != SHIPPED and group not in _compiled and not _jit.is_ready(group)]
    if missing:
        how_often = "once after an update" if _jit.CAN_KEEP else f"each time: {_jit.FOLDER} cannot be written"
        with ProcessLock(_jit.FOLDER / "lock").wait(lambda: say(_WAITING)):
            for group in missing:
                if _jit.is_ready(group):  # by another process, while this one waited
                    continue
                say(f"compiling kernels ({group}), {how_often}")
                begun(_compiling(group))
                _compile(group)
                _jit.mark_ready(group)
                _compiled.add(group)
    if SHIPPED in wanted and SHIPPED not in _compiled:
        _unpack(say, begun)


def _unpack(say: Callable[[str], None], begun: Callable[[Preparing], None]) -> None:
    """Unpack the shipped network into the cache unless it is there already."""
    from lab2048.kernels import _jit
    from lab2048.models.ntuple import shipped

    if not shipped.is_unpacked() and not shipped.can_keep():
        say(f"the network of lab2048 is unpacked each time: {shipped.cache_folder()} cannot be written")
    elif not shipped.is_unpacked():
        with ProcessLock(_jit.FOLDER / "lock").wait(lambda: say(_WAITING)):
            if not shipped.is_unpacked():
                say("unpacking the network of lab2048, once after an update")
                done: list[int] = []
                text = "unpacking the network of lab2048, tables"
                begun(Preparing(text, shipped.n_tables(), lambda: len(done)))
                shipped.unpack(done.append)
    _compiled.add(SHIPPED)


def _compiling(group: str) -> Preparing:
    """Count the kernels of a group that are compiled."""
    from lab2048.kernels import _jit

    names = {file.__name__ for file in _files(group)}
    kernels: Sequence[Any] = [kernel for kernel in _jit.KERNELS if kernel.py_func.__module__ in names]
    text = f"compiling kernels ({group}), {'once' if _jit.CAN_KEEP else 'each time'}"
    return Preparing(text, len(kernels), lambda: sum(bool(kernel.signatures) for kernel in kernels))


def groups_of(specs: Iterable[str]) -> list[str]:
    """List the groups that some players use."""
    from lab2048.players.registry import make_player

    return sorted({group for spec in specs for group in make_player(spec).groups})


def _files(group: str) -> list[Any]:
    """Import the kernel modules of a group."""
    from lab2048 import kernels

    found = pkgutil.walk_packages(kernels.__path__, "lab2048.kernels.")
    files = [importlib.import_module(each.name) for each in found if not each.ispkg]
    return [file for file in files if getattr(file, "GROUP", PLAY) == group]


def _compile(group: str) -> None:
    """Call `warm_up` of every module of a group."""
    from lab2048.rules import Rules
    from lab2048.rules.plan import make_plan

    plan = make_plan(Rules.from_text("4x4"))
    for file in _files(group):
        if hasattr(file, "warm_up"):
            file.warm_up(plan)

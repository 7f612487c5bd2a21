"""Compile kernels and unpack the shipped network, once after an update.

Several processes share the work.  Each compiles whole groups of kernels (lab2048.kernels.group), so that no two of them
write the same file.
"""

import contextlib
import gc
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from lab2048.kernels.group import GROUPS, PAGES, UNPACK, UNPACK_OLD
from lab2048.models import SHIPPED
from lab2048.records.process_lock import ProcessLock
from lab2048.rules import Rules

_WAITING = "another lab2048 is compiling or unpacking: waiting for it"
_UNPACK_SECONDS = 3.0  # of one core, for the shipped network
_prepared: set[str] = set()  # by this process; matters where the cache cannot be written


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


def groups_of(specs: Iterable[str], rules: Rules | None = None, *, games: bool = False) -> list[str]:
    """List the groups that some players use on boards of these rules (default 4x4); `games`: to play whole games."""
    from lab2048.players.registry import make_player

    board = rules or Rules.from_text("4x4")
    return sorted({group for spec in specs for group in make_player(spec).groups(board, games=games)})


def usual_groups() -> list[str]:
    """List the groups that the default player of the classic board uses, also to play whole games."""
    from lab2048.players.registry import default_spec

    return groups_of([default_spec(Rules.from_text("4x4"))], games=True)


def is_ready(group: str) -> bool:
    """Return True if the kernels of a group are compiled, or the shipped network is unpacked."""
    from lab2048.kernels import _jit

    if group in _prepared:
        return True
    if group != SHIPPED:
        return _jit.is_ready(group, GROUPS[group].modules)
    from lab2048.models.ntuple import shipped

    return shipped.is_unpacked()


def prepare(
    say: Callable[[str], None] = lambda _: None,
    *groups: str,
    begun: Callable[[Preparing], None] = lambda _: None,
) -> None:
    """Compile the kernels of some groups unless they are compiled already, on all cores.

    Call it before worker processes start.  `say` gets messages for the user; `begun` gets a Preparing when the work
    starts.  A group may also be SHIPPED, the network that is shipped with lab2048.
    """
    Preparation(groups, say, begun).run()


class Preparation:
    """The work of `prepare`; another thread may stop it."""

    def __init__(
        self,
        groups: Iterable[str],
        say: Callable[[str], None] = lambda _: None,
        begun: Callable[[Preparing], None] = lambda _: None,
        *,
        in_background: bool = False,
    ) -> None:
        """Choose the groups; `in_background`: let other processes do all the work, with low priority."""
        self._wanted, self._say, self._begun, self._in_background = tuple(groups), say, begun, in_background
        self._helpers: list[_Helper] = []
        self._n_done = 0
        self._is_stopped = False

    def run(self) -> None:
        """Prepare what is missing; return early if it is stopped."""
        from lab2048.kernels import _jit

        if not self._missing():
            return
        with ProcessLock(_jit.FOLDER / "lock").wait(lambda: self._say(_WAITING)):
            missing = self._missing()  # without what another process prepared meanwhile
            if missing and not self._is_stopped:
                self._announce(missing)
                self._work(missing)

    def stop(self) -> None:
        """End the other processes."""
        self._is_stopped = True
        for helper in self._helpers:
            helper.stop()

    def _missing(self) -> list[str]:
        from lab2048.kernels import _jit
        from lab2048.models.ntuple import shipped

        if SHIPPED in self._wanted and not is_ready(SHIPPED):
            self._wanted = (*self._wanted, shipped.decoder_group(), PAGES)
            if not (_jit.CAN_KEEP and shipped.can_keep()):
                self._say(f"the network of lab2048 is unpacked each time: {shipped.cache_folder()} cannot be written")
                _prepared.add(SHIPPED)
        return [group for group in dict.fromkeys(self._wanted) if not is_ready(group)]

    def _announce(self, missing: list[str]) -> None:
        from lab2048.kernels import _jit
        from lab2048.models.ntuple import shipped

        groups = [group for group in missing if group != SHIPPED]
        how_often = "once after an update" if _jit.CAN_KEEP else f"each time: {_jit.FOLDER} cannot be written"
        parts = ["compiling kernels"] * bool(groups) + ["unpacking the network of lab2048"] * (SHIPPED in missing)
        text, names = " and ".join(parts), f" ({', '.join(groups)})" if groups else ""
        n_all = sum(GROUPS[group].n_kernels for group in groups) + (shipped.n_tables() if SHIPPED in missing else 0)
        self._say(f"{text}{names}, {how_often}")
        self._begun(Preparing(text, n_all, lambda: self._n_done + sum(each.n_done for each in self._helpers)))

    def _work(self, missing: list[str]) -> None:
        from lab2048.kernels import _jit

        may_share = _jit.CAN_KEEP and bool(sys.executable)
        shares = _shares(missing, n_cores() if may_share else 1)
        own = [] if self._in_background and may_share else shares.pop(0)
        try:
            for share in shares:
                self._helpers.append(_Helper(share))
                self._helpers[-1].start(is_nice=self._in_background)  # known before: Ctrl-C may come any time
            _compile_here(own, self._count)
            for helper in self._helpers:
                if not helper.finish() and not self._is_stopped:
                    _compile_here(helper.groups, self._count)
        finally:
            for helper in self._helpers:
                helper.stop()

    def _count(self) -> None:
        self._n_done += 1


class _Helper:
    """Another process that prepares some groups, and prints a line for each kernel or table."""

    def __init__(self, groups: list[str]) -> None:
        self.groups, self.n_done = groups, 0
        self._process: subprocess.Popen[bytes] | None = None
        self._reader: threading.Thread | None = None

    def start(self, *, is_nice: bool) -> None:
        from lab2048.kernels import _jit

        groups, here = self.groups, str(Path(__file__).parents[2])
        paths = [here, *filter(None, [os.environ.get("PYTHONPATH")])]
        process = self._process = subprocess.Popen(
            [sys.executable, "-c", f"from lab2048.arena import compile; compile.help_compile({groups}, {is_nice})"],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(paths), "LAB2048_CACHE": str(_jit.FOLDER.parent)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        assert process.stdout is not None
        reader = threading.Thread(target=self._read, args=(process.stdout,), name="compile-helper", daemon=True)
        reader.start()
        self._reader = reader

    def _read(self, lines: IO[bytes]) -> None:
        for _ in lines:
            self.n_done += 1

    def finish(self) -> bool:
        """Wait for the end; return True if all went well."""
        if self._process is None or self._reader is None:
            return False
        self._reader.join()
        return self._process.wait() == 0

    def stop(self) -> None:
        """End the process, if it still runs."""
        if self._process is None:
            return
        with contextlib.suppress(OSError):
            self._process.terminate()
        self._process.wait()
        if self._reader is not None:
            self._reader.join()
        assert self._process.stdout is not None
        self._process.stdout.close()


def help_compile(groups: list[str], is_nice: bool) -> None:
    """Run as a helper: prepare some groups, and print a line for each kernel or table."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # Ctrl-C ends this process at once, and the parent says so
    if is_nice and hasattr(os, "nice"):
        os.nice(5)
    _compile_here(groups, lambda: print(flush=True))  # noqa: T201 - read by the parent; without one this ends


def _compile_here(groups: Iterable[str], count: Callable[[], object]) -> None:
    """Prepare some groups in this process; `count` is called after each kernel and each table of the network."""
    from lab2048.kernels import _jit
    from lab2048.models.ntuple import shipped
    from lab2048.rules.plan import make_plan

    with _jit.listening(count), _without_garbage_collection():
        for group in groups:
            if group == SHIPPED:
                shipped.unpack(lambda _: count())
            else:
                GROUPS[group].compile(make_plan(Rules.from_text("4x4")))
                _jit.mark_ready(group, GROUPS[group].modules)
            _prepared.add(group)


@contextlib.contextmanager
def _without_garbage_collection() -> Iterator[None]:
    """Switch Python's garbage collector off: the compiler makes many objects, and would spend a sixth of its time."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _shares(groups: list[str], n: int) -> list[list[str]]:
    """Divide groups among at most n processes that take about equally long; the network follows its kernels."""
    first = [group for group in groups if group in (UNPACK, UNPACK_OLD, PAGES)] if SHIPPED in groups else []
    chains = [[*first, SHIPPED]] if first else []
    chains += [[group] for group in groups if group not in first and (group != SHIPPED or not first)]
    chains.sort(key=_seconds, reverse=True)
    shares: list[list[str]] = [[] for _ in range(max(1, min(n, len(chains))))]
    for chain in chains:
        min(shares, key=_seconds).extend(chain)
    return shares


def _seconds(groups: list[str]) -> float:
    return sum(_UNPACK_SECONDS if group == SHIPPED else GROUPS[group].seconds for group in groups)


def n_cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1

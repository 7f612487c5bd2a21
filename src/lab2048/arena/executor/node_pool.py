"""What runs on a node of a cluster: a pool of its own, for the units that the driver sends."""

import threading
from collections.abc import Sequence
from typing import TypeVar

from lab2048.arena.executor.executor import Unit
from lab2048.arena.executor.local import Pool
from lab2048.cluster.leftovers import delete_leftovers
from lab2048.players.player_file import PlayerSource

T = TypeVar("T")
_pool: Pool | None = None
_loaded: set[str] = set()  # digests of the player files
_changing = threading.Lock()


def begin(n_threads: int, sources: Sequence[PlayerSource], groups: Sequence[str]) -> None:
    """Load player files and compile kernels that are missing; other worker processes of the machine wait for it.

    Before, delete what killed commands have left.
    """
    global _pool
    from lab2048.arena.compile import prepare
    from lab2048.kernels import _jit

    with _changing:
        delete_leftovers()
        prepare(lambda _: None, *groups)
        for source in sources:
            if source.digest not in _loaded:
                source.load(_jit.cache_root() / "cluster" / "players")
                _loaded.add(source.digest)
        if _pool is None:
            _pool = Pool(n_threads)


def run_unit(unit: Unit[T]) -> T:
    """Run a unit on a thread or in a process of this node."""
    assert _pool is not None  # `begin` comes first
    return _pool.run_one(unit)


def stop() -> None:
    """Have units return what is finished."""
    if _pool is not None:
        _pool.stop()

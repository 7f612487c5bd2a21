"""Training of networks."""

import contextlib
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from lab2048.arena.executor.choice import nodes_for
from lab2048.errors import FileError, UsageError
from lab2048.kernels.group import EXCHANGE
from lab2048.learning.registry import EXCHANGE_SECONDS, Method, Training, find_method
from lab2048.library.arguments import RulesLike, read_limit, read_rules, read_whole
from lab2048.library.interrupt import interruptible, stopping
from lab2048.library.network import TrainedNetwork, check_out
from lab2048.library.progress import make_ready, progress_line, working
from lab2048.records.atomic_file import remove_leftovers
from lab2048.records.disk_space import check_free
from lab2048.records.process_lock import ProcessLock
from lab2048.rules import Rules
from lab2048.views.number import number, size

if TYPE_CHECKING:
    from lab2048.arena.executor.cluster import ClusterPool

CHECKPOINT_MINUTES = 5.0
NO_LIMITS: Mapping[str, float] = MappingProxyType({})


@interruptible()
def train(
    method: str = "ntuple",
    *,
    rules: RulesLike = "4x4",
    minutes: float | None = None,
    moves: float | None = None,
    games: float | None = None,
    threads: int = 0,
    out: "str | Path | None" = None,
    resume: bool = False,
    force: bool = False,
    checkpoint: float = CHECKPOINT_MINUTES,
    preset: str = "",
    goal: int | None = None,
    spawn: str | None = None,
    start: int | None = None,
    spawner: str | None = None,
    stop_at_goal: bool = False,
    on_progress: Callable[[Any], None] | None = None,
    progress: bool | None = None,
    cluster: str | None = None,
    exchange: float = EXCHANGE_SECONDS,
    **options: Any,
) -> "TrainedNetwork":
    """Train a network for some minutes, moves or games; without a limit until Ctrl-C.

    Limits are totals and include earlier sessions.  Ctrl-C stops the training and returns the network.  With `out` the
    network is saved in that file at the end and every `checkpoint` minutes; `resume` continues from the file, `force`
    replaces it.  Without `out` it stays in memory until you call `save`.  `options` are those of the method, such as
    `network`, `alpha` and `seed`; docs/training.md lists them.  Without `network`, an n-tuple network is chosen by the
    board and the length of the training.  `threads=0` uses all cores.  N-tuple networks are reproducible only with one
    thread, deep networks with any number.  `cluster` names a Ray cluster that trains ("auto", "local" or an address);
    its nodes exchange what they have learned every `exchange` seconds, and the result is not reproducible.

    >>> import lab2048 as lab
    >>> network = lab.train("ntuple", rules="2x3", moves=20_000, threads=1, seed=1)
    >>> network.evaluate(games=100, depth=1).mean() > 200
    True
    """
    the_method = find_method(method)
    minutes, moves, games = read_limit("minutes", minutes), read_limit("moves", moves), read_limit("games", games)
    threads = read_whole("threads", threads, 0)
    path = Path(out) if out is not None else None
    if path is None and resume:
        raise UsageError("resume needs a file: expected out=FILE", field="resume")
    given = the_method.config.parse(options, preset)
    the_rules = read_rules(rules, goal, spawn, start, spawner, stop_at_goal)
    limits = chosen_limits(minutes, moves, games)

    def check_rules(trained: Rules) -> None:
        if the_rules != trained and rules != "4x4":
            raise UsageError(
                f"rules {the_rules.board.to_text()}: the network was trained with other rules, "
                f"{trained.board.to_text()}: expected the same, or none",
                field="rules",
            )

    with only_writer(path, resume=resume, force=force), training_nodes(the_method, cluster, threads) as nodes:
        training = begin_training(
            the_method,
            the_rules,
            given,
            threads,
            resume_from=path if resume else None,
            check_rules=check_rules,
            limits=limits,
            progress=progress,
            nodes=nodes,
            exchange=exchange,
        )
        with progress_line(progress) as show:

            def note(now: Any) -> None:
                shares = [getattr(now, name) / limit for name, limit in limits.items()]
                text = f"{number(now.n_moves)} moves, {now.n_games:,} games, mean score {number(now.mean)}"
                if the_method.name == "ntuple":
                    text += f", {size(now.n_bytes)}"
                show(text, min(1.0, max(shares)) if shares else None)
                if on_progress is not None:
                    on_progress(now)

            learn(training, limits, path, 60 * checkpoint, note)
    return TrainedNetwork(the_method, training, path)


def chosen_limits(minutes: float | None, moves: float | None, games: float | None) -> dict[str, float]:
    """Return the limits that are set, as `Training.run` takes them."""
    limits = {"seconds": 60 * minutes if minutes else None, "n_moves": moves, "n_games": games}
    return {name: limit for name, limit in limits.items() if limit is not None}


def begin_training(
    method: Method,
    rules: Rules,
    options: dict[str, Any],
    threads: int,
    *,
    resume_from: Path | None = None,
    check_rules: Callable[[Rules], None] = lambda _: None,
    check_room: Callable[[float, float], None] = lambda *_: None,
    limits: Mapping[str, float] = NO_LIMITS,
    progress: bool | None = None,
    nodes: "ClusterPool | None" = None,
    exchange: float = EXCHANGE_SECONDS,
) -> Training:
    """Start a training, or continue one; everything is checked before kernels are compiled.

    `check_rules` is called with the rules of a resumed training, `check_room` with the largest size of a checkpoint in
    bytes, now and at the end.  The defaults of a new training depend on its limits.
    """
    method.check_installed()
    trainer: type[Training] = method.training() if nodes is None else method.cluster_training()

    def get_ready(groups: Sequence[str]) -> int:
        """Compile kernels, also on the nodes; return the number of threads."""
        if nodes is None:
            make_ready(*groups, progress=progress)
            return threads or os.cpu_count() or 1
        groups = [*groups] if method.is_deep else [*groups, EXCHANGE]
        make_ready(*groups, progress=progress)
        with working("preparing the nodes of the cluster", progress):
            nodes.make_ready([], groups)
        return nodes.n_workers

    def equip(training: Training) -> Training:
        if nodes is not None:
            training.use(nodes, exchange)  # type: ignore[attr-defined]
        return training

    n_moves = method.config.moves_within(limits, threads or os.cpu_count() or 1)
    if resume_from is not None:
        found, config = method.config.read_checkpoint(resume_from)
        training = trainer.resume(resume_from, get_ready(config.groups(found)), **options)
        check_rules(training.rules)
        check_room(*training.config.sizes(training.rules, training.n_moves, n_moves))
        return equip(training)
    # Not by all threads: the network, and so the size of its file, should not depend on the machine.
    config = method.config.for_board(rules, method.config.moves_within(limits, 1), **options)
    config.check(rules)
    check_room(*config.sizes(rules, 0, n_moves))
    return equip(trainer.begin(config, rules, get_ready(config.groups(rules))))


@contextlib.contextmanager
def training_nodes(method: Method, cluster: str | None, threads: int) -> "Iterator[ClusterPool | None]":
    """Yield the nodes that train, or None without a cluster; raise UsageError if the method cannot use them."""
    if cluster:
        method.cluster_training()
    with nodes_for(cluster, threads, f"train {method.name}") as nodes:
        yield nodes


def learn(
    training: Training,
    limits: dict[str, float],
    out: Path | None,
    checkpoint_seconds: float,
    on_progress: Callable[[Any], None],
    *,
    on_checkpoint: Callable[[Any], None] = lambda _: None,
    on_stop: Callable[[], None] = lambda: None,
) -> None:
    """Train to the first of the limits or to Ctrl-C, and save checkpoints."""
    if out is not None:
        remove_leftovers(out)
    save_at = time.monotonic() + checkpoint_seconds

    def stop() -> None:
        training.end()
        on_stop()

    with stopping(stop):
        for now in training.run(**limits):
            on_progress(now)
            if out is not None and time.monotonic() >= save_at:
                check_free(out, getattr(now, "n_bytes", 0), then="make room, and resume from the last checkpoint")
                training.save(out)
                save_at = time.monotonic() + checkpoint_seconds
                on_checkpoint(now)
        if out is not None:
            training.save(out)


@contextlib.contextmanager
def only_writer(out: Path | None, *, resume: bool, force: bool) -> Iterator[None]:
    """Check the output file of a training, and keep it from others; raise FileError if one is writing it already."""
    if out is None:
        yield
        return
    target = Path(os.path.realpath(out))
    lock = ProcessLock(target.with_name(f".{target.name}.lock"), is_removed=True)
    if not lock.try_acquire():
        raise FileError(
            f"another training is writing {out}: wait for it, or choose another file", code="file.locked", field="out"
        )
    with lock:
        check_out(out, resume=resume, force=force)
        yield

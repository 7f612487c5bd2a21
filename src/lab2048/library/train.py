"""Training of networks."""

import contextlib
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from html import escape
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from lab2048.arena.executor.choice import nodes_for
from lab2048.errors import FileError, UnknownNameError, UsageError
from lab2048.kernels.group import EXCHANGE
from lab2048.learning.registry import EXCHANGE_SECONDS, Method, Training, find_method, player_of_head
from lab2048.library.arguments import RulesLike, read_limit, read_rules, read_whole
from lab2048.library.interrupt import interruptible, stopping
from lab2048.library.match import MatchResult, match
from lab2048.library.player import ReadyPlayer, player
from lab2048.library.progress import make_ready, progress_line, working
from lab2048.library.unsaved import delete_with, temporary_path
from lab2048.records.atomic_file import check_target, remove_leftovers
from lab2048.records.disk_space import check_free
from lab2048.records.process_lock import ProcessLock
from lab2048.rules import Rules
from lab2048.views.disk_space import need_room
from lab2048.views.number import number, size

if TYPE_CHECKING:
    import pandas
    import plotly.graph_objects

    from lab2048.arena.executor.cluster import ClusterPool

CHECKPOINT_MINUTES = 5.0
NO_LIMITS: Mapping[str, float] = MappingProxyType({})
_EXISTS = "pass resume=True to continue it, or force=True to replace it"


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


def check_out(out: Path, *, resume: bool, force: bool) -> None:
    """Raise FileError if the output file cannot be written or must not be replaced."""
    if not out.parent.is_dir():
        raise FileError(f"there is no folder {out.parent}: expected a file in an existing folder", field="out")
    if out.is_dir():
        raise FileError(f"{out} is a folder: expected the name of a file", field="out")
    if resume and not out.exists():
        raise FileError(f"there is no file {out} to resume: expected a checkpoint", field="resume")
    if out.exists() and not resume and not force:
        raise FileError(f"{out} exists already", code="checkpoint.exists", hint=_EXISTS)
    if not os.access(out.parent, os.W_OK):
        raise FileError(f"{out.parent} cannot be written: expected another folder", field="out")


class TrainedNetwork:
    """A trained network.

    >>> import lab2048 as lab
    >>> network = lab.train("ntuple", rules="2x2", moves=1000, threads=1, seed=1)
    >>> network.player_name, network.rules.board.to_text()
    ('ntuple', '2x2')
    """

    def __init__(self, method: Method | None, training: Training | None, path: Path | None) -> None:
        """Use `lab2048.train` or `lab2048.open_network`."""
        self._method, self._training, self.path = method, training, path
        self._is_saved = path is not None

    @property
    def rules(self) -> Rules:
        """Return the rules that it was trained on."""
        if self._training is not None:
            return self._training.rules
        return _read_header(self._file())[1]

    @property
    def player_name(self) -> str:
        """Return the name of the player that uses this kind of network."""
        return self._method.player if self._method is not None else _read_header(self._file())[0]

    def save(self, path: "str | Path", *, force: bool = False) -> Path:
        """Write the network to a file and return its path; `lab2048.train(..., resume=True)` continues from it.

        >>> import lab2048 as lab, tempfile, pathlib
        >>> network = lab.train("ntuple", rules="2x2", moves=1000, threads=1, seed=1)
        >>> network.save(pathlib.Path(tempfile.mkdtemp()) / "my.safetensors").name
        'my.safetensors'
        """
        target = Path(path)
        check_target(target, force=force)
        check_out(target, resume=False, force=True)
        if self._training is not None:
            self._training.save(target)
        else:
            target.write_bytes(self._file().read_bytes())
        self.path, self._is_saved = target, True
        return target

    def player(self, **options: Any) -> ReadyPlayer:
        """Return a player that uses this network, with options such as `depth` or `ms`.

        >>> import lab2048 as lab
        >>> network = lab.train("ntuple", rules="2x2", moves=1000, threads=1, seed=1)
        >>> len(network.player(depth=2).ask("2 2 / # 4").values)
        3
        """
        path = self._file()
        ready = player(self.player_name, weights=str(path), **options)
        ready.source = self  # keeps a temporary file as long as the player is used
        return ready

    def evaluate(self, games: int = 1000, *, depth: int | None = None, seed: int = 1, workers: int = 0) -> MatchResult:
        """Play games with the network, by the rules that it was trained on.

        >>> import lab2048 as lab
        >>> network = lab.train("ntuple", rules="2x2", moves=1000, threads=1, seed=1)
        >>> len(network.evaluate(games=10, depth=1).scores())
        10
        """
        chosen = {"depth": depth} if depth is not None else {}
        return match([self.player(**chosen)], rules=self.rules, games=games, seed=seed, workers=workers)

    def curve(self) -> "pandas.DataFrame":
        """Return the learning curve as a data frame: moves, seconds, mean score and rates.

        >>> import lab2048 as lab
        >>> network = lab.train("ntuple", rules="2x2", moves=1000, threads=1, seed=1)
        >>> int(network.curve()["n_moves"].iloc[-1]) >= 1000
        True
        """
        from lab2048.extras import load

        frame: pandas.DataFrame = load("pandas").json_normalize(self.points())
        return frame

    def points(self) -> list[dict[str, Any]]:
        """Return the learning curve as a list of dicts.

        >>> import lab2048 as lab
        >>> network = lab.train("ntuple", rules="2x2", moves=1000, threads=1, seed=1)
        >>> network.points()[-1]["n_moves"] >= 1000
        True
        """
        if self._training is not None:
            now = self._training.progress().to_json()
            points = list(self._training.curve)
            return points if points and points[-1]["n_moves"] == now["n_moves"] else [*points, now]
        training = _read_header(self._file())[2].get("training", {})
        return list(training.get("curve", []))

    def plot(self, kind: str = "score") -> "plotly.graph_objects.Figure":
        """Return a Plotly figure of the learning curve: "score", "tiles" or "learning".

        >>> import lab2048 as lab
        >>> network = lab.train("ntuple", rules="2x2", moves=1000, threads=1, seed=1)
        >>> len(network.plot("score").data) > 0
        True
        """
        from lab2048.views.charts import training_chart

        if kind not in ("score", "tiles", "learning"):
            raise UnknownNameError("chart", kind, ("score", "tiles", "learning"))
        return training_chart(kind, self.points()).to_figure()

    def _file(self) -> Path:
        """Return the file of the network; one that was never saved is written to a temporary folder."""
        if self.path is None:
            self.path = temporary_path("network.safetensors")
            delete_with(self, self.path)
            if self._training is not None:
                need_room(self.path, self._training.config.sizes(self.rules, self._training.n_moves)[0], advice="")
                self._training.save(self.path)
        return self.path

    def __repr__(self) -> str:
        name = self._method.name if self._method is not None else "network"
        where = f", {self.path}" if self._is_saved else ""
        if self._training is not None:
            now = self._training.progress()
            facts = f"{number(now.n_moves)} moves, mean score {number(now.mean)} of the last {now.n_last} games"
            return f"TrainedNetwork({name} on {self.rules.board.to_text()}: {facts}{where})"
        return f"TrainedNetwork({name} on {self.rules.board.to_text()}{where})"

    def _repr_html_(self) -> str:
        return f"<div>{escape(repr(self))}</div>"


def open_network(path: "str | Path") -> TrainedNetwork:
    """Open a network file written by `lab2048.train` or `lab2048 train`.

    >>> import lab2048 as lab, tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "my.safetensors"
    >>> network = lab.train("ntuple", rules="2x2", moves=1000, threads=1, seed=1, out=path)
    >>> lab.open_network(path).player_name
    'ntuple'
    """
    file = Path(path)
    _read_header(file)  # raises FileError if it is no network
    return TrainedNetwork(None, None, file)


def _read_header(path: Path) -> tuple[str, Rules, dict[str, Any]]:
    """Return the player that uses a network, the rules that it was trained on, and the facts of its training."""
    from lab2048.models.ntuple.file import is_deep, read_header

    if is_deep(path):
        from lab2048.models.deep.header import read_deep_header

        design, facts = read_deep_header(path)
        return player_of_head(design.head), design.rules, facts
    header = read_header(path)
    return "ntuple", header.design.rules, header.facts

"""Run a study row by row, saving each result as soon as it is finished."""

import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from lab2048.arena.compile import groups_of, prepare
from lab2048.arena.executor.executor import Executor
from lab2048.errors import FileError, LabError, StoppedError, UsageError, closest, unknown
from lab2048.extras import has_extra, install_command
from lab2048.kernels.group import SOLVER
from lab2048.learning.registry import METHODS
from lab2048.players.registry import fit_player, make_player, names
from lab2048.records.process_lock import temporary_folder
from lab2048.studies.model import Row, Study
from lab2048.studies.result import Result, ResultFolder
from lab2048.studies.run.task import RowTask, SkippedError
from lab2048.studies.run.trained_games import WEIGHTS, is_trained
from lab2048.studies.run.training import make_config

_DEEP_PLAYERS = ("c51", "net")
_INNER = re.compile(r"inner=\(?([a-z0-9_-]+)")


def reason_to_skip(row: Row, size: str) -> str:
    """Return why a row is skipped at this size or on this machine; empty if it is not."""
    if row.kind == "none":
        return "nothing to run"
    if row.amount(size) == 0:
        return f"not part of a {size} run"
    spoken = [] if is_trained(row.player) else [row.player, *_INNER.findall(row.player)]
    players = {found.partition(":")[0] for found in spoken if found}
    method = METHODS.get(row.training_spec.method) if row.training_spec else None
    is_deep = method is not None and method.is_deep
    if (is_deep or not players.isdisjoint(_DEEP_PLAYERS)) and not has_extra("deep"):
        return f"needs the extra 'deep': {install_command('deep')}"
    for name in sorted(players):
        if name not in names():
            return f"install a lab2048 that has the player {name}, or load its player file"
    return ""


class Runner:
    """Run the rows of a study that have no result yet."""

    def __init__(
        self,
        result_folder: ResultFolder,
        n_workers: int,
        *,
        say: Callable[[str], None],
        show: Callable[[str], None],
        only: Sequence[str] = (),
        force: bool = False,
        nodes: Executor | None = None,
    ) -> None:
        """Check the rows to run.

        `say` prints a permanent line, `show` updates the progress line; `only` lists the ids of rows or
        trainings to run (empty = all); `nodes` is a cluster that plays the games.
        """
        parts = {part.id: (part,) for part in result_folder.study.parts(result_folder.size)}
        rows = {row.id: row.parts(result_folder.size) for row in result_folder.study.rows}
        known = rows | parts
        for id_ in only:
            if id_ not in known:
                what = f"row of study {result_folder.study.name}"
                raise UsageError(unknown(what, id_, known, f"expected one of {', '.join(rows)}"), field="row")
        self._wanted = {part.id for id_ in only or parts for part in known[id_]}
        self.result_folder, self.n_workers = result_folder, n_workers
        self._say, self._show, self._force, self._nodes = say, show, force, nodes
        for row in result_folder.study.rows:
            if not self._wanted.isdisjoint(part.id for part in rows[row.id]):
                _check_training(row, result_folder)
                _check_player(row, result_folder)
        self._task: RowTask | None = None
        self.is_stopped = False

    @property
    def study(self) -> Study:
        return self.result_folder.study

    def stop(self) -> None:
        """Stop the current row, saving its progress, and start no other."""
        self.is_stopped = True
        if self._task is not None:
            self._task.stop()

    def run(self) -> Iterator[tuple[Row, Result]]:
        """Yield each row with its result; a skipped row has the reason in its result."""
        with temporary_folder() as scratch:
            for row in self.study.parts(self.result_folder.size):
                if row.id not in self._wanted:
                    continue
                if self.is_stopped:
                    return
                kept = None if self._force else self.result_folder.find(row)
                if kept is not None:
                    yield row, kept
                    continue
                try:
                    yield row, self._run(row, scratch)
                except StoppedError:
                    return

    def _run(self, row: Row, scratch: Path) -> Result:
        reason = reason_to_skip(row, self.result_folder.size)
        if reason:
            return self._skipped(row, reason)
        self._prepare(row)
        task = self._task = RowTask(
            row, self.result_folder, self.n_workers, scratch, earlier=self._earlier(row), nodes=self._nodes
        )
        task.show = lambda text: self._show(f"{row.id}: {text}")
        if self.is_stopped:
            task.stop()
        try:
            result = task.with_provenance(run_row(task))
        except SkippedError as error:
            return self._skipped(row, str(error))
        finally:
            self._task = None
        self.result_folder.keep(result)
        return result

    def _earlier(self, row: Row) -> Result | None:
        """Return the games to continue from: a partial result, or a finished one with fewer games."""
        found = [self.result_folder.find_partial(row), None if self._force else self.result_folder.find_fewer(row)]
        return max((each for each in found if each), key=lambda each: len(each.games), default=None)

    def _skipped(self, row: Row, reason: str) -> Result:
        return Result(row.id, row.digest(self.result_folder.size), self.result_folder.seed, skip_reason=reason)

    def _prepare(self, row: Row) -> None:
        """Compile the kernels that the row needs, before anything is timed."""
        rules, groups = row.rules(self.result_folder.size), set[str]()
        if row.kind in ("solve", "regret"):
            groups.add(SOLVER)
        if row.player and not is_trained(row.player):
            groups |= set(groups_of([row.player], rules, games=True))
        if row.training_spec is not None:
            groups |= set(make_config(row.training_spec, rules, self.result_folder.seed).groups(rules))
        prepare(self._say, *sorted(groups))


def _check_training(row: Row, result_folder: ResultFolder) -> None:
    """Raise FileError for a training with an unknown method or a wrong option, before hours of other rows."""
    if row.training_spec is None:
        return
    try:
        rules = row.rules(result_folder.size)
        config = make_config(row.training_spec, rules, result_folder.seed)
        if row.amount(result_folder.size):
            config.check(rules)
    except LabError as error:
        raise FileError(f"study {result_folder.study.name}, row {row.id}: {error}") from None


def _check_player(row: Row, result_folder: ResultFolder) -> None:
    """Raise FileError for a player that cannot play its row, before hours of other rows."""
    from lab2048.studies.run.solve import TABLE

    if not row.player or is_trained(row.player):
        return
    try:
        name = row.player.partition(":")[0]
        if name not in names() and closest(name, names()):
            make_player(row.player)  # raises: a typo, not a player of another version
        if reason_to_skip(row, result_folder.size):
            return
        if TABLE in row.player or WEIGHTS in row.player:
            make_player(row.player)  # its table or weights do not exist yet
        else:
            fit_player(row.player, row.rules(result_folder.size))
    except LabError as error:
        raise FileError(f"study {result_folder.study.name}, row {row.id}: {error}") from None


def run_row(task: RowTask) -> Result:
    """Run a row according to its kind."""
    from lab2048.studies.run.bound import run_bound
    from lab2048.studies.run.cache import run_cache
    from lab2048.studies.run.digits import run_digits
    from lab2048.studies.run.match import run_match, run_threads
    from lab2048.studies.run.solve import run_regret, run_solve
    from lab2048.studies.run.training import run_train

    kinds = {
        "match": run_match,
        "solve": run_solve,
        "regret": run_regret,
        "threads": run_threads,
        "cache": run_cache,
        "train": run_train,
        "bound": run_bound,
        "digits": run_digits,
    }
    return kinds[task.row.kind](task)

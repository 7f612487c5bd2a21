"""Running a study: row by row, each kept when it is done, so that an interruption loses little."""

import re
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from lab2048.arena.compile import PLAY, SOLVER, groups_of, prepare
from lab2048.errors import FileError, LabError, UsageError, nearest
from lab2048.learning.registry import METHODS
from lab2048.models.deep.torch_import import has_torch
from lab2048.players.registry import fit_player, make_player, names
from lab2048.studies.model import Row, Study
from lab2048.studies.result import Result, Shelf
from lab2048.studies.run.task import Job, LeftOutError, StoppedError
from lab2048.studies.run.trained_games import WEIGHTS, is_trained
from lab2048.studies.run.training import make_config

INSTALL_DEEP = "install torch: pip install 'lab2048[deep]'"
_DEEP_PLAYERS = ("c51", "net")
_INNER = re.compile(r"inner=\(?([a-z0-9_-]+)")


def reason_left_out(row: Row, size: str) -> str:
    """Why a row is not run at a size, or on this machine; empty if it is."""
    if row.kind == "none":
        return "nothing to run"
    if row.amount(size) == 0:
        return f"not part of a {size} run"
    spoken = [] if is_trained(row.player) else [row.player, *_INNER.findall(row.player)]
    players = {found.partition(":")[0] for found in spoken if found}
    method = METHODS.get(row.lesson.method) if row.lesson else None
    is_deep = method is not None and method.is_deep
    if (is_deep or not players.isdisjoint(_DEEP_PLAYERS)) and not has_torch():
        return INSTALL_DEEP
    for name in sorted(players):
        if name not in names():
            return f"install a lab2048 that has the player {name}"
    return ""


class Runner:
    """Runs the rows of a study that have no result yet."""

    def __init__(
        self,
        shelf: Shelf,
        n_workers: int,
        *,
        say: Callable[[str], None],
        show: Callable[[str], None],
        only: Sequence[str] = (),
        force: bool = False,
    ) -> None:
        """`say` tells what stays; `show` what passes; `only` names the rows or trainings to run, all if none."""
        parts = {part.id: (part,) for part in shelf.study.parts(shelf.size)}
        rows = {row.id: row.parts(shelf.size) for row in shelf.study.rows}
        known = rows | parts
        for id_ in only:
            if id_ not in known:
                otherwise = f"known: {', '.join(rows)}"
                raise UsageError(
                    f"row {id_!r} is unknown in {shelf.study.name}: {nearest(id_, known, otherwise)}", field="row"
                )
        self._wanted = {part.id for id_ in only or parts for part in known[id_]}
        self.shelf, self.n_workers = shelf, n_workers
        self._say, self._show, self._force = say, show, force
        for row in shelf.study.rows:
            if not self._wanted.isdisjoint(part.id for part in rows[row.id]):
                _check_training(row, shelf)
                _check_player(row, shelf)
        self._job: Job | None = None
        self.is_stopped = False

    @property
    def study(self) -> Study:
        return self.shelf.study

    def stop(self) -> None:
        """Let the row at hand end, without loss, and begin no other."""
        self.is_stopped = True
        if self._job is not None:
            self._job.stop()

    def run(self) -> Iterator[tuple[Row, Result]]:
        """Each row with its result, as they come; a row that cannot be run says why in its result."""
        with tempfile.TemporaryDirectory(prefix="lab2048-study-") as scratch:
            for row in self.study.parts(self.shelf.size):
                if row.id not in self._wanted:
                    continue
                if self.is_stopped:
                    return
                kept = None if self._force else self.shelf.find(row)
                if kept is not None:
                    yield row, kept
                    continue
                try:
                    yield row, self._run(row, Path(scratch))
                except StoppedError:
                    return

    def _run(self, row: Row, scratch: Path) -> Result:
        reason = reason_left_out(row, self.shelf.size)
        if reason:
            return self._left_out(row, reason)
        self._prepare(row)
        job = self._job = Job(row, self.shelf, self.n_workers, scratch, earlier=self._earlier(row))
        job.show = lambda text: self._show(f"{row.id}: {text}")
        if self.is_stopped:
            job.stop()
        try:
            result = job.signed(run_row(job))
        except LeftOutError as error:
            return self._left_out(row, str(error))
        finally:
            self._job = None
        self.shelf.keep(result)
        return result

    def _earlier(self, row: Row) -> Result | None:
        """What a row goes on from: the games of an interrupted run, or those that it had before it was to have more."""
        found = [self.shelf.find_part(row), None if self._force else self.shelf.find_fewer(row)]
        return max((each for each in found if each), key=lambda each: len(each.games), default=None)

    def _left_out(self, row: Row, reason: str) -> Result:
        return Result(row.id, row.digest(self.shelf.size), self.shelf.seed, left_out=reason)

    def _prepare(self, row: Row) -> None:
        """Compile what the row needs before any clock runs."""
        groups = {PLAY}
        if row.kind in ("solve", "regret"):
            groups.add(SOLVER)
        if row.player and not is_trained(row.player):
            groups |= set(groups_of([row.player]))
        if row.lesson is not None:
            groups |= set(make_config(row.lesson, row.rules(self.shelf.size), self.shelf.seed).groups)
        prepare(self._say, *sorted(groups))


def _check_training(row: Row, shelf: Shelf) -> None:
    """Raise FileError for a training with an unknown method or a wrong option, before hours of other rows."""
    if row.lesson is None:
        return
    try:
        rules = row.rules(shelf.size)
        config = make_config(row.lesson, rules, shelf.seed)
        if row.amount(shelf.size):
            config.check(rules)
    except LabError as error:
        raise FileError(f"study {shelf.study.name}, row {row.id}: {error}") from None


def _check_player(row: Row, shelf: Shelf) -> None:
    """Raise FileError for a player that cannot play its row, before hours of other rows."""
    from lab2048.studies.run.solve import TABLE

    if not row.player or is_trained(row.player):
        return
    try:
        name = row.player.partition(":")[0]
        if name not in names() and nearest(name, names(), " ") != " ":
            make_player(row.player)  # a slip, and not a player of another version
        if reason_left_out(row, shelf.size):
            return
        if TABLE in row.player or WEIGHTS in row.player:
            make_player(row.player)  # what it plays by is yet to be made
        else:
            fit_player(row.player, row.rules(shelf.size))
    except LabError as error:
        raise FileError(f"study {shelf.study.name}, row {row.id}: {error}") from None


def run_row(job: Job) -> Result:
    """Run a row by its kind."""
    from lab2048.studies.run.bound import run_bound
    from lab2048.studies.run.match import run_match
    from lab2048.studies.run.solve import run_regret, run_solve
    from lab2048.studies.run.threads import run_threads
    from lab2048.studies.run.training import run_train

    kinds = {
        "match": run_match,
        "solve": run_solve,
        "regret": run_regret,
        "threads": run_threads,
        "train": run_train,
        "bound": run_bound,
    }
    return kinds[job.row.kind](job)

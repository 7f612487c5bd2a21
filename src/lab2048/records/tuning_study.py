"""Store the trials of a tuning in a SQLite file that Optuna and its dashboard can read.

A study is identified by everything that affects its trials, so the same command finds it again.
Only finished trials are stored, each in one transaction, so the program may be killed at any time.
No code is loaded from the file: no pickles.
"""

import contextlib
import hashlib
import json
import math
import sqlite3
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from lab2048.errors import StoreError, StoreNotFoundError, reason_of
from lab2048.extras import need
from lab2048.records.database import BUSY_SECONDS, data_folder, default_path, make_data_folder
from lab2048.records.input_file import open_file
from lab2048.records.process_lock import ProcessLock

if TYPE_CHECKING:
    import optuna

LIMIT = 3.0  # range of a coordinate; Optuna's first steps are a third of it

_TABLES = {
    "alembic_version", "studies", "study_directions", "study_system_attributes", "study_user_attributes",
    "trial_heartbeats", "trial_intermediate_values", "trial_params", "trial_system_attributes",
    "trial_user_attributes", "trial_values", "trials", "version_info",
}  # fmt: skip
_MAGIC = b"SQLite format 3\0"
_OTHER = "use another study file"


class Trial(NamedTuple):
    """One point in parameter space, and the result of its games."""

    number: int  # 0 is the original evaluator
    generation: int
    params: Mapping[str, float]
    value: float  # of the objective
    facts: Mapping[str, Any]  # for people who inspect the study: mean score, rate of the goal


def load_optuna() -> Any:
    """Import Optuna on first use (it takes half a second) and silence its log; needs the extra `tune`."""
    need("tune")
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    return optuna


def study_path() -> Path:
    """Return the default file, next to the game store."""
    return default_path().with_name("tuning.sqlite")


class TuningStudy:
    """The finished trials of one tuning."""

    def __init__(self, path: Path, identity: Mapping[str, Any]) -> None:
        """Open the study with this identity, or create it."""
        text = json.dumps(identity, sort_keys=True)
        self.path = path
        self.id = hashlib.sha256(text.encode()).hexdigest()[:12]
        self.trials: dict[int, Trial] = {}
        self._optuna = load_optuna()
        # Optuna creates one table after the other: a second tuning would find half of them.
        lock = ProcessLock(path.with_name(f"{path.name}.lock"), is_removed=True)
        with self._explained(), lock.wait():
            self._study = self._open(f"{identity['evaluator']['name']}-{self.id}", identity)
            for kept in self._study.get_trials(deepcopy=False, states=(self._optuna.trial.TrialState.COMPLETE,)):
                self._count(kept)

    def keep(self, trial: Trial) -> None:
        optuna = self._optuna
        distributions = {name: optuna.distributions.FloatDistribution(-LIMIT, LIMIT) for name in trial.params}
        frozen = optuna.trial.create_trial(
            params=dict(trial.params),
            distributions=distributions,
            value=trial.value,
            user_attrs={"number": trial.number, "generation": trial.generation, **trial.facts},
        )
        with self._explained():
            self._study.add_trial(frozen)
        self.trials[trial.number] = trial

    def _count(self, kept: "optuna.trial.FrozenTrial") -> None:
        facts = dict(kept.user_attrs)
        number, generation = facts.pop("number", None), facts.pop("generation", None)
        values = [kept.value, facts.get("mean_score"), *kept.params.values()]
        is_whole = all(type(each) is int and 0 <= each < 2**53 for each in (number, generation))
        if is_whole and all(isinstance(value, int | float) and math.isfinite(value) for value in values):
            self.trials[number] = Trial(number, generation, dict(kept.params), float(kept.value or 0), facts)

    def _open(self, name: str, identity: Mapping[str, Any]) -> "optuna.Study":
        check_file(self.path)
        storages = self._optuna.storages
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # deprecation warnings of SQLAlchemy do not help users
            # Connect by path, because some characters have a special meaning in a URL.
            storage = storages.RDBStorage("sqlite:///study.sqlite", engine_kwargs={"creator": self._connect})
            self._close = storage.engine.dispose
            study: optuna.Study = self._optuna.create_study(
                study_name=name, storage=storage, direction="maximize", load_if_exists=True
            )
        if study.user_attrs.get("identity") != identity:
            study.set_user_attr("identity", dict(identity))
        return study

    def _connect(self) -> sqlite3.Connection:
        return sqlite3.connect(self.path, timeout=BUSY_SECONDS, check_same_thread=False)

    def close(self) -> None:
        self._close()

    @contextlib.contextmanager
    def _explained(self) -> Iterator[None]:
        """Convert errors of Optuna and SQLite to a one-line StoreError."""
        try:
            yield
        except StoreError:
            raise
        except Exception as error:
            cause = error.__cause__ or error
            reason = str(cause).splitlines()[0] if str(cause) else type(error).__name__
            raise StoreError(
                f"the study file {self.path} cannot be used ({reason}); saved trials are safe",
                code="study.unusable",
                hint=_OTHER,
            ) from error


def check_file(path: Path) -> None:
    """Raise StoreError for a file that is not a study file, before anything is written."""
    if path.parent == data_folder():
        make_data_folder()
    if not path.parent.is_dir():
        raise StoreNotFoundError(
            f"there is no folder {path.parent}", code="study.not_found", hint=f"create it, or {_OTHER}"
        )
    try:
        with open_file(path) as file:
            start = file.read(len(_MAGIC))
    except FileNotFoundError:
        return
    except OSError as error:
        raise StoreError(f"{path} cannot be used: {reason_of(error)}", code="study.unusable", hint=_OTHER) from None
    if not start:
        return
    if start != _MAGIC:
        raise StoreError(f"{path} is not a study file and was left unchanged", code="study.foreign", hint=_OTHER)
    try:
        names = _tables(path)
    except (sqlite3.Error, ValueError) as error:
        raise StoreError(f"the study file {path} is damaged ({error})", code="study.unusable", hint=_OTHER) from None
    # Optuna creates one table after the other, and a crash may come between.
    if not ({"studies", "trials"} <= names or names <= _TABLES):
        raise StoreError(
            f"{path} is a database of another program and was left unchanged", code="study.foreign", hint=_OTHER
        )


def _tables(path: Path) -> set[str]:
    """Return the names of the tables; a transaction that a crash left unfinished is rolled back first."""
    try:
        return _read_tables(path, "ro")
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_READONLY:
            raise
        return _read_tables(path, "rw")


def _read_tables(path: Path, mode: str) -> set[str]:
    address = f"{path.absolute().as_uri()}?mode={mode}"
    with contextlib.closing(sqlite3.connect(address, uri=True, timeout=BUSY_SECONDS)) as database:
        return {name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}

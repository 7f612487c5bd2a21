"""The SQLite database of a store: how to open and upgrade it, and what its errors mean.

The first bytes of a file are checked before SQLite opens it, so a file of another
program is never changed.  Every change is one transaction: it happens completely or not
at all, also when the program is killed or the disk is full.
"""

import contextlib
import os
import shutil
import sqlite3
import tempfile
import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import platformdirs

from lab2048.errors import StoreError, StoreNotFoundError, reason_of
from lab2048.records.schema import (
    APPLICATION_ID,
    UPGRADES,
    VERSION,
    add_temporary_tables,
    create_tables,
    upgrade_tables,
    version_of,
)

STORE_VARIABLE = "LAB2048_STORE"  # names the store to use
BUSY_SECONDS = 5.0  # how long to wait for another program that is writing
_MAGIC = b"SQLite format 3\0"
_HEADER_SIZE = 100
_USE_OTHER = "use another store"
USE_COPY = f"restore a copy, or {_USE_OTHER}"


def data_folder() -> Path:
    """Return the folder of the user's own store."""
    return platformdirs.user_data_path("lab2048", appauthor=False)


def make_data_folder() -> None:
    """Create the data folder, which only its owner can look into: it holds games and the token of the server."""
    data_folder().mkdir(mode=0o700, parents=True, exist_ok=True)


def default_path() -> Path:
    """Return the store to use when none is named: LAB2048_STORE, or a file in the user's data folder."""
    named = os.environ.get(STORE_VARIABLE)
    return Path(named) if named else data_folder() / "games.sqlite"


# Files of this process: how many databases have each open, and its handle for reading the header.  On POSIX systems,
# closing any handle of a file gives up all locks of the process on it, also those of SQLite: another program would
# write while this one reads.  So the handle is closed after the last database.
_FileId = tuple[int, int]
_files_lock = threading.RLock()
_n_open: Counter[_FileId] = Counter()
_handles: dict[_FileId, IO[bytes]] = {}


def _file_id(path: Path) -> _FileId:
    found = path.stat()
    return found.st_dev, found.st_ino


class Database(sqlite3.Connection):
    """A connection that notes which file it has open."""

    _file: _FileId | None = None
    copy: Path | None = None  # the folder of the copy that it reads, deleted at the end

    def note(self, path: Path) -> None:
        with _files_lock:
            self._file = _file_id(path)
            _n_open[self._file] += 1

    def check_file(self, path: Path) -> None:
        """Raise StoreError if another file, or none, is at the path now: what is written would be lost."""
        try:
            is_there = _file_id(path) == self._file
        except OSError:
            is_there = False
        if not is_there:
            raise StoreError(
                f"the store {path} was moved, deleted or replaced while it was in use",
                code="store.replaced",
                hint="put the file back, or restart lab2048",
            )

    def close(self) -> None:
        super().close()
        with _files_lock:
            file, self._file = self._file, None
            if file is not None:
                _n_open[file] -= 1
                if not _n_open[file] and file in _handles:
                    _handles.pop(file).close()
        if self.copy:
            shutil.rmtree(self.copy, ignore_errors=True)


def _read_header(path: Path) -> bytes:
    """Read the first bytes of a file."""
    with _files_lock:
        file = _file_id(path)
        if not _n_open[file]:
            with path.open("rb") as handle:
                return handle.read(_HEADER_SIZE)
        if file not in _handles:
            _handles[file] = path.open("rb", buffering=0)
        _handles[file].seek(0)
        return _handles[file].read(_HEADER_SIZE)


def connect(path: Path, *, timeout: float, create: bool) -> Database:
    """Open a store and upgrade it to this version; create it if it is missing and `create` is true."""
    with explained(path):
        _check_file(path, create=create)
        if create and path.parent == data_folder():
            make_data_folder()
        if not path.parent.is_dir():
            raise StoreNotFoundError(
                f"there is no folder {path.parent}", field="store", hint=f"create it, or {_USE_OTHER}"
            )
        try:
            return _connect(path, timeout=timeout, mode="rwc" if create else "rw")
        except sqlite3.OperationalError as error:
            if create or _code(error) not in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY):
                raise
            return _connect_unwritable(path, timeout=timeout)


def connect_reader(path: Path, *, timeout: float) -> Database:
    """Open another connection to a store that is open already; it only reads."""
    database = _open(path, path, timeout=timeout, mode="rw")
    database.execute("PRAGMA query_only = ON")
    return database


def _connect(path: Path, *, timeout: float, mode: str) -> Database:
    database = _open(path, path, timeout=timeout, mode=mode)
    try:
        _prepare(database, path)
    except BaseException:
        database.close()
        raise
    return database


def _connect_unwritable(path: Path, *, timeout: float) -> Database:
    """Open a store where nothing can be written, as on a read-only disk; SQLite would need files next to it.

    Nobody writes there, so the file does not change while it is open.  If there is a log, it holds the newest games:
    both are copied to a temporary folder, because SQLite reads a log only where it can write.
    """
    log = log_of(path)
    folder = None
    if log.exists() and log.stat().st_size:
        folder = Path(tempfile.mkdtemp(prefix="lab2048-"))
        shutil.copyfile(path, folder / path.name)
        shutil.copyfile(log, log_of(folder / path.name))
    try:
        place, mode = (folder / path.name, "rw") if folder else (path, "ro&immutable=1")
        database = _open(path, place, timeout=timeout, mode=mode)
        database.copy = folder
        try:
            _prepare(database, path)
            database.execute("PRAGMA query_only = ON")
        except BaseException:
            database.close()
            raise
    except BaseException:
        if folder:
            shutil.rmtree(folder, ignore_errors=True)
        raise
    return database


def _open(path: Path, place: Path, *, timeout: float, mode: str) -> Database:
    """Open the database at `place`, which is the store `path` or a copy of it."""
    address = f"{place.absolute().as_uri()}?mode={mode}"
    # Any thread may use a connection, one at a time: the store sees to that.
    database = sqlite3.connect(
        address, uri=True, timeout=timeout, isolation_level=None, check_same_thread=False, factory=Database
    )
    database.note(path)
    database.text_factory = _decode
    return database


def log_of(path: Path) -> Path:
    """Return the write-ahead log of a store; of a symbolic link, it is beside the file that the link points to."""
    place = Path(os.path.realpath(path))
    return place.with_name(f"{place.name}-wal")


def has_log(database: sqlite3.Connection) -> bool:
    """Return True if changes go to a write-ahead log, so that readers and writers do not wait for each other."""
    is_writable = not database.execute("PRAGMA query_only").fetchone()[0] and version_of(database) == VERSION
    return is_writable and database.execute("PRAGMA journal_mode").fetchone() == ("wal",)


@contextlib.contextmanager
def explained(path: Path) -> Iterator[None]:
    """Turn errors of the file system and of SQLite into a StoreError that says what to do."""
    try:
        yield
    except sqlite3.ProgrammingError:
        raise  # a mistake in our code, not in the file
    except sqlite3.Error as error:
        raise _explained(path, error) from error
    except UnicodeDecodeError as error:  # SQLite quotes a damaged name when it complains
        raise StoreError(f"the store {path} is damaged", code="store.damaged", hint=USE_COPY) from error
    except OSError as error:
        raise StoreError(
            f"the store {path} cannot be used: {reason_of(error)}", code="store.unusable", hint=_USE_OTHER
        ) from error


@contextlib.contextmanager
def transaction(database: sqlite3.Connection) -> Iterator[None]:
    """Commit what is written inside, or roll all of it back on an error."""
    try:
        # IMMEDIATE: a transaction that starts by reading and then writes may be refused without waiting.
        database.execute("BEGIN IMMEDIATE")
        yield
        database.execute("COMMIT")
    except BaseException:
        if database.in_transaction:
            with contextlib.suppress(sqlite3.Error):  # the first error is the one to report
                database.execute("ROLLBACK")
        raise


def _check_file(path: Path, *, create: bool) -> None:
    """Check the first bytes of the file without SQLite, which may change files next to it by opening it."""
    if path.exists() and not path.is_file():
        raise StoreError(f"the store {path} is not a file", code="store.unusable", hint=_USE_OTHER)
    if not path.exists() and not create:
        raise StoreNotFoundError(f"there is no store {path}", hint=f"play a game first, or {_USE_OTHER}")
    header = _read_header(path) if path.exists() else b""
    log = log_of(path)
    is_logged = log.exists() and log.stat().st_size > 0
    if not header:
        # SQLite would delete the log of a missing database, and the log may hold games.
        if is_logged:
            raise StoreError(
                f"the store {path} is missing, but its log {log} exists",
                code="store.damaged",
                hint="restore the file, or move the log away",
            )
        return
    if len(header) < _HEADER_SIZE or not header.startswith(_MAGIC):
        raise StoreError(
            f"{path} is not a store of games, or is damaged; it was left unchanged",
            code="store.damaged",
            hint=_USE_OTHER,
        )
    if int.from_bytes(header[68:72], "big") != APPLICATION_ID:
        raise StoreError(
            f"{path} is a database of another program and was left unchanged", code="store.foreign", hint=_USE_OTHER
        )
    _check_version(path, int.from_bytes(header[60:64], "big"))
    # While there is a log the pages may still be on their way from it into the file.  A rollback journal belongs to the
    # first transaction of a new store: SQLite undoes what a power loss left of it.
    journal = log.with_name(f"{log.name.removesuffix('-wal')}-journal")
    is_logged = is_logged or (journal.exists() and journal.stat().st_size > 0)
    page = int.from_bytes(header[16:18], "big")
    expected = int.from_bytes(header[28:32], "big") * (page if page > 1 else 65536)
    if not is_logged and path.stat().st_size < expected:
        raise StoreError(
            f"the store {path} is damaged: its end is missing; it was left unchanged",
            code="store.damaged",
            hint=_USE_OTHER,
        )


def _check_version(path: Path, version: int) -> None:
    if version != VERSION and version not in UPGRADES:
        what = f"was made by another version of lab2048 (format {version}, this one reads {VERSION})"
        raise StoreError(f"the store {path} {what}; it was left unchanged", code="store.version", hint=_USE_OTHER)


def _decode(text: bytes) -> str:
    """Decode a text; one damaged text must not make the other rows unreadable."""
    return text.decode("utf-8", "replace")


def _prepare(database: sqlite3.Connection, path: Path) -> None:
    database.execute("PRAGMA foreign_keys = ON")
    # NORMAL keeps the file whole and leaves it to `LogSync` when commits become durable.  Until there is a log, SQLite
    # makes each of them durable.
    database.execute("PRAGMA synchronous = FULL")
    if version_of(database) == 0:
        with transaction(database):
            create_tables(database)
    _check_version(path, version_of(database))
    if version_of(database) in UPGRADES:
        _upgrade(database, path)
    database.execute("SELECT 1 FROM episodes JOIN runs ON runs.id = episodes.run LIMIT 1").fetchone()
    if not has_log(database):
        # Only now, so that the header of the file itself says whose it is.  If others have the file open,
        # this is done when it is opened next; until then the rollback journal is as safe.
        try:
            database.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if _code(error) not in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_READONLY):
                raise
    if has_log(database):
        database.execute("PRAGMA synchronous = NORMAL")


def _upgrade(database: sqlite3.Connection, path: Path) -> None:
    """Upgrade a store of an earlier version in place, all or nothing; a damaged one is left as it is."""
    check_structure(database, path)
    try:
        with transaction(database):
            upgrade_tables(database)
    except sqlite3.OperationalError as error:
        if _code(error) != sqlite3.SQLITE_READONLY:
            raise
        add_temporary_tables(database)  # a file that can only be read stays as it is


def check_structure(database: sqlite3.Connection, path: Path) -> None:
    """Read the whole file and raise StoreError if its structure is damaged; takes seconds on a large store."""
    found = database.execute("PRAGMA quick_check(1)").fetchone()[0]
    if found != "ok":
        raise StoreError(
            f"the store {path} is damaged ({' '.join(found.split())})", code="store.damaged", hint=USE_COPY
        )


def _code(error: sqlite3.Error) -> int:
    """Return the primary result code of SQLite, or 0 if the error has none."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF


def _explained(path: Path, error: sqlite3.Error) -> StoreError:
    match _code(error):
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            hint = f"close it, or {_USE_OTHER}"
            return StoreError(f"the store {path} is locked by another program", code="store.locked", hint=hint)
        case sqlite3.SQLITE_FULL:
            hint = "free some space and try again; saved games are safe"
            return StoreError(f"the disk of {path} is full", code="store.full", hint=hint)
        case sqlite3.SQLITE_IOERR:
            hint = "is the disk full? Saved games are safe"
            return StoreError(f"the store {path} cannot be read or written ({error})", code="store.io", hint=hint)
        case sqlite3.SQLITE_CANTOPEN | sqlite3.SQLITE_READONLY | sqlite3.SQLITE_PERM | sqlite3.SQLITE_AUTH:
            hint = f"change its permissions, or {_USE_OTHER}"
            return StoreError(f"the store {path} cannot be written ({error})", code="store.unwritable", hint=hint)
        case _:
            return StoreError(f"the store {path} is damaged ({error})", code="store.damaged", hint=USE_COPY)

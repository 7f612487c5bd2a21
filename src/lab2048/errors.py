"""Error classes: each error is a one-line message and data.

Every error has a `code` (stable, such as "board.too_large"), a `field` (the invalid parameter, or None) and a `hint`
(what to do, or None).  Programs check the class or the code, never the text of a message.  Messages and hints
never name a command-line option; a hint may name a parameter of the library, such as force=True.  The command line
names its options instead (`cli/hints.py`).
"""

import contextlib
import difflib
import errno
import os
from collections.abc import Iterable, Iterator
from types import CodeType
from typing import Any

_PACKAGE = __file__.removesuffix("errors.py")
_CALLERS = (_PACKAGE, "<frozen importlib")  # prefixes of the files that call a user's code
_IMPORTS = (f"{_PACKAGE}players{os.sep}player_file.py", "<frozen")  # and of those that an import passes through
_SIMILARITY = 0.65  # of two words, from 0 to 1: "extra" is not meant for "train"
_FULL = (errno.ENOSPC, errno.EFBIG, errno.EDQUOT)
_REASONS = {
    FileNotFoundError: "it does not exist",
    IsADirectoryError: "it is a folder",
    NotADirectoryError: "a part of its path is a file",
    PermissionError: "permission denied",
}


class LabError(Exception):
    """The base class of all errors of lab2048; raised itself for internal failures.

    >>> import lab2048 as lab
    >>> try:
    ...     lab.player("randm")
    ... except lab.LabError as error:
    ...     print(error, error.code)
    unknown player 'randm': did you mean random? player.unknown
    """

    code = "error"
    exit_code = 1

    def __init__(
        self, message: str, *, code: str | None = None, field: str | None = None, hint: str | None = None
    ) -> None:
        """Say what was wrong and what was expected; `code` refines the code of the class."""
        super().__init__(message)
        self.message = message
        self.code = code or type(self).code
        self.field = field
        self.hint = hint
        self.trace = ""  # traceback of the user's own code, if that failed (see `users_code`)

    def __str__(self) -> str:
        """Return the message, followed by the hint."""
        return f"{self.message}; {self.hint}" if self.hint else self.message

    def __reduce__(self) -> tuple[Any, ...]:
        """Make errors picklable, whatever arguments the subclass takes."""
        return _rebuild, (type(self), self.args, self.__dict__)

    def to_json(self) -> dict[str, str | None]:
        """Return the message and its data as JSON, as the API sends them.

        >>> UnknownNameError("player", "randm", ["random"]).to_json()["code"]
        'player.unknown'
        """
        return {"error": str(self), "code": self.code, "field": self.field, "hint": self.hint}


class UsageError(LabError):
    """A parameter or a combination of parameters is not accepted."""

    code = "usage"
    exit_code = 2

    def __init__(
        self, message: str, *, code: str | None = None, field: str | None = None, hint: str | None = None
    ) -> None:
        """Set the code to that of the field, such as goal.invalid, unless one is given."""
        super().__init__(message, code=code or (f"{field}.invalid" if field else None), field=field, hint=hint)


class UnknownNameError(UsageError):
    """A name is not one of the known ones.

    >>> error = UnknownNameError("player", "randm", ["first", "random"])
    >>> str(error), error.code, error.field
    ("unknown player 'randm': did you mean random?", 'player.unknown', 'player')
    """

    code = "unknown"

    def __init__(
        self, field: str, name: object, known: Iterable[str], otherwise: str = "", *, hint: str | None = None
    ) -> None:
        """Say what was expected as `unknown` does."""
        super().__init__(unknown(field, name, known, otherwise), code=f"{field}.unknown", field=field, hint=hint)


class OutOfRangeError(UsageError):
    """A number is too small or too large.

    >>> error = OutOfRangeError("seed", -1, "0 to 9")
    >>> str(error), error.code, error.field
    ('seed -1 is out of range: expected 0 to 9', 'seed.out_of_range', 'seed')
    """

    code = "out_of_range"

    def __init__(self, field: str, value: object, expected: str) -> None:
        """Say which numbers are `expected`: 1 to 10, above 0."""
        message = f"{field} {value} is out of range: expected {expected}"
        super().__init__(message, code=f"{field}.out_of_range", field=field)


class MissingPackageError(UsageError):
    """An optional package is not installed."""

    code = "package.missing"


class RequirementError(LabError):
    """A required figure was not reached."""

    code = "requirement.missed"
    exit_code = 4


class BoardError(LabError):
    """A board, a map or a shape cannot be played."""

    code = "board"
    exit_code = 3

    def __init__(
        self, message: str, *, code: str | None = None, field: str | None = "board", hint: str | None = None
    ) -> None:
        """Set `field` to "board" by default."""
        super().__init__(message, code=code, field=field, hint=hint)


class IllegalMoveError(BoardError):
    """A move changes nothing, or does not exist."""

    code = "move.illegal"

    def __init__(self, message: str) -> None:
        """Set `field` to "move"."""
        super().__init__(message, field="move")


class FileError(LabError):
    """A file or a record cannot be read, written or trusted."""

    code = "file"
    exit_code = 3


class TargetExistsError(FileError):
    """The file to write exists already."""

    code = "file.exists"

    def __init__(self, message: str) -> None:
        """Add the hint for Python; the command line has its own."""
        super().__init__(message, hint="choose another name, or pass force=True to replace it")


class UnwritableError(FileError):
    """The disk is full, broken or read-only: nothing is wrong with what was asked."""

    code = "file.unwritable"


class PlayerError(FileError):
    """A player fails, or breaks the contract of players."""

    code = "player.failed"


class PlayerFileWarning(UserWarning):
    """A file of the players folder does not load; all else works."""


class StoreError(FileError):
    """The store of games is damaged, locked, full or belongs to another program."""

    code = "store"


class StoreNotFoundError(StoreError):
    """The store, or a game in it, does not exist."""

    code = "store.not_found"


class GameDeletedError(StoreError):
    """The game is no longer in the store, so it cannot be saved there."""

    code = "game.deleted"


class GameChangedError(StoreError):
    """The stored game is not as it was saved last: another program has changed it."""

    code = "game.changed"


class SessionEndedError(LabError):
    """The session is closed, or its game was deleted: no more moves can be made."""

    code = "session.ended"


class RevisionError(LabError):
    """The game has changed since the revision that a request refers to."""

    code = "game.revision"


class StoppedError(LabError):
    """Work was asked to stop before it was done (see lab2048.stop_flag)."""

    code = "stopped"


class JobNotFoundError(LabError):
    """There is no such job."""

    code = "job.not_found"


class JobConflictError(LabError):
    """The state of a job does not allow this."""

    code = "job.conflict"


def unknown(what: str, name: object, known: Iterable[str] = (), otherwise: str = "") -> str:
    """Return the message for a name that is not one of those known.

    >>> unknown("player", "zzz", ["first", "random"])
    "unknown player 'zzz': expected one of first, random"
    >>> unknown("move", 7, otherwise="expected 0 to 3")
    'unknown move 7: expected 0 to 3'
    """
    return f"unknown {what} {name!r}: {nearest(str(name), known, otherwise)}"


def nearest(word: str, known: Iterable[str], otherwise: str = "", *, prefix: str = "") -> str:
    """Return the end of an error message: the known word that was probably meant, else `otherwise` or all known words.

    >>> nearest("randm", ["first", "random"])
    'did you mean random?'
    >>> nearest("zzz", ["first", "random"])
    'expected one of first, random'
    >>> nearest("zzz", ["first", "random"], "expected a player")
    'expected a player'
    """
    words = sorted(known)
    if close := closest(word, words, prefix=prefix):
        return f"did you mean {close}?"
    if otherwise or not words:
        return otherwise or "there are none"
    return f"expected {'one of ' if len(words) > 1 else ''}{', '.join(words)}"


def closest(word: str, known: Iterable[str], *, prefix: str = "") -> str:
    """Return the known word that is most like this one; empty if none is.

    A `prefix` that all words share does not count as similarity.

    >>> closest("randm", ["first", "random"]), closest("zzz", ["first", "random"])
    ('random', '')
    >>> closest("TILE_ZOO", ["TILE_ONE"]), closest("TILE_ZOO", ["TILE_ONE"], prefix="TILE_")
    ('TILE_ONE', '')
    """
    words = {each.removeprefix(prefix): each for each in known}
    close = difflib.get_close_matches(word.removeprefix(prefix), words, n=1, cutoff=_SIMILARITY)
    return words[close[0]] if close else ""


def reason_of(error: OSError | UnicodeDecodeError) -> str:
    """Return why a file could not be read or written.

    >>> reason_of(FileNotFoundError(2, "No such file or directory")), reason_of(OSError(28, "No space left on device"))
    ('it does not exist', 'the disk is full')
    """
    if isinstance(error, UnicodeDecodeError):
        return "it is not UTF-8 text"
    if error.errno in _FULL:
        return "the disk is full"
    return _REASONS.get(type(error)) or error.strerror or type(error).__name__


@contextlib.contextmanager
def users_code(
    what: str, kind: type[LabError] = PlayerError, *, kept: tuple[type[LabError], ...] = (LabError,)
) -> Iterator[None]:
    """Turn an exception in the user's own code into one that says what failed, in which file and line, and why.

    Its `trace` begins with the first frame of that code.  Errors of `kept` classes stay what they are, and get a trace.
    """
    try:
        yield
    except kept as error:
        error.trace = error.trace or _trace_of(error)
        raise
    except (Exception, SystemExit) as error:
        place = _place_of(error)
        if place.partition(", ")[0] in what:  # the file is named already
            place = place.partition(", ")[2]
        failure = kind(f"{what}: {place}{type(error).__name__}: {error}")
        failure.trace = _trace_of(error)
        raise failure from error


def _trace_of(error: BaseException) -> str:
    """Return the traceback from the first frame of the user's code on; empty if it is not in the traceback."""
    import traceback

    frame = error.__traceback__
    while frame is not None and _is_ours(frame.tb_frame.f_code):
        frame = frame.tb_next
    is_users = frame is not None or isinstance(error, SyntaxError)  # which has no frame, and says itself where it is
    told = traceback.TracebackException(type(error), error, frame)
    told.stack = traceback.StackSummary.from_list(
        [spot for spot in told.stack if not spot.filename.startswith(_IMPORTS)]
    )
    return "".join(told.format()) if is_users else ""


def _is_ours(code: CodeType) -> bool:
    is_generated = code.co_filename == "<string>" and code.co_name == "__init__"  # by a dataclass
    return code.co_filename.startswith(_CALLERS) or is_generated


def _place_of(error: BaseException) -> str:
    """Return the file and line that raised an error, as the beginning of a message."""
    import traceback

    spots = [spot for spot in traceback.extract_tb(error.__traceback__) if not spot.filename.startswith(_IMPORTS)]
    is_elsewhere = isinstance(error, SyntaxError) or not spots
    return "" if is_elsewhere else f"{spots[-1].filename}, line {spots[-1].lineno}: "


def _rebuild(cls: type[LabError], args: tuple[Any, ...], state: dict[str, Any]) -> LabError:
    error = cls.__new__(cls, *args)
    error.args = args
    error.__dict__.update(state)
    return error

"""Everything that can go wrong, as a small tree.

Each error says what was wrong and what was expected, in one line that a user
can act on.  The command line turns it into that line and an exit code; nothing
else in the laboratory prints or exits.
"""

import difflib
from collections.abc import Iterable

_ALIKE = 0.65  # of two words, from 0 to 1: "extra" is not meant for "train"


class LabError(Exception):
    """The root: something failed that is not the user's fault."""

    exit_code = 1


class UsageError(LabError):
    """A word, an option or a number that the laboratory does not take."""

    exit_code = 2


class RequirementError(LabError):
    """A figure that was required and not reached."""

    exit_code = 4


class BoardError(LabError):
    """A board, a map or a shape that cannot be played."""

    exit_code = 3


class IllegalMoveError(BoardError):
    """A move that would change nothing."""


class FileError(LabError):
    """A file or a record that cannot be read, written or believed."""

    exit_code = 3


class PlayerError(FileError):
    """A player that fails or does what players must not."""


class StoreError(FileError):
    """The store of games is damaged, locked, full or of another program."""


def nearest(word: str, known: Iterable[str]) -> str:
    """Say which known words there are, the most similar first: the tail of an error.

    >>> nearest("randm", ["first", "random"])
    'did you mean random?'
    >>> nearest("zzz", ["first", "random"])
    'known: first, random'
    """
    words = sorted(known)
    close = difflib.get_close_matches(word, words, n=1, cutoff=_ALIKE)
    return f"did you mean {close[0]}?" if close else f"known: {', '.join(words) or 'none'}"

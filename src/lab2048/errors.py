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


class JobNotFoundError(LabError):
    """There is no such job."""


class JobConflictError(LabError):
    """It cannot be done with a job as it stands."""


def nearest(word: str, known: Iterable[str], otherwise: str = "", *, prefix: str = "") -> str:
    """Say which known word may have been meant, or else which there are: the tail of an error.

    `otherwise` is said in place of all the known words.  A `prefix` that all have makes none of them alike.

    >>> nearest("randm", ["first", "random"])
    'did you mean random?'
    >>> nearest("zzz", ["first", "random"])
    'known: first, random'
    >>> nearest("zzz", ["first", "random"], "expected a player")
    'expected a player'
    >>> nearest("TILE_ZOO", ["TILE_ONE"]), nearest("TILE_ZOO", ["TILE_ONE"], prefix="TILE_")
    ('did you mean TILE_ONE?', 'known: TILE_ONE')
    """
    words = {each.removeprefix(prefix): each for each in sorted(known)}
    close = difflib.get_close_matches(word.removeprefix(prefix), words, n=1, cutoff=_ALIKE)
    if close:
        return f"did you mean {words[close[0]]}?"
    return otherwise or f"known: {', '.join(words.values()) or 'none'}"

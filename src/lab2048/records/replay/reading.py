"""Read a replay of another program, whichever it is."""

from lab2048.errors import FileError
from lab2048.records.replay.letters import read_new, read_old
from lab2048.records.replay.rpl1 import read_rpl1
from lab2048.records.replay.tablebase import read_tablebase
from lab2048.rules import Game

PROGRAMS = "2048verse, 2048next, 2048league and 2048EndgameTablebase"


def read_replay(data: bytes) -> Game:
    """Return the game of a replay; raise FileError if it is none, or breaks a rule.

    >>> read_replay(b" !").board
    Board('2###|2###|####|####')
    """
    found = read_tablebase(data)
    if found:
        return found.to_game()
    try:
        text = data.decode("utf-8-sig").strip("\r\n\t\0")
    except UnicodeDecodeError:
        raise FileError(f"not a replay: expected one of {PROGRAMS}") from None
    found = read_rpl1(text) or read_new(text)
    if found:
        return found.to_game()
    last: FileError | None = None
    for candidate in read_old(text):
        try:
            return candidate.to_game()
        except FileError as error:
            last = error
    raise last or FileError(f"not a replay: expected one of {PROGRAMS}")

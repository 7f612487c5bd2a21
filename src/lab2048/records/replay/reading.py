"""Read a replay of another program, whichever it is."""

from lab2048.errors import FileError
from lab2048.records.episode import Episode
from lab2048.records.replay.letters import LEAGUE, NEW_FORM, VERSE, read_new, read_old
from lab2048.records.replay.replay import Replay
from lab2048.records.replay.rpl1 import PREFIX, read_rpl1
from lab2048.records.replay.tablebase import read_tablebase
from lab2048.rules import Game

PROGRAMS = "2048verse, 2048next, 2048league and 2048EndgameTablebase"


def read_replay(data: bytes) -> Game:
    """Return the game of a replay; raise FileError if it is none, or breaks a rule.

    >>> read_replay(b" !").board
    Board('2###|2###|####|####')
    """
    return _prove(data)[1]


def read_episode(data: bytes) -> Episode:
    """Return the record of a replay, whose player is the program that it comes from; raise FileError as above.

    >>> read_episode(b" !d").player
    '2048league'
    """
    replay, game = _prove(data)
    if not game.turns:
        raise FileError("the replay has no moves")
    return Episode.from_game(game, replay.program, 0.0)


def is_named(text: str) -> bool:
    """Return True if a text begins as a replay does whose form has a name; other forms may begin with any letter.

    >>> is_named("4x4-x_"), is_named("game.rpl")
    (True, False)
    """
    return text.startswith((PREFIX, "replay")) or NEW_FORM.fullmatch(text) is not None


def _prove(data: bytes) -> tuple[Replay, Game]:
    found = read_tablebase(data)
    if found:
        return found, found.to_game()
    try:
        text = data.decode("utf-8-sig").strip("\r\n\t\0")
    except UnicodeDecodeError:
        raise FileError(f"not a replay: expected one of {PROGRAMS}") from None
    found = read_rpl1(text) or read_new(text)
    if found:
        return found, found.to_game()
    try:
        candidates = read_old(text)
    except FileError as error:
        raise FileError(f"as a replay of {LEAGUE} or {VERSE}: {error}", code="game.invalid") from None
    last: FileError | None = None
    for candidate in candidates:
        try:
            return candidate, candidate.to_game()
        except FileError as error:
            last = FileError(f"as a replay of {candidate.program}: {error}", code="game.invalid")
    raise last or FileError(f"not a replay: expected one of {PROGRAMS}")

"""Read a replay of another program, whichever it is."""

from dataclasses import replace

from lab2048.errors import FileError
from lab2048.records.episode import Episode
from lab2048.records.replay.letters import LEAGUE, NEW_FORM, VERSE, read_new, read_old
from lab2048.records.replay.replay import Replay
from lab2048.records.replay.rpl1 import PREFIX, read_rpl1
from lab2048.records.replay.tablebase import read_tablebase
from lab2048.rules import Game

N_BY_CHANCE = 10  # moves; a letter of a text is a possible move about every other time
PROGRAMS = "2048verse, 2048next, 2048league and 2048EndgameTablebase"
NO_REPLAY = f"not a replay: expected one of {PROGRAMS}"


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


def is_likely(text: str) -> bool:
    """Return True if a text is a replay or begins as one, with more possible moves than other texts have by chance.

    >>> is_likely("4x4-x_"), is_likely("game.rpl")
    (True, False)
    """
    if is_named(text):
        return True
    try:
        return any(map(_begins_well, read_old(text)))
    except FileError:
        return False


def _prove(data: bytes) -> tuple[Replay, Game]:
    found = read_tablebase(data)
    if found:
        return found, found.to_game()
    try:
        text = data.decode("utf-8-sig").strip("\r\n\t\0")
    except UnicodeDecodeError:
        raise FileError(NO_REPLAY) from None
    found = read_rpl1(text) or read_new(text)
    if found:
        return found, found.to_game()
    try:
        candidates = read_old(text)
    except FileError as error:
        if not is_named(text):
            raise FileError(NO_REPLAY) from None
        raise FileError(f"as a replay of {LEAGUE} or {VERSE}: {error}", code="game.invalid") from None
    likeliest: FileError | None = None
    for candidate in candidates:
        # Skipping the header of 7 letters leaves so little of a short text that it may be a legal game by chance.
        if candidate.program == VERSE and not is_named(text) and len(candidate.steps) <= N_BY_CHANCE:
            continue
        try:
            return candidate, candidate.to_game()
        except FileError as error:
            if not likeliest and (is_named(text) or _begins_well(candidate)):
                likeliest = FileError(f"as a replay of {candidate.program}: {error}", code="game.invalid")
    raise likeliest or FileError(NO_REPLAY)


def _begins_well(replay: Replay) -> bool:
    """Return True if a replay has more possible moves than a text of any other kind has by chance."""
    try:
        replace(replay, steps=replay.steps[:N_BY_CHANCE]).to_game()
    except FileError:
        return False
    return len(replay.steps) > N_BY_CHANCE

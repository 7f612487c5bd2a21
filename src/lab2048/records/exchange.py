"""Export games as JSON lines; import them, and replays of other programs.

A line is an episode as `Episode.to_json` returns it, plus its provenance, or a replay as text.  A file may also be one
replay as a whole.  All of it is untrusted: it is limited in size, checked and replayed, and a bad line does not affect
the others.
"""

import contextlib
import io
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, cast

from lab2048.errors import FileError, LabError, reason_of
from lab2048.records.disk_space import check_free
from lab2048.records.episode import MAX_MOVES, Episode
from lab2048.records.input_file import parse_json, read_bytes
from lab2048.records.provenance import check_provenance
from lab2048.records.replay.reading import NO_REPLAY, is_likely, is_named, read_episode
from lab2048.records.store import Store, StoredGame

MAX_LINE = MAX_MOVES + 1_000_000  # bytes; a strong game of 30,000 moves takes 31,000
MAX_PLAYER = 1000
MAX_IDS = 1000  # of imported games that are listed

# Imported games are stored in batches: little is lost on interruption, and little memory is used.
_BATCH_GAMES = 500
_BATCH_MOVES = 200_000  # a few seconds of replaying
_CHECK_MOVES = 1000
_MARK = b"\xef\xbb\xbf"  # byte order mark
_OBJECT = re.compile(rb'^[ \t]*\{[ \t]*"\w+"[ \t]*:', re.MULTILINE)  # a line of JSON; by chance in no binary file

Incoming = tuple[Episode, dict[str, Any]]  # a game and its provenance


@dataclass
class ImportCounts:
    """The counts of an import so far."""

    imported: int = 0
    already: int = 0
    refused: int = 0
    ids: list[int] = field(default_factory=list)  # of the first games, new or there already

    def __str__(self) -> str:
        return f"imported {self.imported}, already present {self.already}, rejected {self.refused}"


def write_line(stored: StoredGame) -> str:
    """Return one game as a line of JSON, without a newline."""
    return json.dumps({**stored.episode.to_json(), "provenance": stored.provenance}, allow_nan=False)


def read_line(line: bytes, check: Callable[[], None] = lambda: None) -> Incoming:
    """Parse a line of `write_line` and replay the game; raise FileError if anything is wrong.

    `check` is called often while a long game is replayed, and may raise an error to stop.
    """
    with _explained():
        data = parse_json(line.decode("utf-8"))
        episode = Episode.from_json(data)
        origin = check_provenance(data.get("provenance", {}))
        _check_names(episode)
        turns = episode.replay()
    n_replayed = _CHECK_MOVES
    while n_replayed == _CHECK_MOVES:
        with _explained():
            n_replayed = sum(1 for _ in islice(turns, _CHECK_MOVES))
        check()
    return episode, origin


def read_game(data: bytes, check: Callable[[], None] = lambda: None) -> Incoming:
    """Read a line as `read_line` does, or a replay of another program; raise FileError if anything is wrong."""
    if data.removeprefix(_MARK).lstrip().startswith(b"{"):
        return read_line(data.removeprefix(_MARK), check)
    with _explained():
        episode = read_episode(data)
    return episode, {"program": episode.player}


def read_single(data: bytes, name: str) -> Episode:
    """Read the only game of a file, in any form; raise FileError, which begins with `name`, if anything is wrong."""
    lines = [line for line in data.splitlines() if line.strip()]
    if data.lstrip().startswith(b"{") and len(lines) != 1:
        raise FileError(f"{name} has {len(lines)} games: expected one, as lab2048 games export 12 writes it")
    try:
        return read_game(data)[0]
    except FileError as error:
        raise FileError(f"{name}: {error}") from None


def find_game(source: str | Path) -> Episode:
    """Read a game from a file, or from the text itself if that is a game or a replay and no file."""
    name = str(source)[:200]
    try:
        return read_single(read_bytes(Path(source)), str(source))
    except OSError as error:
        reason = reason_of(error)
    except ValueError:
        name, reason = ascii(name), "no file can have such a name"
    if isinstance(source, Path) or not (source.startswith("{") or is_likely(source)):
        raise FileError(f"{name} cannot be read: {reason}", code="file.unreadable")
    return read_single(source.encode("utf-8", "surrogatepass"), "the replay")


@contextlib.contextmanager
def _explained() -> Iterator[None]:
    """Turn whatever a bad line causes into a FileError."""
    try:
        yield
    except UnicodeDecodeError as error:
        raise FileError(f"not UTF-8 text at byte {error.start + 1}") from None
    except json.JSONDecodeError as error:
        raise FileError(f"not JSON at column {error.colno}: {error.msg}") from None
    except ValueError as error:
        raise FileError(f"not an episode: {error}") from None
    except LabError as error:
        raise FileError(_shorten(str(error))) from None


def import_lines(
    store: Store,
    stream: BinaryIO,
    counts: ImportCounts,
    *,
    refuse: Callable[[int, str], None],
    progress: Callable[[], None] = lambda: None,
    check: Callable[[], None] = lambda: None,
    is_one_batch: bool = False,
) -> None:
    """Store every game of a stream; call `refuse` with the line number and reason for each invalid line.

    The number is 0 if the stream is one replay as a whole.

    `counts` is updated as batches are stored, so it is correct even if an error ends the import;
    `progress` is called after each batch.  `check` is called often and may raise an error to stop.  With
    `is_one_batch` all games are stored, or none.
    """
    batch: list[Incoming] = []
    n_moves = 0
    buffered = _buffered(stream)
    has_lines = _has_lines(buffered)
    is_json = has_lines and _is_json(buffered)
    for number, line in _lines(buffered) if has_lines else _replays(buffered):
        try:
            if line is None:
                raise FileError(f"longer than {MAX_LINE} bytes")
            batch.append(read_line(line, check) if is_json else read_game(line, check))
            n_moves += len(batch[-1][0].moves)
        except FileError as error:
            counts.refused += 1
            refuse(number, f"not JSON lines; {error}" if number == 0 and str(error) == NO_REPLAY else str(error))
        check()
        if not is_one_batch and (len(batch) >= _BATCH_GAMES or n_moves >= _BATCH_MOVES):
            _keep(store, batch, counts)
            batch, n_moves = [], 0
            progress()
    _keep(store, batch, counts)


def _keep(store: Store, batch: list[Incoming], counts: ImportCounts) -> None:
    if batch:
        check_free(store.path, then="make room, and import the file again: games that are there already are skipped")
    n_new = store.adopt(batch) if batch else 0
    counts.imported += n_new
    counts.already += len(batch) - n_new
    found = (store.find(episode.seed, episode.checksum) for episode, _ in batch[: MAX_IDS - len(counts.ids)])
    counts.ids += [id_ for id_ in found if id_ is not None]


def _buffered(stream: BinaryIO) -> io.BufferedReader:
    return cast("io.BufferedReader", stream) if hasattr(stream, "peek") else io.BufferedReader(cast("Any", stream))


def _is_json(stream: io.BufferedReader) -> bool:
    """Return True if a stream begins like JSON, or is empty."""
    head = stream.peek(1).removeprefix(_MARK).lstrip()
    return not head or head.startswith((b"{", b"["))


def _has_lines(stream: io.BufferedReader) -> bool:
    """Return True if there are lines of JSON, even after another one; otherwise a stream should be a replay."""
    return _is_json(stream) or _OBJECT.search(stream.peek(1)) is not None


def _replays(stream: io.BufferedReader) -> Iterator[tuple[int, bytes | None]]:
    """Yield a stream as a whole with the number 0, or its lines with theirs if there are games among them."""
    data = stream.read(MAX_LINE + 1)
    if len(data) > MAX_LINE:
        yield 0, None
        return
    lines = list(_lines(io.BytesIO(data)))
    if len(lines) > 1 and not _is_replay(data):
        texts = [line for _, line in lines if line is not None]
        if _OBJECT.search(data) or (_is_text(data) and any(_has_name(text) or _is_replay(text) for text in texts)):
            yield from lines
            return
    yield 0, data


def _is_replay(data: bytes) -> bool:
    try:
        read_episode(data)
    except FileError:
        return False
    return True


def _has_name(data: bytes) -> bool:
    """Return True if the bytes begin with the name of a form of replays."""
    return is_named(data.decode("utf-8-sig", "replace").strip())


def _is_text(data: bytes) -> bool:
    """Return True if the bytes are UTF-8 without control characters other than line ends."""
    try:
        return all(letter.isprintable() or letter in "\r\n\t" for letter in data.decode("utf-8-sig"))
    except UnicodeDecodeError:
        return False


def _lines(stream: BinaryIO | io.BufferedReader) -> Iterator[tuple[int, bytes | None]]:
    """Yield non-blank lines with their numbers from 1; None in place of a line that is too long."""
    number = 0
    while line := stream.readline(MAX_LINE + 1):
        number += 1
        if len(line) > MAX_LINE and not line.endswith(b"\n"):
            while (rest := stream.readline(MAX_LINE)) and not rest.endswith(b"\n"):
                pass
            yield number, None
            continue
        if number == 1:
            line = line.removeprefix(_MARK)
        if line.strip():
            yield number, line


def _check_names(episode: Episode) -> None:
    """Raise FileError for player names that could confuse a terminal."""
    for player in (episode.player, *(name for _, name in episode.movers)):
        if not (player.isprintable() and 0 < len(player) <= MAX_PLAYER):
            raise FileError(f"invalid player name: expected 1 to {MAX_PLAYER} printable characters")


def _shorten(text: str) -> str:
    """Return the first 300 characters, with unprintable ones replaced."""
    clean = "".join(letter if letter.isprintable() else "?" for letter in text[:300])
    return clean if len(text) <= 300 else f"{clean} ..."

"""The values of a game as bytes, to be kept with it; and which moves they belong to."""

import hashlib
import math
import zlib
from collections.abc import Sequence

import numpy as np

from lab2048.arena.review.reviewer import Valuation
from lab2048.errors import FileError
from lab2048.records.episode import Episode
from lab2048.records.provenance import program


def digest(episode: Episode, n_moves: int) -> str:
    """Return a digest of the first moves of a game, and of the program: another version may value them differently."""
    n_spawns = 2 * (episode.rules.n_start + n_moves)
    parts = (program(), episode.rules.json_text, str(episode.seed), episode.moves[:n_moves], episode.spawns[:n_spawns])
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]


def to_bytes(valuations: Sequence[Valuation], n_moves: int) -> bytes:
    """Return valuations as compressed bytes, for a shape with `n_moves` moves; `from_bytes` is the inverse."""
    table = np.full((len(valuations), n_moves + 2), np.nan)
    for row, each in zip(table, valuations, strict=True):
        row[list(each.values)] = list(each.values.values())
        row[n_moves] = each.expected
        if each.second_best is not None:
            row[n_moves + 1] = each.second_best
    return zlib.compress(table.astype("<f8").T.tobytes(), 1)


def from_bytes(data: bytes, n_turns: int, n_moves: int) -> list[Valuation]:
    """Read valuations; raise FileError if the bytes are not those of `n_turns` turns."""
    size = 8 * n_turns * (n_moves + 2)
    try:
        unpacker = zlib.decompressobj()
        raw = unpacker.decompress(data, size + 1)
    except zlib.error:
        raw = b""
    if len(raw) != size:
        raise FileError("the review is damaged", code="file.damaged")
    table = np.frombuffer(raw, "<f8").reshape(n_moves + 2, n_turns).T.tolist()
    found = []
    for *values, expected, second in table:
        known = {move: value for move, value in enumerate(values) if not math.isnan(value)}
        if not known or math.isnan(expected):
            raise FileError("the review is damaged", code="file.damaged")
        found.append(Valuation(known, expected, None if math.isnan(second) else second))
    return found

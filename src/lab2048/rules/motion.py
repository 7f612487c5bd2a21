"""The path of each tile in a slide, for animations."""

from typing import NamedTuple

from lab2048.rules.reference import Lines, Ranks


class Motion(NamedTuple):
    """A tile that moves or merges; a merge lists both tiles, even if one does not move."""

    start: int  # cells
    end: int
    is_merged: bool


def motions(ranks: Ranks, lines: Lines, free: int = 0) -> list[Motion]:
    """Return every tile that a slide along these lines moves or merges; tiles of the rank `free` never merge.

    >>> [tuple(motion) for motion in motions((1, 1, 0, 2), ((0, 1, 2, 3),))]
    [(0, 0, True), (1, 0, True), (3, 1, False)]
    """
    found: list[Motion] = []
    for line in lines:
        n_slid, waiting = 0, -1  # the tile that the next one may merge with
        for cell in line:
            if ranks[cell] == 0:
                continue
            if waiting >= 0 and ranks[waiting] == ranks[cell] != free:
                end = line[n_slid - 1]
                if found and found[-1].start == waiting:
                    found.pop()
                found += [Motion(waiting, end, is_merged=True), Motion(cell, end, is_merged=True)]
                waiting = -1
                continue
            if line[n_slid] != cell:
                found.append(Motion(cell, line[n_slid], is_merged=False))
            n_slid, waiting = n_slid + 1, cell
    return found

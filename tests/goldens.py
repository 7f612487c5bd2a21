"""Writes the golden files anew: script/goldens.  Read the difference before you commit it.

Counts come from the plain reference, so that they say what the rules are, not what
the kernels do.
"""

import contextlib
import io
import json
import os
import random
import sys
import tempfile
from pathlib import Path
from unittest.mock import patch

import api_types
import tui_shots

from lab2048.rules import Rules, reference
from lab2048.rules.kind import KINDS
from lab2048.rules.notation import read_board, write_board
from lab2048.views import number

DATA = Path(__file__).parent / "data"

# A board of every kind: the classic, a small square, an oblong, a single row, bricks, a long line, two hexagonal ones.
PERFT = {
    "22##|####|####|####": 3,
    "2#4|#2#|4##": 4,
    "24##|##42": 4,
    "2#2##4#2": 5,
    "2##2|#xx#|#xx#|4##4": 3,
    "xx2xx|x###x|2###4|x###x|xx4xx": 3,
    "hex1:2#|#4#|#2": 3,
    "hex2:2##|####|##x#4|####|##2": 2,
}

# Options of `lab2048 play` for the keys in data/play.
PLAYS = {
    "classic": ["--seed", "7"],
    "bricks": ["--seed", "11", "--rules", "####|#xx#|#xx#|####", "--goal", "32"],
    "hexagon": ["--seed", "5", "--rules", "hex2"],
    "worst": ["--seed", "3", "--rules", "3x3", "--spawner", "worst", "--spawn", "2:0.5,4:0.5"],
    "wide": ["--seed", "9", "--rules", "1024 1024 2 # # / # # # # 4", "--start", "1"],
}


def count(rules: Rules, ranks: reference.Ranks, depth: int) -> int:
    """The number of sequences, by the plain rules; boards that were met before are not counted anew."""
    known: dict[tuple[reference.Ranks, int], int] = {}

    def below(ranks: reference.Ranks, depth: int) -> int:
        if depth == 0:
            return 1
        if (ranks, depth) not in known:
            total = 0
            for each in zip(rules.shape.lines, rules.shape.holding, strict=True):
                after, _ = reference.slide(ranks, *each)
                if after != ranks:
                    for cell, rank, _ in reference.spawns(after, rules.spawn_table):
                        total += below(reference.put(after, cell, rank), depth - 1)
            known[ranks, depth] = total
        return known[ranks, depth]

    return below(ranks, depth)


def perft() -> dict[str, object]:
    counts = [
        {"board": board, "depth": depth, "count": count(rules, rules.board.ranks, depth)}
        for board, deepest in PERFT.items()
        for rules in [Rules.from_text(board)]
        for depth in range(1, deepest + 1)
    ]
    return {"what": "sequences of (slide, spawn) with spawns 2 and 4, by the plain reference", "counts": counts}


# What the page's own slide, maps and numbers must give: tests/js reads it.
PAGE_BOARDS = [
    "4x4",
    "3x5",
    "1x8",
    "##x#|#xx#|####",
    "xx#xx|x###x|#####|x###x|xx#xx",
    "8x8",
    "hex1",
    "hex2:###|####|##x##|####|###",
    "AAA#|AAA#|AA##|####",
    "#A##|####|##A#|#x##",
    "FFFF|#F##|####|A###",
]
PAGE_MAPS = [
    "4x4",
    "hex3",
    "22##|##8x",
    "2x4",
    "2 x 4 4",
    "2 1024 # x / # # # #",
    "hex1:##|#2#|x#",
    "hex1:16 # / # 2 # / x #",
    "AA#|x42",
    "A 16 #",
    "FF#|x42",
    "F 16 #",
]
PAGE_NUMBERS = [
    0,
    7,
    99.5,
    100.5,
    101.5,
    1096.7,
    -1482.3,
    12.34,
    0.123456,
    0.00001234,
    1234567,
    3932100,
    -0.5,
    99.96,
    5e-5,
]
PAGE_RATES = [0.0, 0.5, 0.00123, 1.0, 0.9996, 0.1, 0.0999, 0.962511, 0.99999998, 1e-9]
PAGE_SECONDS = [0.0000061, 0.25, 90, 1.0, 0.001, 1234.5, 5e-9, 0.09999]


def page() -> dict[str, object]:
    rng = random.Random(2048)
    slides = []
    for text in PAGE_BOARDS:
        shape, _ = read_board(text)
        lines = [[list(line) for line in lines] for lines in shape.lines]
        boards, free = [], shape.free_rank
        for _ in range(12):
            ranks = tuple(rng.choice([0, 0, 1, 1, 2, 3, free or 17]) for _ in range(shape.n_cells))
            boards.append(
                {
                    "ranks": ranks,
                    "slides": [
                        reference.slide(ranks, *each, free) for each in zip(shape.lines, shape.holding, strict=True)
                    ],
                    "legal": reference.legal_moves(ranks, shape.lines, shape.holding, free),
                }
            )
        slides.append({"board": text, "lines": lines, "holding": shape.holding, "free": free, "boards": boards})
    maps = []
    for text in PAGE_MAPS:
        shape, ranks = read_board(text)
        maps.append(
            {
                "shape": {
                    "rows": shape.rows,
                    "name": shape.size_name,
                    "map_prefix": shape.map_prefix,
                    "free_rank": shape.free_rank,
                },
                "ranks": ranks,
                "text": write_board(shape, ranks),
            }
        )
    moves = {
        kind.cells: [direction._asdict() for direction in read_board(kind.example)[0].directions] for kind in KINDS
    }
    return {
        "what": "slides, maps, moves and numbers as Python has them, for the page",
        "slides": slides,
        "maps": maps,
        "moves": moves,
        "numbers": [[value, number.number(value)] for value in PAGE_NUMBERS],
        "rates": [[rate, number.percent(rate)] for rate in PAGE_RATES],
        "seconds": [[seconds, number.duration(seconds)] for seconds in PAGE_SECONDS],
    }


def play(name: str, *further: str) -> str:
    """What `lab2048 play` shows for the keys of a file."""
    from lab2048.cli.app import run

    keys, out = io.StringIO((DATA / "play" / f"{name}.txt").read_text()), io.StringIO()
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(out), patch.object(sys, "stdin", keys):
        store = str(Path(folder) / "games.sqlite")
        with patch.dict(os.environ, {"XDG_CONFIG_HOME": folder, "NO_COLOR": "1"}):
            assert run(["play", *PLAYS[name], *further, "--store", store]) == 0
    return out.getvalue()


if __name__ == "__main__":
    for name in PLAYS:
        (DATA / "play" / f"{name}.out").write_text(play(name))
    (DATA / "perft.json").write_text(json.dumps(perft(), indent=1) + "\n")
    (DATA / "page.json").write_text(json.dumps(page(), separators=(",", ":")) + "\n")
    tui_shots.write()
    api_types.write_file()

"""Writes the golden files anew: script/goldens.  Read the difference before you commit it.

Counts come from the plain reference, so that they say what the rules are, not what
the kernels do.
"""

import json
from pathlib import Path

from lab2048.rules import Rules, reference

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


def count(rules: Rules, ranks: reference.Ranks, depth: int) -> int:
    """The number of sequences, by the plain rules; boards that were met before are not counted anew."""
    known: dict[tuple[reference.Ranks, int], int] = {}

    def below(ranks: reference.Ranks, depth: int) -> int:
        if depth == 0:
            return 1
        if (ranks, depth) not in known:
            total = 0
            for lines in rules.shape.lines:
                after, _ = reference.slide(ranks, lines)
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


if __name__ == "__main__":
    (DATA / "perft.json").write_text(json.dumps(perft(), indent=1) + "\n")

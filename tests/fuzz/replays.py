"""Mutated replays of other programs: every one is refused in one line, or a game that keeps the rules.

    PYTHONPATH=tests python -m fuzz.replays 1000000 --seed 1

What is accepted is played again by the plain rules.  Half of the mutated replays of 2048next get a correct checksum, so
that what comes after it is reached.
"""

import argparse
import base64
import random
import sys
import time
import zlib
from collections import Counter

from records.test_replay import CASES, WRITERS, played

from fuzz import damage
from lab2048.errors import FileError
from lab2048.records.episode import Episode
from lab2048.records.replay import rpl1
from lab2048.records.replay.reading import read_episode
from lab2048.rules import reference

DAMAGES = (damage.flip_bits, damage.set_bytes, damage.set_word, damage.truncate, damage.splice)
N_SOURCES = 40  # games of each form
N_MOVES = (1, 5, 12, 25)


def sources() -> list[tuple[str, bytes]]:
    """Return replays of every form."""
    return [
        (f"{name} {size}", WRITERS[name](played(size, seed, N_MOVES[seed % len(N_MOVES)]), size))
        for name, size in CASES
        for seed in range(N_SOURCES)
    ]


def mutate(data: bytes, rng: random.Random) -> bytes:
    """Return a replay with one to three damages."""
    is_rpl1 = data.startswith(rpl1.PREFIX.encode()) and rng.random() < 0.5
    inner = base64.b64decode(data[len(rpl1.PREFIX) :])[: -rpl1.CHECK] if is_rpl1 else data
    for _ in range(rng.choice((1, 1, 2, 3))):
        inner = rng.choice(DAMAGES)(inner, rng)
    if is_rpl1:
        inner += zlib.crc32(inner).to_bytes(4, "little")
        return rpl1.PREFIX.encode() + base64.b64encode(inner)
    return inner


def keeps_the_rules(episode: Episode) -> bool:
    """Play an episode by the plain rules alone."""
    rules, spawns = episode.rules, episode.spawns
    digits = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_"
    given = [(digits.index(a), digits.index(b)) for a, b in zip(spawns[::2], spawns[1::2], strict=True)]
    ranks, score = rules.board.ranks, 0
    for number, (cell, rank) in enumerate(given):
        if number >= rules.n_start:
            move = rules.shape.letters.index(episode.moves[number - rules.n_start])
            after, reward = reference.slide(ranks, rules.shape.lines[move], rules.shape.holding[move])
            if after == ranks:
                return False
            ranks, score = after, score + reward
        if ranks[cell] or rank not in (1, 2):
            return False
        ranks = (*ranks[:cell], rank, *ranks[cell + 1 :])
    n_spawns = rules.n_start + len(episode.moves)
    return len(given) == n_spawns and score == episode.score and 2 ** max(ranks) == episode.max_tile


def fuzz(n: int, seed: int) -> Counter[str]:
    """Read `n` mutated replays; return how many were refused and accepted, and stop at the first fault."""
    rng, known, counts = random.Random(seed), sources(), Counter[str]()
    for _ in range(n):
        name, data = rng.choice(known)
        changed = mutate(data, rng)
        try:
            episode = read_episode(changed)
        except FileError as error:
            counts["refused"] += 1
            if "\n" in str(error) or not str(error):
                raise AssertionError(f"{name}: not one line: {error!r} for {changed!r}") from None
            continue
        except Exception as error:
            raise AssertionError(f"{name}: {error!r} for {changed!r}") from error
        counts["accepted"] += 1
        if not keeps_the_rules(episode):
            raise AssertionError(f"{name}: wrongly accepted: {changed!r}")
    return counts


def main() -> None:
    parser = argparse.ArgumentParser(description="Read mutated replays of other programs.")
    parser.add_argument("n", type=int, nargs="?", default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    begin, total = time.monotonic(), Counter[str]()
    for part in range(0, options.n, 10_000):
        total += fuzz(min(10_000, options.n - part), options.seed + part)
        sys.stdout.write(f"{total.total():,} replays, {dict(total)}, {time.monotonic() - begin:.0f} s\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()

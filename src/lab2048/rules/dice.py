"""Random numbers without state: every draw is a pure function of a seed and a count.

The generator is SplitMix64 (Steele, Lea and Flood, 2014) read as a counter-based
one: word n of a stream is mix(key + (n + 1) * GOLDEN), and the key is the mixed
seed.  So undoing a move and making it again gives the same tile, a recorded game
needs no list of spawns, and two players on the same seed get the same random numbers.

lab2048.kernels.board.dice is the compiled version; a test compares the two.
"""

from lab2048.errors import OutOfRangeError
from lab2048.rules.reference import Ranks

MASK = 2**64 - 1
GOLDEN = 0x9E37_79B9_7F4A_7C15  # 2^64 divided by the golden ratio, made odd
MAX_SEED = 2**53 - 1  # so that a seed survives JSON and JavaScript

# The streams of one seed; the number stands above the 53 bits of the seed, so no two streams share a key.
SPAWN, PLAYER, EPISODE = 0, 1, 2


def mix(word: int) -> int:
    """Scramble 64 bits so that each bit of the result depends on every bit of the word."""
    word = (word ^ word >> 30) * 0xBF58_476D_1CE4_E5B9 & MASK
    word = (word ^ word >> 27) * 0x94D0_49BB_1331_11EB & MASK
    return word ^ word >> 31


def stream_key(seed: int, stream: int) -> int:
    """Return the key of one stream of a seed."""
    return mix(seed | stream << 56)


def draw(key: int, count: int) -> int:
    """Return word number `count` (from 0) of a stream, 64 bits."""
    return mix((key + (count + 1) * GOLDEN) & MASK)


def pick(word: int, n: int) -> int:
    """Map the upper half of a word to a number from 0 to n - 1.

    It multiplies instead of taking the remainder, so the bias is at most n in 2^32.
    """
    return (word >> 32) * n >> 32


def episode_seed(seed: int, number: int) -> int:
    """Return the seed of game `number` (from 0) of a match; matches with consecutive seeds share no games."""
    return draw(stream_key(seed, EPISODE), number) >> 11


def check_seed(seed: int) -> int:
    """Return `seed` if it is valid, else raise OutOfRangeError."""
    if not 0 <= seed <= MAX_SEED:
        raise OutOfRangeError("seed", seed, f"0 to {MAX_SEED}")
    return seed


def thresholds(probabilities: tuple[float, ...]) -> tuple[int, ...]:
    """Return the cumulative probabilities of a spawn table, in units of 2^-32."""
    ends, total = [], 0.0
    for p in probabilities:
        total += p
        ends.append(round(total * 2**32))
    ends[-1] = 2**32
    return tuple(ends)


def fair_spawn(word: int, ranks: Ranks, table: tuple[int, ...], ends: tuple[int, ...]) -> tuple[int, int]:
    """Map a word to a spawn (cell, rank): its upper half chooses the cell, its lower half the tile."""
    empty = [cell for cell, rank in enumerate(ranks) if rank == 0]
    low = word & 0xFFFF_FFFF
    entry = next(i for i, end in enumerate(ends) if low < end)
    return empty[pick(word, len(empty))], table[entry]

"""The compiled dice; they equal lab2048.rules.dice bit for bit."""

from lab2048.kernels._jit import kernel
from lab2048.kernels.board.bits import I64, N32, ONE, U64

GOLDEN = U64(0x9E37_79B9_7F4A_7C15)
MULTIPLIER_1 = U64(0xBF58_476D_1CE4_E5B9)
MULTIPLIER_2 = U64(0x94D0_49BB_1331_11EB)
N27, N30, N31, N56, N11 = U64(27), U64(30), U64(31), U64(56), U64(11)
SPAWN, PLAYER, EPISODE = U64(0), U64(1), U64(2)


@kernel
def mix(word: U64) -> U64:
    """Scramble a word."""
    word = (word ^ (word >> N30)) * MULTIPLIER_1
    word = (word ^ (word >> N27)) * MULTIPLIER_2
    return word ^ (word >> N31)


@kernel
def stream_key(seed: U64, stream: U64) -> U64:
    """Return the key of one stream of a seed."""
    return mix(seed | (stream << N56))


@kernel
def draw(key: U64, count: U64) -> U64:
    """Return word number `count` of a stream."""
    return mix(key + (count + ONE) * GOLDEN)


@kernel
def pick(word: U64, n: I64) -> I64:
    """Map a random word to a number from 0 to n - 1."""
    return I64(((word >> N32) * U64(n)) >> N32)


@kernel
def episode_seed(seed: U64, number: U64) -> U64:
    """Return the seed of game `number` of a match."""
    return draw(stream_key(seed, EPISODE), number) >> N11

"""Two loops of known cost, against which benchmarks measure everything else.  docs/speed.md has them in C."""

import numpy as np
from numpy.typing import NDArray

from lab2048.kernels._jit import compile_for, kernel
from lab2048.kernels.board.bits import I64, N32, ONE, U64, ZERO
from lab2048.kernels.board.packed import Plan

ODD = U64(0xD6E8_FEB8_6659_FD93)
MULTIPLIER, INCREMENT = U64(6364136223846793005), U64(1442695040888963407)  # of Knuth's MMIX


@kernel
def compute_loop(n: I64) -> U64:
    """Make n steps, each a shift, an exclusive or and a multiplication that need the step before."""
    word = ONE
    for _ in range(n):
        word = (word ^ (word >> N32)) * ODD
    return word


@kernel
def memory_loop(table: NDArray[np.uint64], n_bits: I64, n: I64) -> U64:
    """Add n words of a table of 2^n_bits, at addresses that do not depend on what was read."""
    word, total, shift = ONE, ZERO, U64(64 - n_bits)
    for _ in range(n):
        word = word * MULTIPLIER + INCREMENT
        total += table[I64(word >> shift)]
    return total


def warm_up(plan: Plan) -> None:  # noqa: ARG001
    """Compile the kernels of this file."""
    compile_for(compute_loop, 1)
    compile_for(memory_loop, np.ones(2, np.uint64), 1, 1)

"""Benchmark of random memory access with prefetching: the upper limit for network lookups."""

from lab2048.kernels._jit import compile_for, kernel
from lab2048.kernels.board.bits import I64, U64
from lab2048.kernels.board.dice import draw
from lab2048.kernels.board.memory import F32, load_f32, prefetch
from lab2048.kernels.board.packed import Plan

AHEAD = 32


@kernel
def gather(table: I64, n_bits: I64, n: I64) -> F32:
    """Sum n random floats of a table of 2^n_bits, each prefetched AHEAD steps before."""
    total, shift = F32(0), U64(64 - n_bits)
    for i in range(n):
        prefetch(table, I64(draw(U64(7), U64(i + AHEAD)) >> shift) * 4)
        total += load_f32(table, I64(draw(U64(7), U64(i)) >> shift))
    return total


def warm_up(plan: Plan) -> None:  # noqa: ARG001
    """Compile the kernels of this file."""
    compile_for(gather, 0, 1, 1)

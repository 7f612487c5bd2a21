"""Constants and bit operations for packed boards.

Every constant that meets a board is a U64: mixed with a signed integer, a board
whose top bit is set turns negative.
"""

from typing import TYPE_CHECKING, Any

import numpy as np

from lab2048.kernels._jit import IS_COMPILED, kernel

U64 = np.uint64
if TYPE_CHECKING:
    I64 = int  # for the type checker, so that constants and counters fit
else:
    I64 = np.int64

ZERO, ONE, TWO, FOUR = U64(0), U64(1), U64(2), U64(4)
N16, N32, N48, N63 = U64(16), U64(32), U64(48), U64(63)
NIBBLE, ROW, LOW_32 = U64(0xF), U64(0xFFFF), U64(0xFFFF_FFFF)
LOW_BITS = U64(0x1111_1111_1111_1111)  # the lowest bit of every nibble

if IS_COMPILED:
    from llvmlite import ir
    from llvmlite.binding import get_host_cpu_features, get_host_cpu_name
    from numba import types
    from numba.core import cgutils, config
    from numba.extending import intrinsic

    # Zen 1 and 2 have the instruction, but it takes a hundred times as long there.
    CAN_EXTRACT = (
        get_host_cpu_features().get("bmi2", False)
        and get_host_cpu_name() not in ("znver1", "znver2")
        and not (config.CPU_NAME or config.CPU_FEATURES)  # type: ignore[attr-defined]
    )

    @intrinsic
    def _ctpop(typing_context: Any, word: Any) -> Any:
        return types.uint64(types.uint64), lambda context, builder, signature, args: builder.ctpop(args[0])

    @intrinsic
    def _cttz(typing_context: Any, word: Any) -> Any:
        false = ir.Constant(ir.IntType(1), 0)
        return types.uint64(types.uint64), lambda context, builder, signature, args: builder.cttz(args[0], false)

    if CAN_EXTRACT:

        @intrinsic
        def _pext(typing_context: Any, word: Any, mask: Any) -> Any:
            def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
                kind = ir.FunctionType(ir.IntType(64), [ir.IntType(64)] * 2)
                function = cgutils.get_or_insert_function(  # type: ignore[no-untyped-call]
                    builder.module, kind, "llvm.x86.bmi.pext.64"
                )
                return builder.call(function, args)

            return types.uint64(types.uint64, types.uint64), code

        @kernel
        def extract(word: U64, mask: U64) -> U64:
            """Return the bits of `word` selected by `mask`, packed together (PEXT)."""
            return U64(_pext(word, mask))  # type: ignore[call-arg]

    @kernel
    def popcount(word: U64) -> I64:
        """Return the number of set bits."""
        return I64(_ctpop(word))  # type: ignore[call-arg]

    @kernel
    def lowest_bit(word: U64) -> I64:
        """Return the index of the lowest set bit; 64 if there is none."""
        return I64(_cttz(word))  # type: ignore[call-arg]

else:
    CAN_EXTRACT = False

    def popcount(word: U64) -> I64:
        """Return the number of set bits."""
        return I64(int(word).bit_count())

    def lowest_bit(word: U64) -> I64:
        """Return the index of the lowest set bit; 64 if there is none."""
        return I64((int(word) & -int(word)).bit_length() - 1 if word else 64)


@kernel
def rotate(word: U64, n: U64) -> U64:
    """Rotate a word left by n bits, 0 to 63."""
    return (word << n) | (word >> ((U64(64) - n) & N63))


if not CAN_EXTRACT:

    def extract(word: U64, mask: U64) -> U64:
        """Return the bits of `word` selected by `mask`, packed together; not used by kernels on this machine."""
        positions = [i for i in range(64) if int(mask) >> i & 1]
        return U64(sum((int(word) >> position & 1) << i for i, position in enumerate(positions)))

"""Access memory by address, because arrays are expensive arguments of recursive kernels.

To Numba an array is seven words and reference-counted; an address is one word.  The caller must keep
the array behind an address alive.
"""

import ctypes
import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lab2048.kernels._jit import IS_COMPILED, kernel
from lab2048.kernels.board.bits import I64, U64

F32 = np.float32


def address_of(array: NDArray[Any]) -> int:
    """Return the address of an array's data."""
    return int(array.ctypes.data)


if IS_COMPILED:
    from llvmlite import binding, ir
    from numba import carray, extending, from_dtype, types  # type: ignore[attr-defined]
    from numba.core import cgutils, imputils

    _tables: list[NDArray[Any]] = []  # of `constant_table`, kept alive

    # Typed loosely: an intrinsic is called without its first parameter.
    intrinsic: Callable[[Any], Any] = extending.intrinsic

    def _pointer(builder: Any, kind: Any, args: Any) -> Any:
        return builder.gep(builder.inttoptr(args[0], kind.as_pointer()), [args[1]], source_etype=kind)

    def _loader(kind: Any, number_kind: Any) -> Any:
        def load(typing_context: Any, address: Any, index: Any) -> Any:
            def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
                return builder.load(_pointer(builder, kind, args), typ=kind)

            return number_kind(types.int64, types.int64), code

        return intrinsic(load)

    load_u64 = _loader(ir.IntType(64), types.uint64)
    load_f32 = _loader(ir.FloatType(), types.float32)
    load_i16 = _loader(ir.IntType(16), types.int16)
    load_u32 = _loader(ir.IntType(32), types.uint32)
    load_u16 = _loader(ir.IntType(16), types.uint16)
    load_u8 = _loader(ir.IntType(8), types.uint8)

    def _caster(kind: Any, number_kind: Any) -> Any:
        def cast(typing_context: Any, address: Any) -> Any:
            def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
                return builder.inttoptr(args[0], kind.as_pointer())

            return types.CPointer(number_kind)(types.int64), code  # type: ignore[no-untyped-call]

        return intrinsic(cast)

    def constant_table(name: str, table: NDArray[Any]) -> Any:
        """Return a function that reads a constant table by index.

        As a global array, the table would be copied into the code of every kernel that reads it.
        """
        symbol, number_kind = f"lab2048.{name}", from_dtype(table.dtype)
        binding.add_symbol(symbol, address_of(table))
        _tables.append(table)

        def read(typing_context: Any, index: Any) -> Any:
            def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
                kind = context.get_value_type(number_kind)
                place = builder.module.globals.get(symbol)
                if place is None:
                    place = ir.GlobalVariable(builder.module, kind, symbol)
                    place.global_constant = True
                return builder.load(builder.gep(place, args, source_etype=kind), typ=kind)

            return number_kind(types.int64), code

        return intrinsic(read)

    _word_pointer = _caster(ir.IntType(64), types.uint64)
    _float_pointer = _caster(ir.DoubleType(), types.float64)
    _single_pointer = _caster(ir.FloatType(), types.float32)

    @intrinsic
    def _read_only(typing_context: Any, array: Any) -> Any:
        def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            kind = signature.return_type
            return imputils.impl_ret_borrowed(context, builder, kind, args[0])  # type: ignore[no-untyped-call]

        return array.copy(readonly=True)(array), code

    @kernel
    def words_at(address: I64, n: I64) -> NDArray[np.uint64]:
        """Return the n 64-bit words at an address as a view that is read-only, like plans made in Python."""
        words: NDArray[np.uint64] = _read_only(carray(_word_pointer(address), n))
        return words

    @kernel
    def floats_at(address: I64, n: I64) -> NDArray[np.float64]:
        """Return the n float64 numbers at an address as an array view."""
        return carray(_float_pointer(address), n)

    @kernel
    def singles_at(address: I64, n: I64) -> NDArray[np.float32]:
        """Return the n float32 numbers at an address as an array view."""
        return carray(_single_pointer(address), n)

    def _storer(kind: Any, number_kind: Any) -> Any:
        def store(typing_context: Any, address: Any, index: Any, number: Any) -> Any:
            def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
                builder.store(args[2], _pointer(builder, kind, args))
                return context.get_dummy_value()

            return types.void(types.int64, types.int64, number_kind), code

        return intrinsic(store)

    store_u64 = _storer(ir.IntType(64), types.uint64)
    store_u32 = _storer(ir.IntType(32), types.uint32)
    store_f32 = _storer(ir.FloatType(), types.float32)
    store_i16 = _storer(ir.IntType(16), types.int16)
    store_u16 = _storer(ir.IntType(16), types.uint16)
    store_u8 = _storer(ir.IntType(8), types.uint8)

    @intrinsic
    def prefetch(typing_context: Any, address: Any, index: Any) -> Any:
        """Prefetch the cache line at address + index bytes."""

        def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            pointer, number = _pointer(builder, ir.IntType(8), args), ir.IntType(32)
            kind = ir.FunctionType(ir.VoidType(), [pointer.type, number, number, number])
            function = cgutils.get_or_insert_function(  # type: ignore[no-untyped-call]
                builder.module, kind, "llvm.prefetch.p0"
            )
            builder.call(function, [pointer, number(0), number(3), number(1)])  # read, keep, data
            return context.get_dummy_value()

        return types.void(types.int64, types.int64), code

    @intrinsic
    def float_bits(typing_context: Any, number: Any) -> Any:
        """Return the bits of a float32."""
        return types.uint32(types.float32), lambda context, builder, signature, args: builder.bitcast(
            args[0], ir.IntType(32)
        )

    @intrinsic
    def bits_float(typing_context: Any, bits: Any) -> Any:
        """Return the float32 with these bits."""
        return types.float32(types.uint32), lambda context, builder, signature, args: builder.bitcast(
            args[0], ir.FloatType()
        )

    @intrinsic
    def call_clock(typing_context: Any, address: Any) -> Any:
        """Return nanoseconds of the monotonic clock; `address` is its C function (see `clock_address`)."""

        def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            word = ir.IntType(64)
            if sys.platform == "win32":
                spot = builder.alloca(word)
                function = builder.inttoptr(args[0], ir.FunctionType(ir.IntType(32), [word.as_pointer()]).as_pointer())
                builder.call(function, [spot])
                return builder.mul(builder.load(spot, typ=word), word(100))  # ticks of 100 ns
            pair = ir.ArrayType(word, 2)
            spot = builder.alloca(pair)
            kind = ir.FunctionType(ir.IntType(32), [ir.IntType(32), pair.as_pointer()])
            builder.call(builder.inttoptr(args[0], kind.as_pointer()), [ir.IntType(32)(time.CLOCK_MONOTONIC), spot])
            parts = builder.load(spot, typ=pair)
            seconds, rest = builder.extract_value(parts, 0), builder.extract_value(parts, 1)
            return builder.add(builder.mul(seconds, word(10**9)), rest)

        return types.int64(types.int64), code

else:

    def _loader(kind: Any, number_kind: Any) -> Any:
        size = ctypes.sizeof(kind)
        return lambda address, index: number_kind(kind.from_address(int(address) + size * int(index)).value)

    def _storer(kind: Any, number_kind: Any) -> Any:
        size = ctypes.sizeof(kind)

        def store(address: int, index: int, number: Any) -> None:
            kind.from_address(int(address) + size * int(index)).value = number_kind(number)

        return store

    load_u64, store_u64 = _loader(ctypes.c_uint64, U64), _storer(ctypes.c_uint64, int)
    store_u32 = _storer(ctypes.c_uint32, int)
    load_f32, store_f32 = _loader(ctypes.c_float, F32), _storer(ctypes.c_float, float)
    load_i16, store_i16 = _loader(ctypes.c_int16, np.int16), _storer(ctypes.c_int16, int)
    load_u32 = _loader(ctypes.c_uint32, np.uint32)
    load_u16, store_u16 = _loader(ctypes.c_uint16, np.uint16), _storer(ctypes.c_uint16, int)
    load_u8, store_u8 = _loader(ctypes.c_uint8, np.uint8), _storer(ctypes.c_uint8, int)

    def constant_table(name: str, table: NDArray[Any]) -> Any:
        """Return a function that reads a constant table by index."""
        return table.__getitem__

    def prefetch(address: int, index: int) -> Any:
        """Do nothing without a compiler."""

    def _array_at(kind: Any, address: int, n: int) -> Any:
        return np.ctypeslib.as_array((kind * int(n)).from_address(int(address)))

    words_at = partial(_array_at, ctypes.c_uint64)
    floats_at = partial(_array_at, ctypes.c_double)
    singles_at = partial(_array_at, ctypes.c_float)

    def float_bits(number: Any) -> Any:
        """Return the bits of a float32."""
        return np.array(number, F32).view(np.uint32)[()]

    def bits_float(bits: Any) -> Any:
        """Return the float32 with these bits."""
        return np.array(bits, np.uint32).view(F32)[()]

    def call_clock(address: int) -> Any:
        """Return nanoseconds of the monotonic clock."""
        return I64(time.monotonic_ns())


def clock_address() -> int:
    """Return the address of the C function for `call_clock`."""
    if sys.platform == "win32":
        function = ctypes.windll.kernel32.QueryPerformanceCounter
    else:
        function = ctypes.CDLL(None).clock_gettime
    return ctypes.cast(function, ctypes.c_void_p).value or 0

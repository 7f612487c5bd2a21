"""Call kernels by address, so that the caller does not have to be compiled together with them.

A search context holds the address of a *chance* kernel (the value of an afterstate) and of a *choose*
kernel (the move), which loops over whole games call.
"""

from collections.abc import Callable
from typing import Any

from lab2048.kernels._jit import IS_COMPILED
from lab2048.kernels.board.bits import I64, U64

if IS_COMPILED:
    from llvmlite import ir
    from numba import types

    from lab2048.kernels.board.memory import intrinsic

    CHANCE: Any = (types.int64, types.uint64, types.int64, types.int64)  # context, board, depth, allowance
    CHOOSE: Any = (types.int64, types.uint64)  # context, board

    def _call(result: Any, n: int) -> Callable[[Any, Any, Any, Any], Any]:
        def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            kind = ir.FunctionType(result, [ir.IntType(64)] * n)
            return builder.call(builder.inttoptr(args[0], kind.as_pointer()), args[1:])

        return code

    @intrinsic
    def call_chance(typing_context: Any, address: Any, context: Any, board: Any, depth: Any, allowance: Any) -> Any:
        """Call the chance kernel at an address; return the value of an afterstate."""
        return types.float32(types.int64, *CHANCE), _call(ir.FloatType(), len(CHANCE))

    @intrinsic
    def call_choose(typing_context: Any, address: Any, context: Any, board: Any) -> Any:
        """Call the choose kernel at an address; return -1 if there is no move."""
        return types.int64(types.int64, *CHOOSE), _call(ir.IntType(64), len(CHOOSE))

    def function_address(function: Any, arguments: Any) -> int:
        """Compile a kernel for the given argument types and return its address."""
        function.compile(arguments)
        result = function.overloads[arguments]
        return int(result.library.get_pointer_to_function(result.fndesc.llvm_cfunc_wrapper_name))

else:
    CHANCE = CHOOSE = ()
    _functions: list[Any] = []

    def call_chance(address: int, context: int, board: U64, depth: int, allowance: int) -> Any:
        """Call the registered chance kernel; return the value of an afterstate."""
        return _functions[address](context, board, depth, allowance)

    def call_choose(address: int, context: int, board: U64) -> I64:
        """Call the registered choose kernel; return -1 if there is no move."""
        return I64(_functions[address](context, board))

    def function_address(function: Any, arguments: Any) -> int:
        """Register a kernel and return its number."""
        if function not in _functions:
            _functions.append(function)
        return _functions.index(function)

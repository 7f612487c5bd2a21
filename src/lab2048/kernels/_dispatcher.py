# mypy: disable-error-code="no-untyped-call, attr-defined, assignment, misc"
"""How Numba compiles kernels: a kernel that is called from Python, and the kernels that it calls.

Numba optimizes every function and translates it to machine code, and does so again for every caller that it is linked
into.  Here only kernels that are called from Python or by address are translated, with all that they call.  The others
are compiled to LLVM's intermediate code, which their callers link: that halves the time.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from numba.core import compiler, sigutils, types, typing
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import CPUDispatcher

from lab2048.kernels._cache import KernelCache

_OPTIONS = {"nopython": True, "nogil": True, "error_model": "numpy", "boundscheck": False}


class _LinkedLibrary(JITCodeLibrary):
    """Code that is only linked into its callers, and optimized and translated there."""

    def _optimize_functions(self, ll_module: Any) -> None:
        ll_module.data_layout = self._codegen._data_layout

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalized = True


class Kernel(CPUDispatcher):
    """A function that is compiled on its first call, from Python or from another kernel."""

    def __init__(self, py_func: Any, locals: Any = None, targetoptions: Any = None) -> None:  # noqa: A002
        super().__init__(py_func, locals, targetoptions or _OPTIONS)
        self._linked: dict[Any, Any] = {}  # by the types of arguments
        self.listeners: list[Callable[[], object]] = []  # called when it has been compiled or loaded

    def keep(self, folder: Path, machine: str) -> None:
        """Cache compiled code in a folder."""
        self._cache = KernelCache(self.py_func, folder, machine)

    def compile_for(self, *args: Any) -> None:
        """Compile for a call with such arguments from Python, or load the code from the cache."""
        self.compile(tuple(map(self.typeof_pyval, args)))

    def add_overload(self, cres: Any) -> None:
        """Take compiled code into use, and tell who listens."""
        super().add_overload(cres)
        for tell in self.listeners:
            tell()

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """Compile for a call from another kernel; return its template, as Numba's dispatcher does."""
        pysig, args = self._compiler.fold_argument_types(args, kws)
        # A constant integer needs no version of its own; a constant bool selects one.
        args = tuple(types.unliteral(each) if isinstance(each, types.IntegerLiteral) else each for each in args)
        self._link(args)
        name = self.py_func.__name__
        signatures = [each.signature for each in self._linked.values()]
        return typing.make_concrete_template(f"CallTemplate({name})", name, signatures), pysig, args, {}

    def get_overload(self, sig: Any) -> Any:
        """Return what `_link` has registered for these types."""
        args, _ = sigutils.normalize_signature(sig)
        return self._linked[tuple(args)].fndesc

    def _link(self, args: Any) -> None:
        with global_compiler_lock, self._compiling_counter:
            if args in self._linked:
                return
            flags = compiler.Flags()
            self.targetdescr.options.parse_as_flags(flags, self.targetoptions)
            flags.no_compile = flags.no_cpython_wrapper = flags.no_cfunc_wrapper = True
            library = _LinkedLibrary(self.targetctx.codegen(), self.py_func.__qualname__)
            result = compiler.compile_extra(
                self.typingctx, self.targetctx, self.py_func, args, None, flags, self.locals, library=library
            )
            self.targetctx.insert_user_function(result.fndesc, result.fndesc, [library])
            self._linked[args] = result

# mypy: disable-error-code="no-untyped-call, attr-defined, assignment, misc"
"""Compiled kernels on disk: one file for each kernel and signature.

The name of a file contains a digest of the kernel's sources and of the machine.  So an update recompiles only what it
changed, and processes that compile the same kernel at the same time write the same file.
"""

import contextlib
import hashlib
import os
import pickle
import secrets
import zlib
from pathlib import Path
from typing import Any

from llvmlite import binding
from numba.core import sigutils
from numba.core.compiler import CompileResult
from numba.core.runtime import rtsys
from numba.core.serialize import dumps

from lab2048.kernels._source import PACKAGE, source_digest

_CHECK_SIZE = 4  # bytes of the checksum at the start of a file


class KernelCache:
    """The files of one kernel; it takes the place of Numba's own cache, which needs half a second to start."""

    def __init__(self, function: Any, folder: Path, machine: str) -> None:
        self.cache_path = str(folder)
        self._module, self._machine = function.__module__, machine
        self._name = f"{self._module.removeprefix(PACKAGE + '.')}.{function.__name__}"

    def path(self, sig: Any) -> Path:
        """Return the file for a signature."""
        args, _ = sigutils.normalize_signature(sig)
        key = " ".join((source_digest(self._module), self._machine, repr(args)))
        return Path(self.cache_path) / f"{self._name}-{hashlib.sha256(key.encode()).hexdigest()[:16]}.code"

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the compiled code for a signature; None if it is not in the cache."""
        path = self.path(sig)
        try:
            data = path.read_bytes()
        except OSError:
            return None
        if data[:_CHECK_SIZE] != _check(data[_CHECK_SIZE:]):  # damaged: compile it again
            return None
        with contextlib.suppress(OSError):
            os.utime(path)  # in use: see lab2048.kernels._jit.mark_ready
        rtsys.initialize(target_context)
        return CompileResult._rebuild(target_context, *pickle.loads(data[_CHECK_SIZE:]))

    def save_overload(self, sig: Any, result: Any) -> None:
        """Save the compiled code for a signature, unless the disk is full or the folder is gone."""
        if result.library.has_dynamic_globals:
            return
        library, *rest, _ = result._reduce()
        name, kind, (code, _) = library
        # Without the intermediate code of all functions, which nothing links, and without their environments, for
        # which Numba would import itself: they serve exceptions, and kernels raise none.
        data = dumps(((name, kind, (code, _names(result))), *rest, ()))
        path = self.path(sig)
        part = path.with_name(f"{path.name}.{secrets.token_hex(4)}.part")
        with contextlib.suppress(OSError):
            try:
                part.write_bytes(_check(data) + data)
                part.replace(path)
            finally:
                part.unlink(missing_ok=True)


def _check(data: bytes) -> bytes:
    return zlib.crc32(data).to_bytes(_CHECK_SIZE, "little")


def _names(result: Any) -> bytes:
    """Return a module that defines what Python calls, and does nothing."""
    names = (result.fndesc.llvm_cpython_wrapper_name, result.fndesc.llvm_cfunc_wrapper_name)
    text = "\n".join(f'define void @"{name}"() {{ ret void }}' for name in names)
    return bytes(binding.parse_assembly(text).as_bitcode())

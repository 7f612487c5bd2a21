"""Which source files a kernel is compiled from.

Numba recompiles a cached function when its own file changes, but not when a function it calls changes in another file.
So compiled code is named after a digest of all files that the kernel can call.
"""

import functools
import hashlib
import re
from pathlib import Path

PACKAGE = "lab2048.kernels"
_ROOT = Path(__file__).parent
_IMPORT = re.compile(r"^\s*from (lab2048\.kernels[\w.]*) import (\([^)]*\)|.*)$", re.MULTILINE)


@functools.cache
def _read(path: Path) -> bytes:
    return path.read_bytes()


def _path(module: str) -> Path:
    return _ROOT.joinpath(*module.split(".")[2:])


@functools.cache
def _imports(path: Path) -> frozenset[Path]:
    """Return the files of this package that a file imports."""
    found = set()
    for module, names in _IMPORT.findall(_read(path).decode()):
        here = _path(module)
        if here.is_dir():  # the names are modules
            each = (name.split(" as ")[0].strip() for name in names.strip("()").split(","))
            found |= {here / f"{name}.py" for name in each if name}
        else:
            found.add(here.with_suffix(".py"))
    return frozenset(found)


@functools.cache
def source_files(module: str) -> frozenset[Path]:
    """Return the file of a kernel module and all files that it imports, directly or not."""
    found, new = set(), {_path(module).with_suffix(".py")}
    while new:
        found |= new
        new = {each for path in new for each in _imports(path)} - found
    return frozenset(found)


@functools.cache
def source_digest(*modules: str) -> str:
    """Return a digest of the source files of some kernel modules."""
    state = hashlib.sha256()
    for path in sorted(set().union(*map(source_files, modules))):
        state.update(b"\0".join((path.relative_to(_ROOT).as_posix().encode(), _read(path), b"")))
    return state.hexdigest()

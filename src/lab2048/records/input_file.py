"""Read files that anyone may have written or damaged: regular files, strict JSON and strict TOML.

Every reader of lab2048 starts here.  What can go wrong is an OSError (see `lab2048.errors.reason_of`) or a ValueError,
so a reader needs two handlers to turn every damaged file into one line.
"""

import errno
import itertools
import json
import math
import os
import re
import stat
from pathlib import Path
from typing import Any, BinaryIO, NoReturn

MAX_TEXT = 256 * 2**20  # bytes of a text file that is read as a whole
MAX_NESTING = 50  # levels of JSON and TOML; json.dumps and recursive readers can go this deep
MAX_NUMBER = 2**256  # of a whole number; smaller ones fit a float, and the state of a random generator takes 128 bits

_HALF_CHARACTER = re.compile(r"\\u[dD][89a-fA-F]")  # an escape of half a character, which UTF-8 cannot write


def open_file(path: Path, *, accept_pipes: bool = False) -> BinaryIO:
    """Open a regular file; raise OSError for anything else.

    A named pipe or a device could block for ever.  With `accept_pipes` a pipe without a name is opened, too: the shell
    writes one as /dev/fd/63.
    """
    # Without O_NONBLOCK, opening a named pipe waits for its writer.
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    try:
        mode = os.fstat(handle).st_mode
        is_accepted_pipe = accept_pipes and stat.S_ISFIFO(mode) and not Path(os.path.realpath(path)).exists()
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
        if not stat.S_ISREG(mode) and not is_accepted_pipe:
            raise OSError(errno.EINVAL, "it is not a regular file", str(path))
        if is_accepted_pipe:
            os.set_blocking(handle, True)
        return os.fdopen(handle, "rb")
    except BaseException:
        os.close(handle)
        raise


def read_bytes(path: Path, limit: int = MAX_TEXT) -> bytes:
    """Read a regular file; raise OSError if it is larger than `limit` bytes."""
    with open_file(path) as file:
        data = file.read(limit + 1)
    if len(data) > limit:
        raise OSError(errno.EINVAL, f"it is larger than {limit // 2**20} MB", str(path))
    return data


def read_text(path: Path) -> str:
    """Read a regular file of UTF-8 text; raise OSError, or UnicodeDecodeError, which is a ValueError."""
    return read_bytes(path).decode("utf-8")


def parse_json(text: str | bytes, *, accept_infinite: bool = False) -> Any:
    """Parse JSON; raise ValueError for anything that could not be written again or overflows.

    That is: NaN and infinite numbers (unless `accept_infinite`), whole numbers of MAX_NUMBER and more, half characters,
    names that occur twice in an object, and nesting deeper than MAX_NESTING.

    >>> parse_json('{"a": [1, 2.5]}')
    {'a': [1, 2.5]}
    >>> parse_json('[1e400]')
    Traceback (most recent call last):
    ValueError: 1e400 is too large
    """
    if isinstance(text, bytes):
        text = text.decode("utf-8")
    try:
        data = json.loads(
            text,
            parse_int=_whole_number,
            parse_float=float if accept_infinite else _finite_number,
            parse_constant=float if accept_infinite else _refuse_constant,
            object_pairs_hook=_unique_names,
        )
    except RecursionError:
        raise ValueError("nested too deeply") from None
    if text.count("[") + text.count("{") > MAX_NESTING:
        check_nesting(data)
    if _HALF_CHARACTER.search(text):
        try:
            json.dumps(data, ensure_ascii=False).encode("utf-8")
        except UnicodeEncodeError:
            raise ValueError("it has half a character") from None
    return data


def parse_toml(text: str) -> dict[str, Any]:
    """Parse TOML; raise ValueError for what `parse_json` refuses, too.

    >>> parse_toml("a.b = 1")
    {'a': {'b': 1}}
    """
    import tomllib

    try:
        data = tomllib.loads(text, parse_float=_finite_number)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    check_nesting(data)
    return data


def check_nesting(data: Any, n_levels: int = MAX_NESTING) -> None:
    """Raise ValueError if data is nested deeper than `n_levels`, or has a whole number of MAX_NUMBER or more."""
    level = [data]
    for depth in itertools.count():
        if any(isinstance(each, int) and abs(each) >= MAX_NUMBER for each in level):
            raise ValueError("a whole number is too large")
        containers = [each for each in level if isinstance(each, dict | list)]
        if containers and depth == n_levels:
            raise ValueError(f"nested too deeply: expected at most {n_levels} levels")
        if not containers:
            return
        level = [inner for each in containers for inner in (each.values() if isinstance(each, dict) else each)]


def _whole_number(text: str) -> int:
    if len(text) > 80 or abs(number := int(text)) >= MAX_NUMBER:
        raise ValueError(f"{text[:20]}... is too large")
    return number


def _finite_number(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text[:20]} is too large" if number in (math.inf, -math.inf) else f"{text} is not a number")
    return number


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not valid JSON")


def _unique_names(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"{next(name for name in names if names.count(name) > 1)[:40]!r} occurs twice")
    return found

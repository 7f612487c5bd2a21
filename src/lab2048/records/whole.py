"""Whole files: a file that is written is there in full, or not at all."""

import contextlib
import os
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

from lab2048.errors import FileError


@contextlib.contextmanager
def replacing(path: Path, *, force: bool) -> Iterator[TextIO]:
    """Write a file whole or not at all: under another name beside it, renamed at the end."""
    try:
        target = path.resolve()  # a link stays a link
        if target.exists() and not target.is_file():
            raise FileError(f"{path} is not a file: expected the name of a file")
        if target.exists() and not force:
            raise FileError(f"{path} is there already: --force replaces it")
        part = target.with_name(f".{target.name}.{secrets.token_hex(4)}.part")
        try:
            with part.open("x", encoding="utf-8", newline="\n") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            part.replace(target)
        finally:
            part.unlink(missing_ok=True)
    except OSError as error:
        raise FileError(f"{path} cannot be written: {error.strerror}") from None

"""Write files atomically: a file is complete, or does not exist, also after a power failure."""

import contextlib
import io
import os
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import IO, TextIO

from lab2048.errors import FileError, TargetExistsError, UnwritableError, reason_of


@contextlib.contextmanager
def replacing_bytes(path: Path, *, force: bool) -> Iterator[IO[bytes]]:
    """Write to a temporary file in the same folder and rename it at the end; then it is safely on disk."""
    try:
        check_target(path, force=force)
        target = Path(os.path.realpath(path))  # a symbolic link stays one
        part = target.with_name(f".{target.name}.{secrets.token_hex(4)}.part")
        try:
            with part.open("xb") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            part.replace(target)
            sync_folder(target.parent)
        finally:
            part.unlink(missing_ok=True)
    except OSError as error:
        is_nowhere = isinstance(error, FileNotFoundError) and not path.parent.exists()
        reason = f"there is no folder {path.parent}" if is_nowhere else reason_of(error)
        raise UnwritableError(f"{path} cannot be written: {reason}") from None


def sync_folder(folder: Path) -> None:
    """Make new names in a folder survive a power failure, where the system can do that."""
    if os.name == "posix":
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def check_target(path: Path, *, force: bool) -> None:
    """Raise FileError unless `path` is new, or a file that `force` allows to replace."""
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file():
        raise FileError(f"{path} exists and is not a file: expected a file name", code="file.unwritable")
    if target.exists() and not force:
        raise TargetExistsError(f"{path} exists already")


@contextlib.contextmanager
def replacing(path: Path, *, force: bool) -> Iterator[TextIO]:
    """Write a text file atomically; see `replacing_bytes`."""
    with replacing_bytes(path, force=force) as file:
        text = io.TextIOWrapper(file, encoding="utf-8", newline="\n")
        yield text
        text.detach()


def remove_leftovers(path: Path) -> None:
    """Delete temporary files that an interrupted write left behind."""
    target = Path(os.path.realpath(path))
    for part in target.parent.glob(f".{target.name}.*.part"):
        with contextlib.suppress(OSError):
            part.unlink()

"""Columns of numbers as .npy files, written atomically and read in parts."""

import hashlib
import io
import zlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from lab2048.errors import FileError, reason_of
from lab2048.records.disk_space import check_free
from lab2048.records.input_file import open_file

HEADER_SIZE = 128  # bytes, of every one-dimensional .npy file that NumPy writes
RESUME = "progress is saved, and the same solve continues"
Array = NDArray[Any]


def header(dtype: str, n: int) -> bytes:
    """Return the .npy header (format 1.0) of a column."""
    text = io.BytesIO()
    np.lib.format.write_array_header_1_0(text, {"descr": dtype, "fortran_order": False, "shape": (n,)})
    data = text.getvalue()
    assert len(data) == HEADER_SIZE
    return data


@dataclass(frozen=True)
class Column:
    """A file of n numbers."""

    path: Path
    dtype: str  # NumPy notation: <u8, <f8, <f4
    n: int
    checksum: str = ""
    offset: int = HEADER_SIZE  # of the first number
    is_alone: bool = True  # the only column in its file, with a header
    array: Array | None = field(default=None, compare=False, repr=False)  # the numbers, if also in memory

    @property
    def n_bytes(self) -> int:
        return self.offset + self.n * np.dtype(self.dtype).itemsize

    def read(self, begin: int = 0, end: int | None = None) -> Array:
        """Read a range of the numbers."""
        end = self.n if end is None else end
        if self.array is not None:
            return self.array[begin:end]
        size = np.dtype(self.dtype).itemsize
        try:
            with open_file(self.path) as file:
                numbers = np.fromfile(file, self.dtype, end - begin, offset=self.offset + size * begin)
        except OSError as error:
            raise FileError(f"{self.path} cannot be read: {reason_of(error)}", code="file.unreadable") from None
        if len(numbers) != end - begin:
            raise FileError(f"{self.path} is truncated: expected {self.n} numbers", code="file.damaged")
        return numbers

    def map(self) -> Array:
        """Map all numbers into memory."""
        try:
            if self.path.stat().st_size < self.n_bytes:
                raise FileError(f"{self.path} has {self.path.stat().st_size} bytes: expected {self.n_bytes}")
            if self.n == 0:
                return np.empty(0, self.dtype)
            return np.memmap(self.path, self.dtype, "r", self.offset, (self.n,))
        except OSError as error:
            raise FileError(f"{self.path} cannot be read: {reason_of(error)}", code="file.unreadable") from None

    def check(self) -> None:
        """Raise FileError unless the file is complete and its checksum matches."""
        try:
            with open_file(self.path) as file:
                is_whole = not self.is_alone or file.read(HEADER_SIZE) == header(self.dtype, self.n)
                file.seek(self.offset)
                state = _new_state(self.checksum)
                left = self.n_bytes - self.offset
                while part := file.read(min(left, 1 << 20)):
                    state.update(part)
                    left -= len(part)
                is_whole = is_whole and (not self.is_alone or not file.read(1))
        except OSError as error:
            raise FileError(f"{self.path} cannot be read: {reason_of(error)}", code="file.unreadable") from None
        if not is_whole or state.hexdigest() != self.checksum:
            raise FileError(f"{self.path} is damaged: its checksum does not match", code="file.damaged")


class _Crc:
    """A fast checksum with the interface of hashlib, for temporary files."""

    def __init__(self) -> None:
        self.value = 0

    def update(self, data: Any) -> None:
        self.value = zlib.crc32(data, self.value)

    def hexdigest(self) -> str:
        return f"{self.value:08x}"


def _new_state(checksum: str) -> Any:
    return _Crc() if len(checksum) == 8 else hashlib.sha256()


def write_column(path: Path, dtype: str, parts: Iterable[Array], *, is_kept: bool) -> Column:
    """Write numbers part by part to a temporary file, and rename it when it is complete.

    The checksum covers the numbers without the header: SHA-256 if the file `is_kept`, else CRC-32.
    """
    part_path = path.with_name(path.name + ".part")
    state: Any = hashlib.sha256() if is_kept else _Crc()
    try:
        with part_path.open("wb") as file:
            file.write(bytes(HEADER_SIZE))
            n = _write_parts(file, dtype, parts, state)
            file.seek(0)
            file.write(header(dtype, n))
        part_path.replace(path)
    except OSError as error:
        part_path.unlink(missing_ok=True)
        raise write_error(path, error) from None
    except FileError:
        part_path.unlink(missing_ok=True)
        raise
    return Column(path, dtype, n, state.hexdigest())


def _write_parts(file: IO[bytes], dtype: str, parts: Iterable[Array], state: Any) -> int:
    n = 0
    for part in parts:
        if len(part):  # an empty memoryview cannot be cast
            data = np.ascontiguousarray(part, dtype).data.cast("B")
            check_free(Path(file.name), len(data), then=RESUME)
            state.update(data)
            while data:  # write() may write less than it is given
                data = data[file.write(data) :]
            n += len(part)
    return n


class Stack:
    """A stack of columns in one file: the forward pass pushes layers, the backward pass pops them.

    One file, because creating and deleting thousands takes longer than writing them.
    """

    def __init__(self, path: Path, dtype: str) -> None:
        self.path, self.dtype = path, dtype
        self._file: IO[bytes] | None = None

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None

    def column(self, offset: int, n: int, checksum: str) -> Column:
        """Return a column that was pushed before."""
        return Column(self.path, self.dtype, n, checksum, offset, is_alone=False)

    def push(self, parts: Iterable[Array], below: Column | None) -> Column:
        """Push a column on top of `below` (None = the bottom), discarding anything above it."""
        offset = below.n_bytes if below else 0
        state = _Crc()
        try:
            if self._file is None:
                self._file = self.path.open("r+b" if self.path.exists() else "w+b", buffering=0)
            self._file.truncate(offset)
            self._file.seek(offset)
            n = _write_parts(self._file, self.dtype, parts, state)
        except OSError as error:
            raise write_error(self.path, error) from None
        return self.column(offset, n, state.hexdigest())

    def drop(self, column: Column) -> None:
        """Discard a column and everything above it."""
        self.close()
        with self.path.open("r+b") as file:
            file.truncate(column.offset)


def write_error(path: Path, error: OSError) -> FileError:
    """Return the error for a file that could not be written."""
    return FileError(
        f"{path} cannot be written: {reason_of(error)}; {RESUME}",
        code="file.unwritable",
    )

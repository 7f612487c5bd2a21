"""Memory limits for the parts of a solve."""

import re
import sys
from dataclasses import dataclass

from lab2048.errors import UsageError

_UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}
BASE = 320 * 2**20  # the program itself: Python, NumPy, Numba, compiled kernels
LEAST = 64 * 2**20  # for the arrays


def read_size(text: str) -> int:
    """Parse a size in bytes.

    >>> read_size("8G"), read_size("512M"), read_size("1.5K")
    (8589934592, 536870912, 1536)
    """
    found = re.fullmatch(r"([0-9]{1,15}(?:\.[0-9]{1,6})?)\s*([KMGT]?)(?:i?B)?", text.strip(), re.IGNORECASE | re.ASCII)
    if not found:
        raise UsageError(f"memory {text!r} is not understood: expected a size such as 8G or 500M", field="memory")
    return int(float(found[1]) * _UNITS[found[2].upper()])


def write_size(n_bytes: int) -> str:
    """Write a size as `read_size` reads it, rounded to six digits.

    >>> write_size(1), write_size(1536), write_size(8 * 2**30)
    ('1B', '1.5K', '8G')
    """
    unit = next(unit for unit in reversed(_UNITS) if _UNITS[unit] <= max(1, n_bytes))
    return f"{n_bytes / _UNITS[unit]:g}{unit or 'B'}"


def peak_memory() -> int:
    """Return the peak memory of this process in bytes; 0 if unknown."""
    try:
        import resource
    except ImportError:  # Windows
        return 0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


@dataclass(frozen=True)
class Memory:
    """Array sizes of a solve, in keys of 8 bytes, derived from a limit in bytes.

    Sizes that could change the rounding of values do not depend on the number of workers.
    """

    bytes: int
    n_workers: int = 1

    @classmethod
    def within(cls, limit: int, n_workers: int) -> "Memory":
        """Make limits from a limit for the whole process."""
        room = limit - BASE
        if room < LEAST:
            raise UsageError(
                f"memory {write_size(limit)} is too little: expected at least {write_size(BASE + LEAST)}",
                field="memory",
            )
        return cls(room, n_workers)

    @property
    def run(self) -> int:
        """Keys of a run while it is built and sorted; each worker needs one and a copy."""
        return min(1 << 21, self.bytes // 8 // 16 // self.n_workers)

    @property
    def chunk(self) -> int:
        """Keys that a worker processes at once."""
        return min(1 << 18, self.bytes // 8 // 64 // self.n_workers)

    @property
    def run_room(self) -> int:
        """Keys of sorted runs kept in memory."""
        return self.bytes // 8 // 6

    @property
    def part(self) -> int:
        """Keys of a range while it is merged; each worker holds up to three copies."""
        return self.bytes // 8 // 12 // self.n_workers

    @property
    def key_index(self) -> int:
        """Keys of an index in memory, with their values and buckets."""
        return self.bytes // 24 // 6

"""What a job needs of the machine; a job that needs more than there is does not start."""

from typing import NamedTuple

from lab2048.errors import JobConflictError
from lab2048.records.disk_space import rough_size


class Needs(NamedTuple):
    """What a job needs at most, in bytes; 0 = little, or unknown."""

    disk: int = 0
    memory: int = 0

    def check(self, *, n_written: int, free: int, promised: int, memory: int) -> None:
        """Raise JobConflictError if a job that has written `n_written` bytes needs more than there is.

        `free` bytes are on the disk, of which `promised` belong to other jobs; jobs may use `memory`, 0 if unknown.
        """
        left = self.disk - n_written
        if left > 0 and left + promised > free:
            beside = f", and other jobs still need {rough_size(promised)}" if promised else ""
            room = rough_size(max(0, free))
            raise JobConflictError(
                f"not enough disk space: it needs up to {rough_size(left)}, and {room} are free{beside}"
            )
        if self.memory > memory > 0:
            raise JobConflictError(
                f"not enough memory: it needs about {rough_size(self.memory)}, and jobs may use "
                f"{rough_size(memory)} on this machine"
            )

    def why_it_waits(self, used: int, memory: int) -> str:
        """Return in one line why a job waits while others use `used` of the `memory` that jobs may use, in bytes."""
        return (
            f"waiting for memory: it needs about {rough_size(self.memory)}, and running jobs need {rough_size(used)} "
            f"of {rough_size(memory)}"
        )

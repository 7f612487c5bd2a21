"""Where a result comes from: which program on which machine, by which command, when."""

import platform
import sys
from datetime import UTC, datetime
from typing import Any

import lab2048


def program() -> str:
    """The name and the version of this program."""
    return f"lab2048 {lab2048.__version__}"


def now() -> str:
    """The time, UTC, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def provenance() -> dict[str, Any]:
    """What every kept file and run says of its origin."""
    return {
        "program": program(),
        "command": " ".join(["lab2048", *sys.argv[1:]]),
        "created": now(),
        "python": platform.python_version(),
        "machine": f"{platform.system()} {platform.machine()}",
    }

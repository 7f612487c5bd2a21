"""Where a result comes from: which program on which machine, by which command, when."""

import platform
import sys
from datetime import UTC, datetime
from typing import Any

import lab2048


def provenance() -> dict[str, Any]:
    """What every kept file and run says of its origin."""
    return {
        "program": f"lab2048 {lab2048.__version__}",
        "command": " ".join(["lab2048", *sys.argv[1:]]),
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "python": platform.python_version(),
        "machine": f"{platform.system()} {platform.machine()}",
    }

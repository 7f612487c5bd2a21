"""Delete from the disk of a node what killed commands have left there, and files that have not been used for long."""

import contextlib
import re
import shutil
import time
from collections.abc import Iterable
from pathlib import Path

from lab2048.cluster import node_disk

_DAY = 24 * 3600  # seconds; nothing is in the making that long
_MONTH = 30 * _DAY
_PARCEL_NAME = "[0-9a-f]{24}"


def delete_leftovers() -> None:
    """Delete unfinished files after a day, and after a month files of the driver and layers of unfinished solves."""
    from lab2048.kernels import _jit

    files, layers = _jit.cache_root() / "cluster", node_disk.place("")
    _delete(files.glob("*.part"), _DAY)
    _delete(layers.glob(f"*/{node_disk.TEMPORARY}*"), _DAY)
    _delete((path for path in files.glob("*") if re.fullmatch(_PARCEL_NAME, path.name)), _MONTH)
    _delete((path for path in layers.glob("*") if re.fullmatch(node_disk.FOLDER_NAME, path.name)), _MONTH)


def _delete(folders: Iterable[Path], seconds: float) -> None:
    """Delete folders that have not changed for some seconds."""
    for folder in list(folders):
        with contextlib.suppress(OSError):  # another process of this machine may be faster
            if time.time() - folder.stat().st_mtime > seconds:
                shutil.rmtree(folder, ignore_errors=True)

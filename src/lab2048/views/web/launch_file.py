"""The launch file: a local HTML file that opens the page with its token.

A browser is started with the name of this file.  With the address itself, every user of the machine could read the
token in the list of processes.  Only the owner can read the file, and it is deleted when the server stops.
"""

import contextlib
import os
import re
from html import escape, unescape
from pathlib import Path

from lab2048.records.database import data_folder

_PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0; url={address}">
<title>lab2048</title>
<p><a href="{address}">Open lab2048</a></p>
</html>
"""


class LaunchFile:
    """The launch file of the server on a port."""

    def __init__(self, port: int) -> None:
        self.path = _folder() / f"lab2048-open-{port}.html"

    def write(self, address: str) -> bool:
        """Write a file that opens `address`; return False if that is impossible."""
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)
        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            self.path.unlink(missing_ok=True)
            with open(os.open(self.path, flags, 0o600), "w", encoding="utf-8") as file:  # noqa: PTH123 - a descriptor
                file.write(_PAGE.format(address=escape(address)))
        except OSError:
            return False
        return True

    def address(self) -> str | None:
        """Return the address in the file, or None if there is no such file."""
        with contextlib.suppress(OSError, UnicodeDecodeError):
            found = re.search(r'<a href="([^"]*)"', self.path.read_text(encoding="utf-8"))
            return unescape(found[1]) if found else None
        return None

    def close(self) -> None:
        """Delete the file."""
        with contextlib.suppress(OSError):
            self.path.unlink(missing_ok=True)


def _folder() -> Path:
    """Return a folder that browsers may read: those in a snap see no hidden folders."""
    return Path.home() if Path("/snap/bin").is_dir() else data_folder()

"""One server per store: the lock that it holds, and the port that it leaves for others.

Two servers would each have their own idea of the same open games.
"""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from lab2048.errors import FileError, UsageError
from lab2048.records.atomic_file import replacing
from lab2048.records.process_lock import ProcessLock


class ServerLock:
    """The lock of the server of a store; the operating system releases it when the server ends, even by a kill."""

    def __init__(self, store: Path) -> None:
        self._store = store
        target = Path(os.path.realpath(store))  # one store may have several names
        self._lock = ProcessLock(target.with_name(f"{target.name}-server.lock"))
        self._file = target.with_name(f"{target.name}-server")

    def is_held(self) -> bool:
        """Return True if a server is running."""
        if self._lock.try_acquire():
            self._lock.release()
            return False
        return True

    def port(self) -> int | None:
        """Return the port of the running server; None if it is not known yet."""
        with contextlib.suppress(OSError, ValueError):
            return int(self._file.read_text(encoding="utf-8"))
        return None

    @contextlib.contextmanager
    def hold(self, port: int) -> Iterator[None]:
        """Hold the lock and leave the port for others; raise UsageError if another server is running."""
        if not self._lock.try_acquire():
            raise self.refusal()
        try:
            with contextlib.suppress(FileError), replacing(self._file, force=True) as file:
                file.write(str(port))
            yield
        finally:
            with contextlib.suppress(OSError):
                self._file.unlink(missing_ok=True)
            self._lock.release()

    def refusal(self) -> UsageError:
        """Return the error of a second server."""
        port = self.port()
        where = f"http://127.0.0.1:{port}/" if port else "it is just starting"
        return UsageError(
            f"lab2048 is already running with the store {self._store}: {where}",
            code="store.served",
            field="store",
            hint="open that page, or start a second server with a store of its own",
        )

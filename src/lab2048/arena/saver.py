"""Save again what a store could not take: another program was writing, or the disk was full."""

import threading
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary, ref

from lab2048.errors import StoreError

if TYPE_CHECKING:
    from lab2048.arena.session import Session
    from lab2048.records.store import Store

RETRY_SECONDS = 0.25

_savers: "WeakKeyDictionary[Store, Saver]" = WeakKeyDictionary()
_savers_lock = threading.Lock()


def saver_of(store: "Store") -> "Saver":
    """Return the one saver of a store."""
    with _savers_lock:
        if store not in _savers:
            _savers[store] = Saver(store)
        return _savers[store]


class Saver:
    """Retries for all sessions of a store until everything is saved, on a thread that runs only while it has to.

    While the store fails, sessions do not try to save: each try could wait half a second for another program.
    """

    def __init__(self, store: "Store") -> None:
        """Use `saver_of`."""
        self.reason = ""  # why the store cannot be written now; empty if it can, as far as is known
        self._store = ref(store)  # a saver lives as long as its store
        self._lock = threading.Lock()
        self._waiting: dict[Session, None] = {}  # those that wait longest first
        self._has_thread = False
        self._pause = threading.Event()

    def add(self, session: "Session", error: StoreError | None = None) -> None:
        """Save a session later; `error` is why it could not be saved now."""
        with self._lock:
            if error is not None and error.code.startswith("store."):  # any session would fail
                self.reason = str(error)
            self._waiting[session] = None
            if not self._has_thread:
                self._has_thread = True
                threading.Thread(target=self._run, name="saver", daemon=True).start()

    def forget(self, session: "Session") -> None:
        """Stop saving a session, because it is closed."""
        with self._lock:
            self._waiting.pop(session, None)

    def can_try(self) -> bool:
        """Return False if the store is known to fail still; never wait."""
        store = self._store()
        return not self.reason or (store is not None and store.is_writable())

    def _run(self) -> None:
        while True:
            self._pause.wait(RETRY_SECONDS)
            with self._lock:
                store, sessions = self._store(), list(self._waiting)
                if not sessions or store is None or store.is_closed:
                    self._has_thread, self.reason = False, ""
                    return
            if self.can_try():
                self._save(sessions)

    def _save(self, sessions: "list[Session]") -> None:
        """Save sessions until one fails because of the store; that one comes last the next time."""
        for session in sessions:
            self.reason = ""
            self.forget(session)
            session.save()  # adds itself if it fails
            if self.reason:
                return

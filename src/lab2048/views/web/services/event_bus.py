"""Events of the server, and the tabs that listen to them.

Any thread may publish events; a tab reads them in the server's event loop.  A slow tab gets only the
newest event of each kind.
"""

import asyncio
import contextlib
import threading
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property

from lab2048.views.web.errors import NotReadyError

CROWDED = 100  # events queued per tab before older ones are dropped
MAX_TABS = 400


@dataclass
class News:
    """One event of a stream."""

    event: str
    data: str  # JSON
    key: str = ""  # in a slow tab, an event replaces a waiting one with the same key
    short: Callable[[], str] | None = None  # the data for a tab that has missed events

    @cached_property
    def line(self) -> bytes:
        """The event as it is sent; written once for all tabs."""
        return f"event: {self.event}\ndata: {self.data}\n\n".encode()


@dataclass(eq=False)
class Tab:
    """A listener."""

    name: str
    games: frozenset[int]
    loop: asyncio.AbstractEventLoop
    waiting: deque[News] = field(default_factory=deque)
    bell: asyncio.Event = field(default_factory=asyncio.Event)
    is_closed: bool = False

    def put(self, news: News) -> None:
        """Queue an event; the caller holds the lock of the bus."""
        if news.key and len(self.waiting) >= CROWDED:
            older = [other for other in self.waiting if other.key != news.key]
            if len(older) < len(self.waiting) and news.short:
                news = News(news.event, news.short(), news.key)
            self.waiting = deque(older)
        self.waiting.append(news)
        with contextlib.suppress(RuntimeError):  # the loop has ended
            self.loop.call_soon_threadsafe(self.bell.set)


class Bus:
    """Delivers events to tabs."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._tabs: set[Tab] = set()
        self.is_closed = False

    @contextlib.contextmanager
    def listen(self, name: str, games: frozenset[int]) -> Iterator[Tab]:
        """Register a tab while it listens; raise NotReadyError if too many do."""
        tab = Tab(name, games, asyncio.get_running_loop())
        with self._lock:
            if len(self._tabs) >= MAX_TABS:
                raise NotReadyError("too many tabs are open: close some, or try again in a moment", code="busy")
            self._tabs.add(tab)
        try:
            yield tab
        finally:
            with self._lock:
                self._tabs.discard(tab)

    def take(self, tab: Tab) -> list[News]:
        """Return the waiting events of a tab."""
        with self._lock:
            waiting, tab.waiting = list(tab.waiting), deque()
            tab.bell.clear()
        return waiting

    def tell(self, news: News, *, game: int | None = None, but: str = "") -> None:
        """Send an event to all tabs, or to those that show a game, except the tab that caused it."""
        with self._lock:
            for tab in self._tabs:
                if (game is None or game in tab.games) and not (but and tab.name == but):
                    tab.put(news)

    def is_watched(self, game: int) -> bool:
        with self._lock:
            return any(game in tab.games for tab in self._tabs)

    def close(self) -> None:
        """Close all streams."""
        with self._lock:
            self.is_closed = True
            for tab in self._tabs:
                with contextlib.suppress(RuntimeError):
                    tab.loop.call_soon_threadsafe(tab.bell.set)

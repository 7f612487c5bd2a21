"""Events of the server, and the tabs that listen to them.

Any thread may publish events; a tab reads them in the server's event loop.  A slow tab gets only the
newest event of each kind.
"""

import asyncio
import contextlib
import threading
from collections import defaultdict, deque
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from lab2048.views.web.errors import NotReadyError

CROWDED = 100  # events queued per tab before older ones are dropped
MAX_TABS = 400
FEW_TABS = 20  # up to here, the progress of jobs is sent at once
PROGRESS_RATE = 200  # tabs that get the progress of jobs per second, if they are more


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

    def put(self, news: News) -> None:
        """Queue an event; the caller holds the lock of the bus."""
        if news.key and len(self.waiting) >= CROWDED:
            older = [other for other in self.waiting if other.key != news.key]
            if len(older) < len(self.waiting) and news.short:
                news = News(news.event, news.short(), news.key)
            self.waiting = deque(older)
        self.waiting.append(news)


class Bus:
    """Delivers events to tabs."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._tabs: set[Tab] = set()
        self._by_game: defaultdict[int, set[Tab]] = defaultdict(set)
        self._delayed: dict[str, News] = {}  # by key
        self.is_closed = False

    @contextlib.contextmanager
    def listen(self, name: str, games: frozenset[int]) -> Iterator[Tab]:
        """Register a tab while it listens; raise NotReadyError if too many do."""
        tab = Tab(name, games, asyncio.get_running_loop())
        with self._lock:
            if len(self._tabs) >= MAX_TABS:
                raise NotReadyError("too many tabs are open: close some, or try again in a moment", code="busy")
            self._tabs.add(tab)
            for game in games:
                self._by_game[game].add(tab)
        try:
            yield tab
        finally:
            with self._lock:
                self._tabs.discard(tab)
                for game in games:
                    self._by_game[game].discard(tab)
                    if not self._by_game[game]:
                        del self._by_game[game]

    def take(self, tab: Tab) -> list[News]:
        """Return the waiting events of a tab."""
        with self._lock:
            waiting, tab.waiting = list(tab.waiting), deque()
            tab.bell.clear()
        return waiting

    def tell(self, news: News, *, game: int | None = None, but: str = "") -> None:
        """Send an event to all tabs, or to those that show a game, except the tab that caused it."""
        with self._lock:
            tabs = self._tabs if game is None else self._by_game.get(game, ())
            self._deliver([news], [tab for tab in tabs if not (but and tab.name == but)])

    def tell_progress(self, news: News) -> None:
        """Send an event to all tabs, later if they are many; of those with the same key, only the newest."""
        with self._lock:
            if len(self._tabs) <= FEW_TABS:
                self._deliver([*self._take_delayed(news.key), news], self._tabs)
                return
            is_first = not self._delayed
            self._delayed[news.key] = news
            if is_first:
                loop = next(iter(self._tabs)).loop
                _call(loop, loop.call_later, len(self._tabs) / PROGRESS_RATE, self._tell_delayed)

    def is_watched(self, game: int) -> bool:
        with self._lock:
            return game in self._by_game

    def close(self) -> None:
        """Close all streams."""
        with self._lock:
            self.is_closed = True
            self._deliver([], self._tabs)

    def _tell_delayed(self) -> None:
        """Queue the delayed events, and wake one tab after the other: requests do not wait for all of them."""
        with self._lock:
            some = self._take_delayed()
            for i, tab in enumerate(self._tabs):
                for news in some:
                    tab.put(news)
                tab.loop.call_later(i / PROGRESS_RATE, tab.bell.set)

    def _take_delayed(self, key: str = "") -> list[News]:
        """Return the delayed events, except the one with this key, which is outdated."""
        delayed, self._delayed = self._delayed, {}
        return [news for news in delayed.values() if news.key != key]

    def _deliver(self, some: Iterable[News], tabs: Collection[Tab]) -> None:
        """Queue events and wake the tabs; the caller holds the lock."""
        for tab in tabs:
            for news in some:
                tab.put(news)
        loops = {tab.loop for tab in tabs}
        for loop in loops:  # one call wakes all: each writes to a pipe
            _call(loop, _ring, [tab.bell for tab in tabs if tab.loop is loop])


def _ring(bells: Iterable[asyncio.Event]) -> None:
    for bell in bells:
        bell.set()


def _call(loop: asyncio.AbstractEventLoop, *call: Any) -> None:
    """Call a function in the thread of a loop, unless the loop has ended."""
    with contextlib.suppress(RuntimeError):
        loop.call_soon_threadsafe(*call)

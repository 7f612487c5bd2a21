"""Long work: the same command as on a command line, in a process of its own, followed by its events.

So the screen never waits for it, what goes wrong in it stays there, and Ctrl-C means to it
what it always means: keep what is done, and end.
"""

import asyncio
import contextlib
import json
import signal
import sys
from collections import deque
from typing import Any

from lab2048.views.game_list import printable
from lab2048.views.number import count, number

LOG_LINES = 4
MAX_LINE = 2**24  # bytes of one event
MAX_POINTS = 4000  # of a curve; beyond it every other one is dropped


class Job:
    """A command that runs, and what it has told so far."""

    def __init__(self, name: str, words: list[str]) -> None:
        """Name the command; `start` starts it."""
        self.name, self.words = name, words
        self.event: dict[str, Any] = {}  # the last one
        self.points: list[dict[str, Any]] = []  # all of them, thinned out
        self.log: deque[str] = deque(maxlen=LOG_LINES)
        self.code: int | None = None
        self.is_stopping = False
        self.version = 0  # changes with everything
        self._stride, self._n_events = 1, 0
        self._process: asyncio.subprocess.Process | None = None
        self._running: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Run, and listen."""
        self._running = asyncio.create_task(self._run())

    async def _run(self) -> None:
        try:
            self._process = process = await asyncio.create_subprocess_exec(
                sys.executable, "-m", "lab2048", *self.words, "--jsonl",
                stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
                start_new_session=True, limit=MAX_LINE,
            )  # fmt: skip
        except OSError as error:
            self.log.append(str(error))
            self.code = 1
            return
        if self.is_stopping:
            self._interrupt()
        assert process.stdout
        assert process.stderr
        await asyncio.gather(self._listen(process.stdout), self._overhear(process.stderr))
        self.code = await process.wait()
        self.version += 1

    async def _listen(self, stream: asyncio.StreamReader) -> None:
        """Events, one a line."""
        async for line in stream:
            with contextlib.suppress(ValueError):
                event = json.loads(line)
                if isinstance(event, dict) and event.get("event") != "games":  # how it stands is enough
                    self.take(event)

    async def _overhear(self, stream: asyncio.StreamReader) -> None:
        """What it says to people."""
        async for line in stream:
            if text := printable(line.decode(errors="replace").strip()):
                self.log.append(text)
                self.version += 1

    def take(self, event: dict[str, Any]) -> None:
        """Note an event."""
        self.event = event
        if self._n_events % self._stride == 0:
            self.points.append(event)
        if len(self.points) > MAX_POINTS:
            del self.points[::2]
            self._stride *= 2
        self._n_events += 1
        self.version += 1

    @property
    def is_running(self) -> bool:
        return self.code is None

    def stop(self) -> None:
        """Ask it to keep what it has and to end; the second time, do not ask."""
        if self.code is not None:
            return
        if self.is_stopping and self._process:
            with contextlib.suppress(ProcessLookupError):
                self._process.kill()
        self.is_stopping = True
        self.version += 1
        self._interrupt()

    def _interrupt(self) -> None:
        if self._process and self._process.returncode is None:
            with contextlib.suppress(ProcessLookupError, ValueError):
                self._process.send_signal(signal.SIGINT)

    async def wait(self) -> None:
        """Until it has ended."""
        if self._running:
            await self._running

    @property
    def part(self) -> float | None:
        """How much is done, from 0 to 1; None if nobody knows."""
        event = self.event
        done, whole = event.get("n_done", event.get("n_layers")), event.get("n_all")
        if self.name == "train":
            done, whole = event.get("seconds"), 60 * float(_after(self.words, "--minutes") or 0)
        if self.code == 0:
            return 1.0
        return min(1.0, done / whole) if done is not None and whole else None

    @property
    def _kept(self) -> str:
        is_lost = self.name == "solve" and "--out" not in self.words
        return ", and without a folder nothing is kept" if is_lost else "; what was done is kept"

    @property
    def state(self) -> str:
        """How it stands, in a few words."""
        if self.code == 0:
            return "done"
        if self.code is not None:
            return f"stopped{self._kept}" if self.is_stopping else f"failed: {' '.join(list(self.log)[-1:])}"
        if self.is_stopping:
            return "stopping; once more: at once"
        event = self.event
        if not event:
            return self.log[-1] if self.log else "starting"
        if self.name == "match":
            n_players = max(1, len(event["players"]))
            each = f", {event['n_all'] // n_players:,} for each player" if n_players > 1 else ""
            return f"{event['n_done']:,} of {count(event['n_all'], 'game')}{each}"
        if self.name == "train":
            return f"{event['n_moves'] / 1e6:,.1f} million moves, mean score {number(event['mean'] or 0)}"
        return f"{event['phase']}, tile sum {event['tile_sum']}" if "phase" in event else "working"


def _after(words: list[str], option: str) -> str | None:
    return words[words.index(option) + 1] if option in words[:-1] else None

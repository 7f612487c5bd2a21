"""Measure the page's server under load: python benchmarks/load.py --minutes 10 --players 50 --watchers 4 --idle 200

Players make a move, wait for the answer and make another one 0.1 to 0.3 seconds later, as a quick person does. Each
watcher listens to a game that is played at 60 moves per second. Idle clients only listen. Beside them the server runs a
training, and solves of 3x3 one after the other. Prints how long moves took, the memory of the server after the first
minute and at the end, and errors. The targets are a 95th percentile below 100 ms, 5% more memory at most, and no error;
if one is missed, the exit code is 1. On a busy machine the times say little: this program itself waits as well.
"""

import argparse
import asyncio
import contextlib
import json
import os
import random
import re
import secrets
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

TOKEN = secrets.token_urlsafe()
MAX_MS, MAX_GROWTH = 100.0, 0.05


class Line:
    """A connection that is kept open, with little code, so that the server is measured and not the client."""

    def __init__(self, port: int) -> None:
        self.host, self.port = "127.0.0.1", port

    async def __aenter__(self) -> Self:
        self.reader, self.writer = await asyncio.open_connection(self.host, self.port, limit=2**22)
        return self

    async def __aexit__(self, *error: object) -> None:
        self.writer.close()

    async def send(self, method: str, path: str, body: Any = None) -> dict[str, str]:
        """Send a request and return the head of the answer."""
        data = b"" if body is None else json.dumps(body).encode()
        head = f"{method} {path} HTTP/1.1\r\nHost: {self.host}:{self.port}\r\nContent-Length: {len(data)}\r\n"
        head += f"Authorization: Bearer {TOKEN}\r\n"
        self.writer.write(head.encode() + b"Content-Type: application/json\r\n\r\n" + data)
        first, *lines = (await self.reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")[:-2]
        fields = dict(line.lower().split(": ", 1) for line in lines)
        return {"status": first.split()[1], **fields}

    async def open(self, path: str) -> None:
        """Open an event stream."""
        if (head := await self.send("GET", path))["status"] != "200":
            raise ValueError(f"{path}: {head['status']}")

    async def ask(self, method: str, path: str, body: Any = None) -> Any:
        """Send a request and return the answer, or raise ValueError if it is an error."""
        head = await self.send(method, path, body)
        answer = await self.reader.readexactly(int(head["content-length"]))
        if head["status"] != "200":
            raise ValueError(answer.decode())
        return json.loads(answer)


@dataclass
class Load:
    """What the clients of a server have seen."""

    port: int
    end: float  # on the clock of `time.monotonic`
    times: list[float] = field(default_factory=list)  # seconds of each move
    n_watched: int = 0  # moves that watchers saw
    n_lines: int = 0  # lines that idle streams received
    n_solves: int = 0
    errors: list[str] = field(default_factory=list)

    def move_times(self) -> dict[str, float]:
        """Return how many moves were made, and how long they took in milliseconds."""
        cuts = statistics.quantiles(self.times, n=100)
        figures = {"p50_ms": cuts[49], "p95_ms": cuts[94], "max_ms": max(self.times)}
        return {"moves": len(self.times), **{name: round(1000 * each, 1) for name, each in figures.items()}}

    def is_over(self) -> bool:
        return time.monotonic() > self.end

    async def trying(self, client: Awaitable[None]) -> None:
        """Let a client run until the end; whatever stops it earlier is an error."""
        try:
            await client
        except (OSError, EOFError, KeyError, ValueError, TimeoutError) as error:
            self.errors.append(repr(error)[:300])

    async def person(self, number: int) -> None:
        dice = random.Random(number)
        game: dict[str, Any] = {}
        async with Line(self.port) as line:
            while not self.is_over():
                if not game or game["over"]:
                    game = (await line.ask("POST", "/api/games", {"seed": number}))["state"]
                body = {"moves": dice.choice("wasd"), "rev": game["rev"]}
                begin = time.monotonic()
                game = (await line.ask("POST", f"/api/games/{game['id']}/moves", body))["state"]
                self.times.append(time.monotonic() - begin)
                await asyncio.sleep(dice.uniform(0.1, 0.3))

    async def watcher(self, number: int) -> None:
        async with Line(self.port) as line, Line(self.port) as stream:
            game = (await line.ask("POST", "/api/games", {"seed": 1000 + number}))["state"]["id"]
            await stream.open(f"/api/events?tab=watcher-{number}&games={game}")
            body = {"player": "random", "speed": 60}
            await line.ask("PUT", f"/api/games/{game}/auto", body)
            while not self.is_over():
                data = (await asyncio.wait_for(stream.reader.readline(), 60)).decode()
                if not data.startswith("data: ") or '"turns"' not in data:
                    continue
                change = json.loads(data.removeprefix("data: "))
                self.n_watched += len(change["turns"])
                if change["state"]["over"]:  # continue from half-way
                    n = max(1, change["state"]["n_moves"] // 2)
                    await line.ask("POST", f"/api/games/{game}/undo", {"n": n})
                    await line.ask("PUT", f"/api/games/{game}/auto", body)

    async def idler(self, number: int) -> None:
        async with Line(self.port) as stream:
            await stream.open(f"/api/events?tab=idle-tab-{number}")
            while not self.is_over():
                if not await asyncio.wait_for(stream.reader.readline(), 60):  # a comment comes every 15 s
                    raise EOFError("an idle stream ended")
                self.n_lines += 1

    async def worker(self) -> None:
        """Keep a training and a solve running."""
        async with Line(self.port) as line:
            body = {"name": "load", "network": "small", "minutes": (self.end - time.monotonic()) / 60 + 1}
            training = await line.ask("POST", "/api/trainings", body)
            while not self.is_over():
                self.n_solves += 1
                name = f"load-{self.n_solves}"
                solve = await line.ask("POST", "/api/solves", {"rules": {"board": "3x3"}, "name": name})
                while not self.is_over() and solve["state"] in ("queued", "running"):
                    await asyncio.sleep(1)
                    solve = await line.ask("GET", f"/api/jobs/{solve['id']}")
                if solve["state"] == "failed":
                    raise ValueError(solve["message"])
                if solve["state"] == "done":  # by the server: in this thread, the clients would wait for the disk
                    await line.ask("DELETE", f"/api/tables/{name}")
            training = await line.ask("GET", f"/api/jobs/{training['id']}")
            if training["state"] != "running":
                raise ValueError(f"the training is {training['state']}: {training['message']}")


async def get_ready(port: int) -> None:
    """Wait until players answer."""
    async with Line(port) as line:
        while not (await line.ask("GET", "/api/status"))["ready"]:
            await asyncio.sleep(0.5)


async def measure(port: int, pid: int, words: argparse.Namespace) -> dict[str, Any]:
    seconds = 60 * words.minutes
    load = Load(port, time.monotonic() + seconds)
    clients = [
        *(load.idler(i) for i in range(words.idle)),
        *(load.watcher(i) for i in range(words.watchers)),
        *(load.person(i) for i in range(words.players)),
        load.worker(),
    ]
    everything = asyncio.gather(*map(load.trying, clients))
    await asyncio.sleep(min(60.0, seconds / 2))
    before, cpu_before, n_before = memory(pid), cpu(pid), len(load.times)
    minutes = []
    while not load.is_over():
        await asyncio.sleep(max(0.0, min(60.0, load.end - time.monotonic())))
        minutes.append(round(memory(pid), 1))
    after, n_measured = memory(pid), len(load.times) - n_before
    cpu_per_move = (cpu(pid) - cpu_before) / max(1, n_measured)
    await everything
    return {
        **load.move_times(),
        "watched_moves_per_second": round(load.n_watched / seconds, 1),
        "lines_to_idle_streams": load.n_lines,
        "solves_begun": load.n_solves,
        "memory_mb_after_first_minute": round(before, 1),
        "memory_mb_by_minute": minutes,
        "memory_mb_at_end": round(after, 1),
        "memory_growth": round(after / before - 1, 4),
        "server_cpu_ms_per_move": round(1000 * cpu_per_move, 2),
        "own_cpu_seconds": round(time.process_time(), 1),
        "errors": len(load.errors),
        "first_errors": load.errors[:5],
    }


def memory(pid: int) -> float:
    """Return the resident memory of a process in MB."""
    found = re.search(r"VmRSS:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())
    return int(found[1]) / 1024 if found else 0.0


def cpu(pid: int) -> float:
    """Return the CPU seconds of a process."""
    words = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


@contextlib.contextmanager
def running_server(*words: str) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """Start `lab2048 serve` with a store of its own; yield the process and its port when players answer."""
    with tempfile.TemporaryDirectory() as name:
        environment = {**os.environ, "XDG_DATA_HOME": name, "LAB2048_STORE": str(Path(name) / "games.sqlite")}
        environment["LAB2048_TOKEN"] = TOKEN
        command = [sys.executable, "-u", "-m", "lab2048", "serve", "--port", "0", "--no-open", *words]
        with subprocess.Popen(
            command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        ) as server:
            assert server.stdout is not None
            found = re.search(r":(\d+)/", server.stdout.readline())
            assert found
            port = int(found[1])
            asyncio.run(get_ready(port))
            try:
                yield server, port
            finally:
                server.terminate()


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--players", type=int, default=50)
    parser.add_argument("--watchers", type=int, default=4)
    parser.add_argument("--idle", type=int, default=200)
    words = parser.parse_args()
    with running_server() as (server, port):
        result = asyncio.run(measure(port, server.pid, words))
        server.terminate()
        result["log_lines"] = len(server.communicate(timeout=60)[1].splitlines())
    print(json.dumps(result, indent=1))
    is_fine = result["p95_ms"] < MAX_MS and result["memory_growth"] <= MAX_GROWTH and not result["errors"]
    return 0 if is_fine else 1


if __name__ == "__main__":
    sys.exit(main())

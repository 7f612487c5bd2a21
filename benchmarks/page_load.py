"""How the page's server bears a crowd: python benchmarks/page_load.py [--seconds 60] [--players 50] [--watchers 4]

Players make a move, wait for the answer and make another one a little later, as a quick person does; each of the
watchers listens to a game that a player plays by itself.  Says how long answers took, how many moves were watched,
what went wrong, and how much memory the server took at the beginning and at the end.  On a busy machine
only the CPU seconds of the server are telling; where this program itself takes many, answers wait for it.
"""

import argparse
import asyncio
import json
import os
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Self


class Line:
    """A connection that is kept open, with as little between as can be: what is measured is the server."""

    def __init__(self, address: str) -> None:
        self.host, _, port = address.removeprefix("http://").rstrip("/").partition(":")
        self.port = int(port)

    async def __aenter__(self) -> Self:
        self.reader, self.writer = await asyncio.open_connection(self.host, self.port, limit=2**22)
        return self

    async def __aexit__(self, *error: object) -> None:
        self.writer.close()

    async def send(self, method: str, path: str, body: Any = None) -> dict[str, str]:
        """Ask, and read the head of the answer."""
        data = b"" if body is None else json.dumps(body).encode()
        head = f"{method} {path} HTTP/1.1\r\nHost: {self.host}:{self.port}\r\nContent-Length: {len(data)}\r\n"
        self.writer.write(head.encode() + b"Content-Type: application/json\r\n\r\n" + data)
        first, *lines = (await self.reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")[:-2]
        fields = dict(line.lower().split(": ", 1) for line in lines)
        return {"status": first.split()[1], **fields}

    async def ask(self, method: str, path: str, body: Any = None) -> Any:
        """Ask, and read the answer."""
        head = await self.send(method, path, body)
        answer = await self.reader.readexactly(int(head["content-length"]))
        if head["status"] != "200":
            raise ValueError(answer.decode())
        return json.loads(answer)


async def get_ready(address: str) -> None:
    """Wait until players answer."""
    async with Line(address) as line:
        while not (await line.ask("GET", "/api/status"))["ready"]:
            await asyncio.sleep(0.5)


async def person(address: str, number: int, end: float, times: list[float], errors: list[str]) -> None:
    dice = random.Random(number)
    game: dict[str, Any] = {}
    async with Line(address) as line:
        while time.monotonic() < end:
            begin = time.monotonic()
            try:
                if not game or game["over"]:
                    game = (await line.ask("POST", "/api/games", {"seed": number}))["state"]
                body = {"moves": dice.choice("wasd"), "rev": game["rev"]}
                game = (await line.ask("POST", f"/api/games/{game['id']}/moves", body))["state"]
            except (OSError, EOFError, KeyError, ValueError) as error:
                errors.append(repr(error)[:200])
                return
            times.append(time.monotonic() - begin)
            await asyncio.sleep(dice.uniform(0.1, 0.3))


async def watcher(address: str, number: int, end: float, moves: list[int], errors: list[str]) -> None:
    async with Line(address) as line, Line(address) as stream:
        game = (await line.ask("POST", "/api/games", {"seed": 1000 + number}))["state"]["id"]
        await stream.send("GET", f"/api/events?tab=watcher-{number}&games={game}")
        body = {"player": "random", "speed": 60}
        await line.ask("PUT", f"/api/games/{game}/auto", body)
        try:
            while time.monotonic() < end:
                data = (await stream.reader.readline()).decode()
                if not data.startswith("data: ") or '"turns"' not in data:
                    continue
                change = json.loads(data.removeprefix("data: "))
                moves.append(len(change["turns"]))
                if change["state"]["over"]:  # again from half-way
                    n = max(1, change["state"]["n_moves"] // 2)
                    await line.ask("POST", f"/api/games/{game}/undo", {"n": n})
                    await line.ask("PUT", f"/api/games/{game}/auto", body)
        except (OSError, EOFError, ValueError) as error:
            errors.append(repr(error)[:200])


async def crowd(address: str, n_players: int, n_watchers: int, seconds: float) -> dict[str, Any]:
    times: list[float] = []
    moves: list[int] = []
    errors: list[str] = []
    end = time.monotonic() + seconds
    await asyncio.gather(
        *(person(address, i, end, times, errors) for i in range(n_players)),
        *(watcher(address, i, end, moves, errors) for i in range(n_watchers)),
    )
    cuts = statistics.quantiles(times, n=100)
    return {
        "answers": len(times),
        "median_ms": 1000 * cuts[49],
        "p95_ms": 1000 * cuts[94],
        "max_ms": 1000 * max(times),
        "watched_moves_a_second": sum(moves) / seconds,
        "errors": len(errors),
        "first_errors": errors[:3],
    }


def memory(pid: int) -> float:
    """Megabytes that a process has."""
    found = re.search(r"VmRSS:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())
    return int(found[1]) / 1024 if found else 0.0


def cpu(pid: int) -> float:
    """CPU seconds that a process has taken."""
    words = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--players", type=int, default=50)
    parser.add_argument("--watchers", type=int, default=4)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "XDG_DATA_HOME": folder, "LAB2048_STORE": f"{folder}/games.sqlite"}
        command = [sys.executable, "-u", "-m", "lab2048", "serve", "--port", "0", "--no-open"]
        with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as server:
            assert server.stdout is not None
            address = server.stdout.readline().split()[-1]
            asyncio.run(get_ready(address))
            asyncio.run(crowd(address, options.players, options.watchers, min(5.0, options.seconds)))
            before, cpu_before = memory(server.pid), cpu(server.pid)
            result = asyncio.run(crowd(address, options.players, options.watchers, options.seconds))
            result |= {"memory_mb_before": before, "memory_mb_after": memory(server.pid)}
            result["server_cpu_seconds"] = cpu(server.pid) - cpu_before
            result["own_cpu_seconds"] = time.process_time()
            server.terminate()
            server.wait(60)
    print(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()

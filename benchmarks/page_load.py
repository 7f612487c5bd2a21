"""How the page's server bears a crowd: python benchmarks/page_load.py [--seconds 60] [--players 50] [--watchers 4]

Players make a move, wait for the answer and make another one a little later, as a quick person does; each of the
watchers listens to a game that a player plays by itself.  Says how long answers took, how many moves were watched,
what went wrong, and how much memory the server took at the beginning and at the end.  On a busy machine
only the CPU seconds of the server are telling.
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
from typing import Any

import httpx


async def person(client: httpx.AsyncClient, number: int, end: float, times: list[float], errors: list[str]) -> None:
    dice = random.Random(number)
    game: dict[str, Any] = {}
    while time.monotonic() < end:
        begin = time.monotonic()
        try:
            if not game or game["over"]:
                game = (await client.post("/api/games", json={"seed": number})).json()["state"]
            body = {"moves": dice.choice("wasd"), "rev": game["rev"]}
            answer = await client.post(f"/api/games/{game['id']}/moves", json=body)
            if answer.status_code != 200:
                errors.append(answer.text[:200])
            game = answer.json()["state"]
        except (httpx.HTTPError, KeyError, ValueError) as error:
            errors.append(repr(error))
        times.append(time.monotonic() - begin)
        await asyncio.sleep(dice.uniform(0.1, 0.3))


async def watcher(client: httpx.AsyncClient, number: int, end: float, moves: list[int], errors: list[str]) -> None:
    game = (await client.post("/api/games", json={"seed": 1000 + number})).json()["state"]["id"]
    try:
        async with client.stream("GET", f"/api/events?tab=watcher-{number}&games={game}", timeout=None) as stream:
            body = {"player": "random", "speed": 60}
            await client.put(f"/api/games/{game}/auto", json=body)
            async for line in stream.aiter_lines():
                if time.monotonic() > end:
                    return
                if not line.startswith("data: ") or '"turns"' not in line:
                    continue
                change = json.loads(line.removeprefix("data: "))
                moves.append(len(change["turns"]))
                if change["state"]["over"]:  # again from half-way
                    await client.post(f"/api/games/{game}/undo", json={"n": max(1, change["state"]["n_moves"] // 2)})
                    await client.put(f"/api/games/{game}/auto", json=body)
    except httpx.HTTPError as error:
        errors.append(repr(error))


async def crowd(address: str, n_players: int, n_watchers: int, seconds: float) -> dict[str, Any]:
    times: list[float] = []
    moves: list[int] = []
    errors: list[str] = []
    end = time.monotonic() + seconds
    limits = httpx.Limits(max_connections=n_players + 2 * n_watchers + 10)
    async with httpx.AsyncClient(base_url=address, timeout=30, limits=limits, trust_env=False) as client:
        await asyncio.gather(
            *(person(client, i, end, times, errors) for i in range(n_players)),
            *(watcher(client, i, end, moves, errors) for i in range(n_watchers)),
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
            while not httpx.get(f"{address}api/status", trust_env=False).json()["ready"]:
                time.sleep(0.5)
            asyncio.run(crowd(address, options.players, options.watchers, min(5.0, options.seconds)))
            before, cpu_before = memory(server.pid), cpu(server.pid)
            result = asyncio.run(crowd(address, options.players, options.watchers, options.seconds))
            result |= {"memory_mb_before": before, "memory_mb_after": memory(server.pid)}
            result["server_cpu_seconds"] = cpu(server.pid) - cpu_before
            server.terminate()
            server.wait(60)
    print(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()

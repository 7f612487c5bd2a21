"""Measure how a flood from another device delays a player: python benchmarks/flood.py --seconds 30

The server runs with --lan.  The flood comes from a network namespace of its own, so for the server it is another
device: it opens connections without a token as fast as it can, sends half a request on each and keeps the last 2,000
open.  A player on this machine makes moves before the flood and during it.  Prints how long the moves took, and how
many half requests came.  Needs Linux and root (ip netns).
"""

import argparse
import asyncio
import contextlib
import json
import os
import socket
import subprocess
import sys
import time
from collections import deque
from collections.abc import Iterator
from typing import Any

from load import Load, running_server

HERE, THERE = "198.18.77.1", "198.18.77.2"  # addresses that are reserved for benchmarks
HALF = b"GET /api/status HTTP/1.1\r\nHost: localhost\r\nX-Half: "
KEPT = 2000  # half requests that stay open


def flood(port: int, seconds: float) -> int:
    """Open half requests until the time is over; return how many.  Runs in the other namespace."""
    opened: deque[socket.socket] = deque()
    n, end = 0, time.monotonic() + seconds
    while time.monotonic() < end:
        with contextlib.suppress(OSError):
            stream = socket.create_connection((HERE, port), timeout=5)
            opened.append(stream)
            stream.sendall(HALF)
            n += 1
        if len(opened) > KEPT:
            opened.popleft().close()
    return n


@contextlib.contextmanager
def other_device() -> Iterator[str]:
    """Make a network namespace that reaches this machine by a cable of its own; yield its name."""
    name = f"flood{os.getpid()}"
    near, far = f"fl{os.getpid()}a", f"fl{os.getpid()}b"

    def run(*words: str) -> None:
        subprocess.run(["ip", *words], check=True, capture_output=True)

    run("netns", "add", name)
    try:
        run("link", "add", near, "type", "veth", "peer", "name", far, "netns", name)
        run("addr", "add", f"{HERE}/30", "dev", near)
        run("link", "set", near, "up")
        run("-n", name, "addr", "add", f"{THERE}/30", "dev", far)
        run("-n", name, "link", "set", far, "up")
        yield name
    finally:
        run("netns", "del", name)  # the cable goes with it


def play(port: int, seconds: float) -> dict[str, Any]:
    """Let one person play; return how long the moves took."""
    load = Load(port, time.monotonic() + seconds)
    asyncio.run(load.trying(load.person(1)))
    return {**load.move_times(), "errors": load.errors}


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--flood-port", type=int, help=argparse.SUPPRESS)  # the other device
    words = parser.parse_args()
    if words.flood_port:
        print(flood(words.flood_port, words.seconds))
        return 0
    with running_server("--lan") as (_, port), other_device() as device:
        before = play(port, words.seconds)
        command = ["ip", "netns", "exec", device, sys.executable, __file__]
        options = ["--seconds", str(words.seconds + 2), "--flood-port", str(port)]
        with subprocess.Popen([*command, *options], stdout=subprocess.PIPE, text=True) as attacker:
            during = play(port, words.seconds)
            n_half = int(attacker.communicate()[0])
    result = {"before": before, "during": during, "half_requests": n_half, "load": round(os.getloadavg()[0], 1)}
    print(json.dumps(result, indent=1))
    return 1 if before["errors"] or during["errors"] else 0


if __name__ == "__main__":
    sys.exit(main())

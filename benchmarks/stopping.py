"""Measure how fast work ends when it is asked to: python benchmarks/stopping.py [--repeat N]

Questions: seconds from the cancellation of a question, which would take hours, until the thread of its player is free.
Commands: seconds from Ctrl-C until the process has ended, while the command computes.
Server: the same for `lab2048 serve` with three endless hints.

On a busy machine look at the CPU seconds of commands and the server: those that the process used after Ctrl-C.
"""

import argparse
import json
import os
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from lab2048.arena.player_service import AskedPlayer
from lab2048.rules import Board, Rules

CLASSIC, WIDE = "2 # # # / # 4 # # / # # 8 # / # # # 2", " / ".join(["2 # # # # # # 4", *["# # # # # # # #"] * 7])
QUESTIONS = {
    "expectimax, classic": ("expectimax:depth=12,cut=0", CLASSIC),
    "expectimax, packed": ("lookahead:depth=12,end=spawn", CLASSIC),
    "expectimax, 2 threads": ("expectimax:depth=12,cut=0,threads=2", CLASSIC),
    "lookahead, 8x8": ("lookahead:depth=4", WIDE),
    "network": ("ntuple:depth=12,cut=0", CLASSIC),
    "rollouts": ("montecarlo:rollouts=1000000,risk=0", CLASSIC),
    "rollouts, 8x8": ("montecarlo:rollouts=1000000,risk=0,limit=1000000000", WIDE),
    "tree search": ("mcts:iterations=10000000", CLASSIC),
}
COMMANDS = {
    "hint": ["hint", WIDE, "--player", "lookahead:depth=4"],
    "watch": ["watch", "mcts:iterations=10000000"],
    "match, 1 worker": ["match", "expectimax:depth=12,cut=0", "--workers", "1", "--store", "F/games.sqlite"],
    "match, 2 workers": ["match", "expectimax:depth=8", "--workers", "2", "--store", "F/games.sqlite"],
    "tune": ["tune", "rows", "--player", "lookahead:depth=9", "--workers", "1", "--study", "F/study"],
    "solve": ["solve", "3x4", "--out", "F/table"],
    "count": ["count", "3x4", "--goal", "2048"],
    "perft": ["perft", "8x8", "6"],
    "train ntuple": ["train", "ntuple", "--out", "F/net.safetensors"],
    "train c51": ["train", "c51", "--out", "F/deep.safetensors"],
    "study": ["study", "run", "000-optimal", "--folder", "F/studies"],
    "bench": ["bench", "search"],
}
Times = tuple[list[float], list[float]]  # seconds, and CPU seconds if they are known
WARM_UP = 10.0  # seconds that a command computes before Ctrl-C
FREE_SECONDS, END_SECONDS = 0.2, 2.0  # what is promised


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    if not arguments.json:
        print(f"{'seconds':32} {'median':>9} {'longest':>9} {'CPU':>9}")
    work: dict[str, Callable[[], Times]] = {}
    for name, (spec, text) in QUESTIONS.items():
        work[f"question: {name}"] = partial(cancel, spec, Board.from_text(text), arguments.repeat)
    n = max(1, arguments.repeat // 2)
    for name, words in COMMANDS.items():
        work[f"command: {name}"] = partial(repeat, partial(interrupt, words), n)
    work["server"] = partial(repeat, interrupt_server, n)
    for name, measure in work.items():
        times, cpu = measure()
        if arguments.json:
            print(json.dumps({"what": name, "seconds": times, "cpu_seconds": cpu}), flush=True)
            continue
        limit = FREE_SECONDS if name.startswith("question") else END_SECONDS
        mark = "" if max(times) <= limit else f"  more than {limit:g} s"
        shown = f"{max(cpu):9.3f}" if cpu else f"{'':9}"
        print(f"{name:32} {statistics.median(times):9.3f} {max(times):9.3f} {shown}{mark}", flush=True)


def repeat(measure: Callable[[], tuple[float, float]], n: int) -> Times:
    pairs = [measure() for _ in range(n)]
    return [wall for wall, _ in pairs], [cpu for _, cpu in pairs]


def cancel(spec: str, board: Board, n: int) -> Times:
    """Return the seconds after which each of n cancelled questions has freed its player."""
    player = AskedPlayer(spec, Rules.from_text("x".join(map(str, board.shape.sizes))), 1)
    player.prepare()
    times = []
    for _ in range(n):
        question = player.ask(board)
        time.sleep(0.5)
        begin = time.monotonic()
        question.cancel()
        with player._thinking:
            times.append(time.monotonic() - begin)
    player.close()
    return times, []


def interrupt(words: list[str]) -> tuple[float, float]:
    """Return the seconds and CPU seconds from Ctrl-C to the end of a command."""
    with tempfile.TemporaryDirectory() as folder:
        words = [word.replace("F/", f"{folder}/") if word.startswith("F/") else word for word in words]
        return _time(words, lambda _: time.sleep(WARM_UP))


def interrupt_server() -> tuple[float, float]:
    """Return the seconds and CPU seconds from Ctrl-C to the end of a server that searches."""

    def load(process: "subprocess.Popen[str]") -> None:
        assert process.stdout is not None
        line = process.stdout.readline()
        port = int(line.rsplit(":", 1)[1].partition("/")[0])
        body = {"board": WIDE}
        while _post(port, "/api/hint", body | {"player": "greedy"}, is_waited_for=True) != 200:
            time.sleep(0.5)
        for name in ("order", "snake", "rows"):
            _post(port, "/api/hint", body | {"player": f"lookahead:depth=4,eval={name}"})
        time.sleep(1)

    with tempfile.TemporaryDirectory() as folder:
        return _time(["serve", "--port", "0", "--no-open", "--no-token", "--store", f"{folder}/games.sqlite"], load)


_connections: list[socket.socket] = []


def _post(port: int, path: str, body: object, *, is_waited_for: bool = False) -> int:
    text = json.dumps(body).encode()
    head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/json\r\n"
    connection = socket.create_connection(("127.0.0.1", port))
    connection.sendall(f"{head}Content-Length: {len(text)}\r\n\r\n".encode() + text)
    _connections.append(connection)  # open until the end
    return int(connection.recv(1000).split()[1]) if is_waited_for else 0


def _time(words: list[str], load: Callable[["subprocess.Popen[str]"], None]) -> tuple[float, float]:
    environment = os.environ | {"PYTHONUNBUFFERED": "1"}
    command = [sys.executable, "-m", "lab2048", *words]
    with tempfile.TemporaryDirectory() as data:
        environment["XDG_DATA_HOME"] = str(Path(data))
        with subprocess.Popen(
            command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        ) as process:
            load(process)
            if process.poll() is not None:
                raise SystemExit(f"lab2048 {' '.join(words)} ended by itself, with code {process.returncode}")
            begin, before, others = time.monotonic(), _cpu_seconds(process.pid), os.times()
            process.send_signal(signal.SIGINT)
            process.communicate()
            now = os.times()  # with those of the process, now that it has ended
            cpu = now.children_user + now.children_system - others.children_user - others.children_system
            return time.monotonic() - begin, max(0.0, cpu - before)


def _cpu_seconds(pid: int) -> float:
    """Return the CPU seconds of a process so far; 0 where the system does not tell."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    main()

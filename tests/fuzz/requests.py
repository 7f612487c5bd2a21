"""Send random requests to a real server: python -m fuzz.requests --n 100000 --seed 1 (with PYTHONPATH=tests).

No request may be answered with 5xx other than 503, write a traceback or an internal error to the log, hang, or end the
server.  Requests that once did are kept in corpus/requests and sent first.
"""

import argparse
import contextlib
import gzip
import http.client
import json
import os
import re
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any
from urllib.parse import quote

from fuzz.request_maker import Request, RequestMaker, Seen

CORPUS = Path(__file__).parent / "corpus" / "requests"
TOKEN = "token-of-a-fuzzer"
PATIENCE = 120.0  # seconds for an answer; a player may think for 30
PREPARATION = 600.0  # seconds until kernels are compiled, at most
N_CLIENTS = 4
BATCH = 100  # requests between two checks that the server answers
_WRONG = re.compile(r"Traceback|internal error|Exception|never awaited", re.IGNORECASE)


@dataclass
class Report:
    """What was sent, what came back, and what must not happen."""

    n: int = 0
    by_kind: Counter[str] = field(default_factory=Counter)
    by_status: Counter[int] = field(default_factory=Counter)  # 0: closed without an answer
    failures: list[str] = field(default_factory=list)
    seconds: float = 0.0

    def __str__(self) -> str:
        """Return a summary with the first failures."""
        lines = [
            f"{self.n} requests in {self.seconds:.0f} s, {len(self.failures)} failures",
            "by kind: " + ", ".join(f"{kind} {n}" for kind, n in sorted(self.by_kind.items())),
            "by status: " + ", ".join(f"{status} {n}" for status, n in sorted(self.by_status.items())),
        ]
        return "\n".join([*lines, *self.failures[:20]])


@dataclass
class Server:
    """`lab2048 serve` in a folder of its own."""

    process: subprocess.Popen[str]
    port: int
    log: Path
    n_read: int = 0  # characters of the log

    def ask(self, path: str, body: Any = None, method: str = "") -> Any:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        with contextlib.closing(connection):
            headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}
            connection.request(method or ("GET" if body is None else "POST"), path, body, headers)
            return json.loads(connection.getresponse().read())


@contextlib.contextmanager
def serving(folder: Path) -> Iterator[Server]:
    log = folder / "log"
    environment = {
        **os.environ,
        "XDG_DATA_HOME": str(folder / "data"),
        "XDG_CONFIG_HOME": str(folder / "config"),
        "LAB2048_STORE": str(folder / "games.sqlite"),
        "LAB2048_TOKEN": TOKEN,
        "PYTHONUNBUFFERED": "1",
    }
    command = [sys.executable, "-m", "lab2048", "serve", "--port", "0", "--no-open"]
    with log.open("w") as errors, subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=errors, text=True, cwd=folder
    ) as process:  # fmt: skip
        assert process.stdout is not None
        found = re.search(r":(\d+)/", process.stdout.readline())
        assert found, log.read_text()
        try:
            yield Server(process, int(found[1]), log)
        finally:
            if process.poll() is None:
                process.send_signal(signal.SIGINT)
                try:
                    process.wait(PATIENCE)
                except subprocess.TimeoutExpired:
                    process.kill()


class Client:
    """Sends requests on a connection that is kept open where that is possible."""

    def __init__(self, server: Server, seen: Seen) -> None:
        self.server, self.seen = server, seen
        self._stream: socket.socket | None = None

    def send(self, request: Request) -> int:
        """Return the status of the answer; 0 if the server closed the connection.  Raises TimeoutError."""
        is_plain = request.kind == "structured"
        if not is_plain:
            self.close()
        is_reused = self._stream is not None
        try:
            status = self._send(request, is_plain=is_plain)
        except TimeoutError:
            self.close()
            if is_plain:
                raise
            return 0  # a request that was never complete
        except (OSError, http.client.HTTPException):
            self.close()
            # The server may close a connection between two requests.
            return self.send(request) if is_reused else 0
        if not is_plain:
            self.close()
        return status

    def _send(self, request: Request, *, is_plain: bool) -> int:
        if self._stream is None:
            self._stream = socket.create_connection(("127.0.0.1", self.server.port), timeout=PATIENCE)
        stream = self._stream
        with contextlib.suppress(ConnectionError):  # refused while it is being sent: the answer says why
            stream.sendall(request.data)
        if request.is_reset:
            stream.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            return 0
        if not is_plain:
            with contextlib.suppress(OSError):
                stream.shutdown(socket.SHUT_WR)  # nothing more comes, so nothing is waited for
        answer = http.client.HTTPResponse(stream, method=request.method)
        answer.begin()
        body = answer.read()
        if answer.getheader("content-encoding") == "gzip":
            body = gzip.decompress(body)
        if answer.will_close:
            self.close()
        if answer.getheader("content-type", "") == "application/json" and body:
            said = json.loads(body)
            self.seen.note(said)
            if answer.status >= 400 and "\n" in said["error"]:
                raise AssertionError(f"an error of several lines: {said['error']!r}")
            if answer.status == 200 and isinstance(said, dict) and str(said.get("state")) in ("queued", "running"):
                self._end(said)
        return answer.status

    def _end(self, said: dict[str, Any]) -> None:
        """End what a request has started: a job, or the review of a game, which has no id of its own."""
        if "n_moves" in said:
            reviewer = quote(said["reviewer"], safe="")
            self.server.ask(f"/api/games/{said['game']}/review?reviewer={reviewer}", method="DELETE")
        else:
            self.server.ask(f"/api/jobs/{said['id']}/cancel", "{}")

    def close(self) -> None:
        if self._stream is not None:
            self._stream.close()
            self._stream = None


def fuzz_requests(n: int, seed: int = 0, *, n_clients: int = N_CLIENTS) -> Report:
    """Send the corpus and then `n` random requests to a fresh server; return what happened."""
    report, begin = Report(), time.monotonic()
    with tempfile.TemporaryDirectory() as name, serving(Path(name)) as server:
        _prepare(server, has_training=n >= 10_000)
        maker = RequestMaker(server.ask("/api/openapi.json"), server.port, TOKEN)
        for path in sorted(CORPUS.glob("*.http")):
            _try(Client(server, Seen()), read_kept(path, server.port), report)
        numbers = iter(range(n))
        lock = threading.Lock()

        def work() -> None:
            client = Client(server, Seen())
            while (number := _next(numbers, lock)) is not None and len(report.failures) < 100:
                request = maker.make(Random(f"{seed} {number}"), client.seen)
                mine = Report()
                _try(client, request, mine, f"seed {seed}, number {number}: ")
                if number % BATCH == 0:
                    _check(server, mine)
                with lock:
                    _add(report, mine)
            client.close()

        threads = [threading.Thread(target=work) for _ in range(n_clients)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        _check(server, report)
    report.seconds = time.monotonic() - begin
    return report


def _prepare(server: Server, *, has_training: bool) -> None:
    """Make a table, a match and perhaps a training, so that requests about them find something."""
    rules = {"board": "2x2"}
    jobs = [
        _begin(server, "/api/solves", {"rules": rules, "name": "a"}),
        _begin(server, "/api/matches", {"players": ["random", "first"], "rules": rules, "games": 5}),
    ]
    if has_training:
        jobs.append(_begin(server, "/api/trainings", {"name": "a", "rules": rules, "minutes": 0.1}))
    while any(server.ask(f"/api/jobs/{job['id']}")["state"] in ("queued", "running", "ending") for job in jobs):
        time.sleep(0.2)


def _begin(server: Server, path: str, body: dict[str, Any]) -> dict[str, Any]:
    """Start a job; while kernels are compiled, the server refuses it."""
    deadline = time.monotonic() + PREPARATION
    answer: dict[str, Any] = server.ask(path, json.dumps(body))
    while "id" not in answer:
        if time.monotonic() > deadline:
            raise AssertionError(f"{path} starts no job: {answer}")
        time.sleep(0.2)
        answer = server.ask(path, json.dumps(body))
    return answer


def _next(numbers: Iterator[int], lock: threading.Lock) -> int | None:
    with lock:
        return next(numbers, None)


def _try(client: Client, request: Request, report: Report, name: str = "") -> None:
    """Send a request and note what was wrong with the answer."""
    report.n += 1
    report.by_kind[request.kind] += 1
    problem = ""
    try:
        status = client.send(request)
        report.by_status[status] += 1
        if status >= 500 and status != 503:
            problem = f"status {status}"
    except (TimeoutError, AssertionError, ValueError, KeyError, TypeError) as error:
        client.close()
        problem = f"{type(error).__name__}: {error}"
    if problem:
        report.failures.append(f"{name}{request.about}: {problem}: {request.data[:2000]!r}")


def _check(server: Server, report: Report) -> None:
    """Note whether the server has ended, does not answer, or has written something bad to its log."""
    if server.process.poll() is not None:
        report.failures.append(
            f"the server has ended with {server.process.returncode}: {server.log.read_text()[-3000:]}"
        )
        return
    try:
        assert "program" in server.ask("/api/status")
    except (OSError, AssertionError, ValueError) as error:
        report.failures.append(f"the server does not answer: {error!r}")
    said = server.log.read_text(errors="replace")
    said, server.n_read = said[server.n_read :], len(said)
    if _WRONG.search(said):
        report.failures.append(f"in the log: {said[:3000]}")


def _add(report: Report, other: Report) -> None:
    report.n += other.n
    report.by_kind += other.by_kind
    for status, n in other.by_status.items():
        report.by_status[status] += n
    report.failures += other.failures


def read_kept(path: Path, port: int) -> Request:
    """Return a request of the corpus; HOST and TOKEN in it stand for those of the server."""
    data = path.read_bytes().replace(b"HOST", f"127.0.0.1:{port}".encode()).replace(b"TOKEN", TOKEN.encode())
    return Request("kept", path.stem, data, data.partition(b" ")[0].decode("latin-1"), path.stem.endswith("reset"))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    words = parser.parse_args()
    report = fuzz_requests(words.n, words.seed)
    sys.stdout.write(f"{report}\n")
    return 1 if report.failures else 0


if __name__ == "__main__":
    sys.exit(main())

"""The server on a disk that fails: what it calls saved is in the store after a kill, and no status is 5xx but 503."""

import contextlib
import random
from pathlib import Path

from torture.io_error import Disk
from torture.page import Client, Page, check_games, play_on, refresh, serve_words, settle
from torture.program import Broken, Program, wait_until, workplace
from torture.report import Report
from torture.system_call import CHANGING, tracing

_SECONDS = 1.5  # how long clients play


def fail_page(program: Program, n: int, rng: random.Random, report: Report) -> None:
    """Let some writes of the server fail while clients play, kill it, and see what was acknowledged."""
    for _ in range(n):
        first, error = rng.randint(1, 150), rng.choice(("EIO", "ENOSPC"))
        call = rng.choice(("pwrite64", "pwrite64", "fdatasync", "fsync", "ftruncate"))
        first = first if call == "pwrite64" else rng.randint(1, 30)
        inject = f"{call}:error={error}:when={first}..{first + rng.choice((0, 3, 40))}"
        with report.trying("io-error", f"serve, {inject}"), workplace() as folder:
            running = program.start(folder, serve_words(), paused=True)
            with tracing(running, inject=inject, calls=CHANGING):
                try:
                    page = Page(running)
                except Broken:  # refused to start, in one line
                    running.wait().judge(2, 3)
                    report.count("io-error", "serve")
                    continue
                clients = _play(page, rng)
            report.count("io-error", "serve")
            _check(program, folder, clients)


def fill_disk_of_page(program: Program, n: int, rng: random.Random, report: Report) -> None:
    """Fill the disk while clients play, free it, wait until everything is called saved, kill the server, compare."""
    for _ in range(n):
        seed = rng.getrandbits(32)
        with report.trying("full-disk", f"serve, seed {seed}"), workplace() as folder, Disk(folder, 4) as disk:
            report.count("full-disk", "serve")
            page = Page.start(program, folder)
            clients = [Client(page, random.Random(seed + i)) for i in range(3)]
            threads = play_on(page, clients)
            page.running.has_ended(0.3)
            disk.fill(leave=random.Random(seed).randrange(60_000))
            page.running.has_ended(_SECONDS)
            for client in clients:
                client.is_asked_to_stop = True
            for thread in threads:
                thread.join(60)
            if random.Random(seed).random() < 0.5:  # the disk stays full
                page.running.kill()
                page.running.wait()
                disk.free()
            else:
                disk.free()
                wait_until(lambda: page.ask("GET", "/api/status")[1]["unsaved"] == 0)  # noqa: B023
                for client in clients:
                    for game in client.games:
                        game.take(game.moves, is_saved=True)
                page.running.kill()
                page.running.wait()
            _check(program, folder, clients)


def _play(page: Page, rng: random.Random) -> list[Client]:
    """Let clients play for a while, then kill the server."""
    clients = [Client(page, random.Random(rng.getrandbits(32))) for _ in range(3)]
    threads = play_on(page, clients)
    page.running.has_ended(_SECONDS)
    page.running.kill()
    page.running.wait()
    for thread in threads:
        thread.join(40)
    return clients


def _check(program: Program, folder: Path, clients: list[Client]) -> None:
    check_games(folder, clients)
    settle(folder, clients)
    again = Page.start(program, folder)
    with contextlib.ExitStack() as stack:
        stack.callback(again.running.wait)
        stack.callback(again.running.kill)
        refresh(again, clients)

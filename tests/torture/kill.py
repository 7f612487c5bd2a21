"""Kill commands at random moments, check what they left, and resume them until they end as if nothing had happened."""

import contextlib
import random
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from torture.page import Client, Page, check_games, play_on, refresh, settle
from torture.program import Broken, Program, Running, wait_until, workplace
from torture.report import Report
from torture.task import Task, json_lines

PART = "kill"
_AT_MOST = 12  # kills of one chain: then the command may end
_FAILURES = 3  # of one command: more tell nothing new


def kill_command(program: Program, task: Task, n: int, rng: random.Random, report: Report) -> None:
    """Kill a command n times, in chains that end with its result."""
    expected = None
    with workplace() as folder:
        task.prepare(folder)
        outcome = program.run(folder, task.command(folder)).judge(0)
        task.check(folder, list(json_lines(outcome.out)))
        expected = task.result(folder)
    end, n_failed = report.counts[PART][task.name] + n, len(report.failures)
    while (left := end - report.counts[PART][task.name]) > 0 and len(report.failures) < n_failed + _FAILURES:
        seed = rng.getrandbits(32)
        with report.trying(PART, f"{task.name}, seed {seed}"), workplace() as folder:
            _chain(program, task, folder, min(_AT_MOST, left), seed, expected, report)


def _chain(program: Program, task: Task, folder: Path, n: int, seed: int, expected: Any, report: Report) -> None:
    """Kill a command up to n times, let it end, and compare its result."""
    rng = random.Random(seed)
    task.prepare(folder)
    told: list[dict[str, Any]] = []
    n_killed = n_ended = 0
    while n_killed < n and n_ended < 3:
        words = task.command(folder)
        before = set(_files(folder))
        running = program.start(folder, words)
        # A third of the kills come at the start, the others once the command has begun to write.
        if rng.random() < 0.66:
            _wait_for_change(folder, before, running)
        is_over = running.has_ended(rng.random() ** 2 * task.seconds * 1.2)
        running.kill()
        outcome = running.wait()
        told += json_lines(outcome.out)
        if is_over:
            n_ended += 1
            outcome.judge(0)
        else:
            n_killed += 1
            report.count(PART, task.name)
        task.check(folder, told)
        if is_over and n_killed < n:  # begin again, as after the first chain
            compare(task, folder, expected)
            _empty(folder)
            task.prepare(folder)
            told = []
    outcome = program.run(folder, task.command(folder)).judge(0)
    task.check(folder, [*told, *json_lines(outcome.out)])
    compare(task, folder, expected)


def kill_page(program: Program, n: int, rng: random.Random, report: Report, n_clients: int = 4) -> None:
    """Kill the server n times while clients play; every acknowledged move must be in the store."""
    for _ in range(-(-n // _AT_MOST)):
        seed = rng.getrandbits(32)
        with report.trying(PART, f"serve, seed {seed}"), workplace() as folder:
            rng_here = random.Random(seed)
            clients: list[Client] = []
            for _ in range(min(n, _AT_MOST)):
                page = Page.start(program, folder)
                refresh(page, clients)
                clients = clients or [Client(page, random.Random(rng_here.getrandbits(32))) for _ in range(n_clients)]
                threads = play_on(page, clients)
                page.running.has_ended(rng_here.random() ** 2 * 2)
                page.running.kill()
                page.running.wait()
                for thread in threads:
                    thread.join(40)
                report.count(PART, "serve")
                check_games(folder, clients)
                settle(folder, clients)
            report.count("acknowledged", "moves of serve", sum(client.n_acknowledged for client in clients))


def compare(task: Task, folder: Path, expected: Any) -> None:
    found = task.result(folder)
    if found != expected:
        raise Broken(f"the result is not that of an uninterrupted run: {_difference(expected, found)}")


def _difference(expected: Any, found: Any) -> str:
    if isinstance(expected, dict) and isinstance(found, dict):
        return f"{sorted(name for name in {*expected, *found} if expected.get(name) != found.get(name))[:5]}"
    if isinstance(expected, Sequence) and isinstance(found, Sequence):
        return f"{len(expected)} items expected, {len(found)} found"
    return "it differs"


def _wait_for_change(folder: Path, before: set[tuple[str, int]], running: Running) -> None:
    wait_until(lambda: set(_files(folder)) != before or running.has_ended(0.001))


def _files(folder: Path) -> list[tuple[str, int]]:
    """Return the files that a command writes, with their sizes."""
    found = []
    for file in folder.rglob("*"):
        with contextlib.suppress(OSError):
            found.append((str(file), file.stat().st_size))
    return found


def _empty(folder: Path) -> None:
    for entry in folder.iterdir():
        shutil.rmtree(entry) if entry.is_dir() else entry.unlink()

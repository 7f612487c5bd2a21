"""Record what a command writes, rebuild its folder as it may be after a power loss, and open it."""

import json
import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from torture.kill import compare
from torture.lost_disk import WATCHED, LostDisk
from torture.page import Page, serve_words, stored_moves
from torture.program import Broken, Program, workplace
from torture.report import Report
from torture.system_call import Call, of_one_process, traced, tracing
from torture.task import Task, json_lines, store_of

PART = "power-loss"
_FAILURES = 5


def lose_power(program: Program, task: Task, n: int, rng: random.Random, report: Report) -> None:
    """Let a command lose power n times at random moments of one recorded run; then it must resume."""
    with workplace() as folder:
        task.prepare(folder)
        disk = LostDisk(folder)
        disk.begin_with(folder)
        outcome, calls = traced(program, folder, task.command(folder), calls=WATCHED, data=True)
        task.check(folder, list(json_lines(outcome.judge(0).out)))
        expected = task.result(folder)
        before = {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}

    def check(lost: Path, disk: LostDisk, *, resume: bool) -> None:
        told = list(json_lines(disk.told.decode()))
        task.check(lost, told)
        if resume:
            again = program.run(lost, task.command(lost)).judge(0)
            task.check(lost, [*told, *json_lines(again.out)])
            compare(task, lost, expected)

    _lose(task.name, folder, [name for name in before if _is_input(task, name)], before, calls, n, rng, report, check)


def _is_input(task: Task, name: str) -> bool:
    return name in ("games.jsonl", "own.toml")


def _lose(
    what: str,
    folder: Path,
    inputs: Sequence[str],
    before: dict[str, bytes],
    calls: list[Call],
    n: int,
    rng: random.Random,
    report: Report,
    check: Callable[..., None],
) -> None:
    calls = of_one_process(calls)
    relevant = [i for i, call in enumerate(calls) if call.value >= 0 and _counts(call, folder)]
    moments = sorted(rng.choice(relevant) + 1 for _ in range(n))
    disk, done, n_failed = LostDisk(folder), 0, len(report.failures)
    with workplace() as start:
        for name in inputs:
            (start / name).write_bytes(before[name])
        disk.begin_with(start)
    for number, moment in enumerate(moments):
        if len(report.failures) >= n_failed + _FAILURES:
            return
        disk.follow(calls[done:moment])
        done = moment
        seed = rng.getrandbits(32)
        case = f"{what}, call {moment} of {len(calls)} ({calls[moment - 1].name}), seed {seed}"
        with report.trying(PART, case), workplace() as lost:
            disk.after_loss(lost, random.Random(seed))
            report.count(PART, what)
            check(lost, disk, resume=number % 3 == 0)


def _counts(call: Call, folder: Path) -> bool:
    return call.name != "lseek" and (call.concerns(folder) or f"{folder}" in call.arguments or call.name == "sendto")


def lose_power_of_page(program: Program, n: int, rng: random.Random, report: Report, n_moves: int = 60) -> None:
    """Let the server lose power while a client plays: moves that it has acknowledged as saved must be there."""
    with workplace() as folder:
        running = program.start(folder, serve_words(), paused=True)
        with tracing(running, calls=WATCHED, data=True) as calls_of:
            page = Page(running)
            games = []
            for _ in range(3):
                status, answer = page.ask(
                    "POST", "/api/games", {"rules": {"board": "4x4"}, "seed": rng.getrandbits(20)}
                )
                if status != 200:
                    raise Broken(f"a new game: {status}, {answer}")
                games.append(answer["state"])
            for _ in range(n_moves):
                place = rng.randrange(len(games))
                body = {"moves": rng.choice("wasd") + rng.choice("wasd"), "rev": games[place]["rev"]}
                status, answer = page.ask("POST", f"/api/games/{games[place]['id']}/moves", body)
                if status == 200:
                    games[place] = answer["state"]
            page.running.kill(2)
            page.running.wait()
        calls = calls_of()

    def check(lost: Path, disk: LostDisk, *, resume: bool) -> None:
        found = stored_moves(store_of(lost))
        for id_, n_acknowledged in _acknowledged(disk.sent).items():
            if len(found.get(id_, "")) < n_acknowledged:
                raise Broken(f"game {id_}: {n_acknowledged} moves acknowledged, {len(found.get(id_, ''))} kept")
        if resume:
            again = Page.start(program, lost)
            for id_, moves in found.items():
                status, answer = again.ask("GET", f"/api/games/{id_}")
                if status != 200 or answer["moves"] != moves:
                    raise Broken(f"game {id_} is not shown as it is in the store: status {status}")
            again.running.kill(2)
            again.running.wait()

    _lose("serve", folder, [], {}, calls, n, rng, report, check)


def _acknowledged(sent: bytes) -> dict[int, int]:
    """Return the largest number of moves by game that was told to be saved."""
    found: dict[int, int] = {}
    for answer in sent.split(b"HTTP/1.1 ")[1:]:
        _, _, body = answer.partition(b"\r\n\r\n")
        if not answer.startswith(b"200"):
            continue
        try:
            state: Any = json.loads(body).get("state")
        except (ValueError, AttributeError):
            continue
        if isinstance(state, dict) and state["saved"]:
            found[state["id"]] = max(found.get(state["id"], 0), state["n_moves"])
    return found

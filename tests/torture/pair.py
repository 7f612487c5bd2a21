"""Run every command twice at once in one folder: both may work, or one says in a line why it does not."""

import random
from collections.abc import Sequence
from pathlib import Path

from torture.kill import compare
from torture.page import Client, Page, check_games, play_on, serve_words
from torture.program import Broken, Outcome, Program, workplace
from torture.report import Report
from torture.task import Task, json_lines

PART = "two-at-once"


def run_twice(program: Program, task: Task, n: int, rng: random.Random, report: Report) -> None:
    with workplace() as folder:
        task.prepare(folder)
        program.run(folder, task.command(folder)).judge(0)
        expected = task.result(folder)
    for _ in range(n):
        seed = rng.getrandbits(32)
        with report.trying(PART, f"{task.name}, seed {seed}"), workplace() as folder:
            report.count(PART, task.name)
            _run_pair(program, task, folder, random.Random(seed))
            if not task.is_new_each_time:
                program.run(folder, task.command(folder)).judge(0)
                compare(task, folder, expected)


def _run_pair(program: Program, task: Task, folder: Path, rng: random.Random) -> None:
    task.prepare(folder)
    words = task.command(folder)
    first = program.start(folder, words)
    first.has_ended(rng.random() * rng.random() * task.seconds)
    # The second one has streams of its own, and shares the folder.
    second = program.start(folder, words, streams=folder.parent / "streams-2")
    outcomes = [first.wait().judge(), second.wait().judge()]
    _judge_pair(outcomes)
    told = [event for outcome in outcomes for event in json_lines(outcome.out)]
    task.check(folder, told)


def _judge_pair(outcomes: Sequence[Outcome]) -> None:
    codes = [outcome.code for outcome in outcomes]
    if 0 not in codes:
        raise Broken(f"neither of two ended well: {[outcome.err[-200:] for outcome in outcomes]}")
    for outcome in outcomes:
        said = [line for line in outcome.err.splitlines() if line.startswith("lab2048: ")]
        if outcome.code and len(said) != 1:
            raise Broken(f"exit code {outcome.code} with {len(said)} lines that say why: {outcome.err[-300:]}")


def serve_twice(program: Program, n: int, rng: random.Random, report: Report) -> None:
    """Start a second server beside one with clients: it must refuse, or harm nothing."""
    for _ in range(n):
        seed = rng.getrandbits(32)
        with report.trying(PART, f"serve, seed {seed}"), workplace() as folder:
            report.count(PART, "serve")
            page = Page.start(program, folder)
            clients = [Client(page, random.Random(seed + i)) for i in range(3)]
            threads = play_on(page, clients)
            second = program.start(folder, serve_words(), streams=folder.parent / "streams-2")
            try:
                refused = second.has_ended(3)
                if refused:
                    _judge_pair([second.wait().judge(2, 3), Outcome((), 0, "", "", 0)])
                else:  # both work on the same games
                    other = Page(second)
                    for client in clients[:1]:
                        for game in list(client.games):
                            other.ask("POST", f"/api/games/{game.id}/moves", {"moves": "wasd"})
                            game.doing = "moves"
            finally:
                second.kill()
                second.wait()
                page.running.kill(2)
                page.running.wait(15)
                for thread in threads:
                    thread.join(40)
            check_games(folder, clients)

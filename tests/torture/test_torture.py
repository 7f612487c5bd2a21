"""A short torture: a few kills, failing writes, power losses and pairs of each kind; script/torture does more."""

import random
import subprocess
from collections.abc import Iterator

import pytest

from torture import io_error, kill, page_fault, pair, power_loss
from torture.__main__ import PARTS
from torture.command_task import Import, Match, Solve, TrainNtuple
from torture.program import ROOT, Program
from torture.report import Report
from torture.system_call import has_strace
from torture.task import Task

needs_strace = pytest.mark.skipif(not has_strace(), reason="strace is not installed")


# Instead of words of the same place: less to do.
SHORTER = {"1200": "200", "1500000": "300000", "128": "64"}


def shorter(task: type[Task]) -> Task:
    made = task()
    made.words = [SHORTER.get(word, word) for word in made.words]
    made.seconds = 0.4
    return made


@pytest.fixture(scope="module")
def program() -> Iterator[Program]:
    with Program() as started:
        yield started


@pytest.fixture
def report() -> Iterator[Report]:
    found = Report(seed=1)
    yield found
    assert found.counts, "nothing was tried"
    assert not found.failures, found.table()


def test_its_help_names_all_parts_and_installs_nothing() -> None:
    shown = subprocess.run(["sh", ROOT / "script" / "torture", "--help"], capture_output=True, text=True, check=True)
    assert all(part in shown.stdout for part in PARTS)
    assert not shown.stderr


def test_the_server_is_killed_while_clients_play(program: Program, report: Report) -> None:
    kill.kill_page(program, 4, random.Random(1), report)
    assert report.counts["acknowledged"].total() > 0


@pytest.mark.parametrize("task", [Match, TrainNtuple, Solve, Import])
def test_a_command_is_killed_and_ends_as_if_it_were_not(program: Program, report: Report, task: type) -> None:
    kill.kill_command(program, shorter(task), 2, random.Random(1), report)


@needs_strace
@pytest.mark.parametrize("task", [Match, TrainNtuple, Solve])
def test_a_write_fails(program: Program, report: Report, task: type) -> None:
    io_error.fail_calls(program, shorter(task), 2, random.Random(1), report)


@needs_strace
@pytest.mark.parametrize("task", [Match, TrainNtuple, Solve])
def test_the_power_fails(program: Program, report: Report, task: type) -> None:
    power_loss.lose_power(program, shorter(task), 6, random.Random(1), report)


@needs_strace
def test_the_power_of_the_server_fails(program: Program, report: Report) -> None:
    power_loss.lose_power_of_page(program, 6, random.Random(1), report, n_moves=20)


@needs_strace
def test_writes_of_the_server_fail(program: Program, report: Report) -> None:
    page_fault.fail_page(program, 2, random.Random(1), report)


@pytest.mark.parametrize("task", [TrainNtuple, Solve, Import])
def test_two_run_at_once(program: Program, report: Report, task: type) -> None:
    pair.run_twice(program, shorter(task), 1, random.Random(1), report)

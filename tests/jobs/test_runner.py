"""The job runner without a view: commands in processes of their own, cancelled, failed, interrupted and resumed."""

import errno
import os
import shutil
import signal
import subprocess
import sys
import textwrap
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from lab2048.errors import FileError, JobConflictError, JobNotFoundError, UnwritableError
from lab2048.jobs import runner as runner_module
from lab2048.jobs.job import EVENTS, PROCESS, RUNNING, Job
from lab2048.jobs.process import JobProcess, is_alive
from lab2048.jobs.progress import MatchProgress
from lab2048.jobs.runner import JobRunner
from lab2048.records.database import STORE_VARIABLE
from lab2048.records.process_lock import ProcessLock
from lab2048.records.store import Store
from lab2048.rules import Rules

ENDED = ("done", "failed", "cancelled", "interrupted")
WORDS = ["match", "random", "--rules", "3x3", "--workers", "1"]
REQUEST = {"specs": ["random"], "rules": Rules.from_text("3x3").to_json(), "games": 1, "seed": 1}


class View:
    """A runner, and a way to wait for its news."""

    def __init__(self, folder: Path, environment: dict[str, str] | None = None) -> None:
        self._news = threading.Condition()
        self.runner = JobRunner(folder, on_change=self._on_change, environment=environment, niceness=0)

    def _on_change(self, _: Job) -> None:
        with self._news:
            self._news.notify_all()

    def start(self, n_games: int, *words: str) -> Job:
        words_ = [*WORDS, "--games", str(n_games), *words]
        return self.runner.start("match", "a match", words_, request=REQUEST, resume_words=[*words_, "--resume"])

    def until(self, is_so: Callable[[], object]) -> None:
        with self._news:
            assert self._news.wait_for(is_so, 240)  # the limit only keeps a broken program from hanging

    def ended(self, job: Job) -> Job:
        self.until(lambda: job.state in ENDED)
        return job


@pytest.fixture
def open_view(tmp_path: Path) -> Iterator[Callable[[], View]]:
    """Opens views on one folder of jobs."""
    views: list[View] = []

    def open_one() -> View:
        views.append(View(tmp_path / "jobs"))
        views[-1].runner.load()
        return views[-1]

    yield open_one
    for view in views:
        view.runner.close()


def n_kept(store: Path) -> int:
    with Store.open(store) as opened:
        return len(opened.entries(kind="match"))


def test_a_job_runs_and_is_listed(open_view: Callable[[], View]) -> None:
    view = open_view()
    job = view.ended(view.start(3))
    assert (job.id, job.state, job.progress, job.message) == ("match-1", "done", 1.0, "3 of 3 games")
    assert job.command == "lab2048 match random --rules 3x3 --workers 1 --games 3"
    assert view.runner.all_jobs() == [job]
    with pytest.raises(JobConflictError, match="match-1 is done"):
        view.runner.cancel("match-1")
    with pytest.raises(JobNotFoundError):
        view.runner.get("match-2")


def test_a_cancelled_job_keeps_its_work_and_is_resumed(open_view: Callable[[], View], own_store: Path) -> None:
    view = open_view()
    job = view.start(1_000_000)
    view.until(lambda: job.progress)
    assert view.runner.cancel(job.id).state == "ending"
    assert view.ended(job).state == "cancelled"
    n_before = n_kept(own_store)
    assert n_before > 0
    job = view.runner.resume(job.id)
    assert job.command.endswith("--resume")
    view.until(lambda: "of" in job.message)
    view.runner.cancel(job.id)
    assert view.ended(job).state == "cancelled"
    assert n_kept(own_store) >= n_before


def test_a_job_that_is_cancelled_twice_is_killed(open_view: Callable[[], View]) -> None:
    view = open_view()
    job = view.start(1_000_000)
    view.runner.cancel(job.id)
    view.runner.cancel(job.id)
    assert view.ended(job).state == "cancelled"


@pytest.fixture
def full_disk(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Lets the saves of jobs fail, after some that still work."""

    def fill(n_left: int) -> None:
        left = [n_left]

        def fail(job: Job) -> None:
            left[0] -= 1
            if left[0] < 0:
                raise UnwritableError("job.json cannot be written: the disk is full")
            save(job)

        monkeypatch.setattr(Job, "save", fail)

    save = Job.save
    return fill


def test_a_job_that_cannot_be_saved_leaves_nothing_behind(
    open_view: Callable[[], View], full_disk: Callable[[int], None]
) -> None:
    view = open_view()
    full_disk(0)
    with pytest.raises(UnwritableError):
        view.start(3)
    assert view.runner.all_jobs() == []
    assert list(view.runner.folder.iterdir()) == []


def test_a_job_on_a_disk_that_becomes_full_can_be_followed_and_cancelled(
    open_view: Callable[[], View], full_disk: Callable[[int], None]
) -> None:
    view = open_view()
    full_disk(1)
    job = view.start(1_000_000)
    view.until(lambda: job.progress)
    view.runner.cancel(job.id)
    assert view.ended(job).state == "cancelled"
    full_disk(0)
    with pytest.raises(UnwritableError):
        view.runner.resume(job.id)
    assert view.runner.get(job.id).state == "interrupted"  # as it is on the disk, for the next attempt
    full_disk(1_000)
    job = view.runner.resume(job.id)
    view.runner.cancel(job.id)
    view.ended(job)


def test_a_job_whose_folder_is_deleted_ends_and_can_be_removed(open_view: Callable[[], View]) -> None:
    view = open_view()
    job = view.start(1_000_000)
    view.until(lambda: job.progress)
    shutil.rmtree(job.folder)
    view.runner.cancel(job.id)
    assert view.ended(job).state == "cancelled"
    with pytest.raises(FileError):
        view.runner.resume(job.id)
    view.runner.forget(job.id)
    assert view.runner.all_jobs() == []


def test_of_a_linked_folder_only_the_link_is_removed(open_view: Callable[[], View], tmp_path: Path) -> None:
    (tmp_path / "jobs").mkdir()
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "letter.txt").write_text("Dear")
    (tmp_path / "jobs" / "match-1").symlink_to(tmp_path / "other")
    view = open_view()
    view.runner.forget("match-1")
    assert not (tmp_path / "jobs" / "match-1").exists()
    assert (tmp_path / "other" / "letter.txt").exists()


def test_a_failed_job_says_why(open_view: Callable[[], View]) -> None:
    view = open_view()
    job = view.ended(view.start(3, "--spawn", "3:1"))
    assert job.state == "failed"
    assert "3 is not a tile" in job.message
    view.runner.forget(job.id)
    assert not job.folder.exists()


def test_a_job_whose_working_folder_is_gone_cannot_be_resumed(open_view: Callable[[], View], tmp_path: Path) -> None:
    view = open_view()
    job = view.ended(view.start(3, "--spawn", "3:1"))
    job.cwd = str(tmp_path / "gone")
    job.save()
    job = view.runner.resume(job.id)
    assert (job.state, job.message) == ("failed", f"cannot be started: {tmp_path / 'gone'}: it does not exist")


def test_jobs_beyond_the_limit_wait_for_their_turn(
    open_view: Callable[[], View], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lab2048.jobs.runner.MAX_RUNNING", 1)
    view = open_view()
    first, second, third = view.start(1_000_000), view.start(3), view.start(3)
    assert [job.state for job in (first, second, third)] == ["running", "queued", "queued"]
    assert view.runner.cancel(second.id).state == "cancelled"
    view.runner.cancel(first.id)
    assert view.ended(first).state == "cancelled"
    assert view.ended(third).state == "done"


def test_a_view_that_closes_interrupts_its_jobs(open_view: Callable[[], View]) -> None:
    view = open_view()
    job = view.start(1_000_000)
    view.until(lambda: job.progress)
    view.runner.close()
    assert job.state == "interrupted"
    later = open_view()
    assert later.runner.interrupted() == [job.id]


def test_a_job_goes_on_in_its_own_store_although_another_view_resumes_it(tmp_path: Path) -> None:
    stores = [tmp_path / "one.sqlite", tmp_path / "two.sqlite"]
    views = [View(tmp_path / "jobs", {STORE_VARIABLE: str(store)}) for store in stores]
    job = views[0].start(1_000_000)
    views[0].until(lambda: job.progress)
    views[0].runner.cancel(job.id)
    assert views[0].ended(job).state == "cancelled"
    n_before = n_kept(stores[0])
    assert n_before > 0
    views[1].runner.load()
    job = views[1].runner.resume(job.id)
    views[1].until(lambda: "of" in job.message)
    views[1].runner.cancel(job.id)
    assert views[1].ended(job).state == "cancelled"
    assert n_kept(stores[0]) >= n_before
    assert not stores[1].exists()


def test_two_views_share_a_folder_and_leave_each_others_jobs_alone(open_view: Callable[[], View]) -> None:
    one, two = open_view(), open_view()
    first = one.start(1_000_000)
    second = two.start(3)
    assert (first.id, second.id) == ("match-1", "match-2")
    three = open_view()
    assert "match-1" not in [job.id for job in three.runner.all_jobs()]  # it runs, and not here
    two.ended(second)
    one.runner.cancel(first.id)
    one.ended(first)
    four, five = open_view(), open_view()
    assert [job.state for job in four.runner.all_jobs()] == ["done", "cancelled"]
    resumed = four.runner.resume(first.id)
    for change in (five.runner.resume, five.runner.forget):
        with pytest.raises(JobConflictError, match="match-1 is running in another lab2048"):
            change(first.id)
    four.runner.cancel(first.id)
    four.ended(resumed)
    five.runner.forget(first.id)
    assert not resumed.folder.exists()


VIEW = """
import sys, threading
from pathlib import Path
from lab2048.jobs.runner import JobRunner
words = [*{words!r}, "--games", "1000000"]
runner = JobRunner(Path(sys.argv[1]), on_change=lambda job: job.progress and print("progress", flush=True), niceness=0)
runner.start("match", "a match", words, request={request!r}, resume_words=[*words, "--resume"])
threading.Event().wait()
"""


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_views_in_several_processes_never_take_the_same_number(tmp_path: Path) -> None:
    script = """
        import sys
        from pathlib import Path
        from lab2048.jobs.runner import JobRunner

        sys.stdin.readline()
        runner = JobRunner(Path(sys.argv[1]))
        for _ in range(50):
            print(runner._new_folder("match").name)
    """
    command = [sys.executable, "-c", textwrap.dedent(script), str(tmp_path / "jobs")]
    views = [subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    for view in views:
        assert view.stdin
        view.stdin.write("go\n")
        view.stdin.flush()
    taken = [name for view in views for name in view.communicate()[0].split()]
    assert len(taken) == len(set(taken)) == 150


def test_a_killed_view_ends_its_jobs_and_another_view_resumes_them(
    open_view: Callable[[], View], tmp_path: Path, own_store: Path
) -> None:
    code = VIEW.format(words=WORDS, request=REQUEST)
    with subprocess.Popen([sys.executable, "-c", code, str(tmp_path / "jobs")], stdout=subprocess.PIPE) as killed:
        assert killed.stdout is not None
        assert killed.stdout.readline() == b"progress\n"
        assert open_view().runner.all_jobs() == []  # another view runs it
        killed.send_signal(signal.SIGKILL)
    view = open_view()
    [job] = view.runner.all_jobs()
    assert (job.state, job.can_resume) == ("interrupted", True)
    assert job.result is not None
    wait_for_process(job.pid)
    n_before = n_kept(own_store)
    assert n_before > 0
    job = view.runner.resume(job.id)
    view.until(lambda: "of" in job.message)
    assert int(job.message.partition(" ")[0].replace(",", "")) >= n_before


def test_a_job_is_resumed_only_when_its_process_has_ended(open_view: Callable[[], View]) -> None:
    view = open_view()
    job = view.start(1_000_000)
    view.until(lambda: job.progress)
    assert is_alive(job.folder / PROCESS)
    view.runner.cancel(job.id)
    view.ended(job)
    assert not is_alive(job.folder / PROCESS)
    left = ProcessLock(job.folder / PROCESS)  # as a process holds it that has lost its view and still saves
    assert left.try_acquire()
    with pytest.raises(JobConflictError, match="still saving its work"):
        view.runner.resume(job.id)
    left.release()
    job = view.runner.resume(job.id)
    view.runner.cancel(job.id)
    view.ended(job)


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_a_killed_process_is_not_alive(tmp_path: Path) -> None:
    paths = [tmp_path / name for name in ("out", "log", "process")]
    process = JobProcess([*WORDS, "--games", "1000000", "--jsonl"], *paths)
    with paths[0].open() as out:
        while not out.readline():  # it has begun
            assert process.wait(0.05) is None
    assert is_alive(paths[2])
    process.kill()
    assert process.wait(240) is not None
    process.stop()
    assert not is_alive(paths[2])


def test_a_sleep_that_fails_does_not_end_the_following_of_a_job(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As after a jump of the clock by decades."""

    def fail(_: float) -> None:
        raise OSError(errno.EINVAL, "Invalid argument")

    paths = [tmp_path / name for name in ("out", "log", "process")]
    process = JobProcess([*WORDS, "--games", "1"], *paths)
    monkeypatch.setattr("subprocess.time.sleep", fail)
    while (code := process.wait(0.01)) is None:
        pass
    assert code == 0
    process.stop()


def test_the_events_of_a_long_match_stay_small_and_its_results_are_of_all_games(
    open_view: Callable[[], View], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lab2048.jobs.progress.MAX_GAMES", 30)
    monkeypatch.setattr(MatchProgress, "options", ("--jsonl", "--jsonl-games", "30"))
    view = open_view()
    request = REQUEST | {"games": 500}
    words = [*WORDS, "--games", "500"]
    job = view.runner.start("match", "long", words, request=request, resume_words=[*words, "--resume"])
    assert view.ended(job).message == "500 of 500 games"
    progress = view.runner.progress_of(job)
    assert isinstance(progress, MatchProgress)
    assert len(progress.match.results["random"].games) == 30
    assert [player["games"] for player in progress.to_json()["players"]] == [500]
    assert job.result is not None
    assert job.result["players"][0]["games"] == 500
    # Resuming tells the games that are there again; the file does not grow by them.
    job.state, size = "cancelled", (job.folder / EVENTS).stat().st_size
    job.save()
    resumed = view.ended(view.runner.resume(job.id))
    assert resumed.message == "500 of 500 games"
    assert (job.folder / EVENTS).stat().st_size <= 1.5 * size


def wait_for_process(pid: int) -> None:
    """Wait until a process that is not our child has ended."""
    if hasattr(os, "pidfd_open"):
        import select

        try:
            fd = os.pidfd_open(pid)
        except ProcessLookupError:
            return
        try:
            assert select.select([fd], [], [], 240)[0]
        finally:
            os.close(fd)


def test_the_job_of_a_name_is_the_active_one_or_the_newest(tmp_path: Path) -> None:
    for number in (1, 2):
        id_ = f"train-{number}"
        job = Job(id_, "train", "my", ["train"], ["train"], {"name": "my"}, f"2026-01-0{number}", state="cancelled")
        job.folder = tmp_path / id_
        job.folder.mkdir()
        job.save()
    runner = JobRunner(tmp_path)
    runner.load()
    assert runner.find("train", "other") is None
    assert runner.find("train", "my") is runner.get("train-2")
    runner.get("train-1").state = RUNNING  # it was resumed
    assert runner.find("train", "my") is runner.get("train-1")


def test_the_end_of_a_view_does_not_wait_for_a_slow_job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    may_end, was_asked = threading.Event(), threading.Event()

    class SlowProcess:
        """A process that takes long to save its work."""

        pid = 1

        def __init__(self, *_: object, **__: object) -> None: ...

        def stop(self) -> None:
            was_asked.set()

        def wait(self, seconds: float) -> int | None:
            return 130 if may_end.wait(seconds) else None

    monkeypatch.setattr(runner_module, "JobProcess", SlowProcess)
    monkeypatch.setattr(runner_module, "CLOSE_SECONDS", 0.0)
    view = View(tmp_path)
    job = view.start(1)
    [thread] = view.runner._threads.values()
    view.runner.close()
    assert was_asked.is_set()
    assert Job.load(job.folder).state == "interrupted"
    assert job.lock.try_acquire()  # another view may resume it
    may_end.set()
    thread.join(240)
    assert Job.load(job.folder).state == "interrupted"

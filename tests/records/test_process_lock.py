"""Locks between processes."""

import subprocess
import sys
import threading
from pathlib import Path

from lab2048.records.process_lock import ProcessLock

HOLD = """
import sys
from pathlib import Path
from lab2048.records.process_lock import ProcessLock
lock = ProcessLock(Path(sys.argv[1]))  # it would be released without a name
print(lock.try_acquire(), flush=True)
sys.stdin.read()
"""


def hold(path: Path) -> "subprocess.Popen[str]":
    """Start a process that tries to acquire a lock, says whether it could, and waits."""
    return subprocess.Popen(
        [sys.executable, "-c", HOLD, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )


def test_one_process_holds_a_lock_and_another_is_refused(tmp_path: Path) -> None:
    lock = ProcessLock(tmp_path / "lock")
    assert lock.try_acquire()
    with hold(tmp_path / "lock") as other:
        assert other.communicate()[0] == "False\n"
    lock.release()
    with hold(tmp_path / "lock") as other:
        assert other.communicate()[0] == "True\n"
    assert lock.try_acquire()
    lock.release()


def test_a_lock_ends_with_a_killed_process(tmp_path: Path) -> None:
    lock = ProcessLock(tmp_path / "lock")
    with hold(tmp_path / "lock") as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "True\n"
        assert not lock.try_acquire()
        other.kill()
    assert lock.try_acquire()
    lock.release()


def test_two_locks_of_one_process_exclude_each_other(tmp_path: Path) -> None:
    with ProcessLock(tmp_path / "lock").wait():
        assert not ProcessLock(tmp_path / "lock").try_acquire()
    assert ProcessLock(tmp_path / "lock").try_acquire()


def test_a_lock_released_by_another_thread_is_free(tmp_path: Path) -> None:
    lock = ProcessLock(tmp_path / "lock").wait()
    thread = threading.Thread(target=lock.release)
    thread.start()
    thread.join()
    assert ProcessLock(tmp_path / "lock").try_acquire()


def test_without_a_folder_work_goes_on(tmp_path: Path) -> None:
    with ProcessLock(tmp_path / "nowhere" / "lock").wait():
        assert not (tmp_path / "nowhere").exists()


def test_waiting_is_reported_once(tmp_path: Path) -> None:
    said: list[str] = []
    is_waiting = threading.Event()

    def report() -> None:
        said.append("waiting")
        is_waiting.set()

    def wait() -> None:
        with ProcessLock(tmp_path / "lock").wait(report):
            said.append("done")

    with ProcessLock(tmp_path / "lock").wait():
        waiting = threading.Thread(target=wait)
        waiting.start()
        assert is_waiting.wait(60)
    waiting.join()
    assert said == ["waiting", "done"]

"""Temporary folders are deleted, also those of processes that were killed."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from lab2048.records.process_lock import delete_temporary_folder, make_temporary_folder, temporary_folder

KILLED = """
import os, signal
from lab2048.records.process_lock import make_temporary_folder
print(make_temporary_folder(), flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch) -> Path:
    """Return the folder of the system for temporary ones."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))  # for other processes
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def age(folder: Path) -> None:
    os.utime(folder, (0, 0))


def test_a_folder_is_made_and_deleted(here):
    with temporary_folder() as folder:
        (folder / "file").write_text("text")
        assert folder.parent == here
    assert not list(here.iterdir())


def test_the_folder_of_a_killed_process_is_deleted_by_the_next_one(here):
    killed = Path(subprocess.run([sys.executable, "-c", KILLED], capture_output=True, text=True).stdout.strip())
    (killed / "file").write_text("text")
    delete_temporary_folder(make_temporary_folder())
    assert killed.exists()  # its process may be about to lock it
    age(killed)
    delete_temporary_folder(make_temporary_folder())
    assert not list(here.iterdir())


def test_folders_in_use_and_those_of_other_programs_stay(here):
    mine = make_temporary_folder()
    (here / "lab2048-other").mkdir()
    (here / "lab2048-link").symlink_to(here / "lab2048-other")
    for folder in (mine, here / "lab2048-other"):
        age(folder)
    code = "from lab2048.records.process_lock import temporary_folder\nwith temporary_folder(): pass"
    subprocess.run([sys.executable, "-c", code], check=True)
    assert len(list(here.iterdir())) == 3
    delete_temporary_folder(mine)
    assert not mine.exists()

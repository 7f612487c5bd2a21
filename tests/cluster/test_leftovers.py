"""Nodes delete what killed commands have left."""

import os
import time

import pytest

from lab2048.cluster.leftovers import delete_leftovers

DAY = 24 * 3600
SOLVE, PARCEL = "0123456789abcdef", "0123456789abcdef01234567"


@pytest.mark.parametrize(
    ("place", "name", "days"),
    [
        ("cache/cluster", f"{PARCEL}.123.part", 1),
        ("cache/cluster", PARCEL, 30),
        ("layers", SOLVE, 30),
        (f"layers/{SOLVE}", "runs-abc", 1),
        ("cache/cluster", "players", None),  # never
        ("layers", "precious", None),
    ],
)
def test_what_is_old_is_deleted(place, name, days, tmp_path, monkeypatch):
    monkeypatch.setenv("LAB2048_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("LAB2048_LAYERS", str(tmp_path / "layers"))
    delete_leftovers()  # there is nothing
    folder = tmp_path / place / name
    folder.mkdir(parents=True)
    (folder / "file").write_text("text")

    def is_there_after(n_days: float) -> bool:
        then = time.time() - n_days * DAY
        os.utime(folder, (then, then))
        delete_leftovers()
        return folder.exists()

    assert is_there_after(0.9 * (days or 1))
    assert is_there_after(1.1 * days if days else 1000) == (days is None)

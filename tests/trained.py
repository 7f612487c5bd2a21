"""`lab2048 train ntuple` as a user types it, on a board that learns in a moment."""

from pathlib import Path

from lab2048.cli.app import run

SMALL = ["--rules", "2x3", "--network", "rows", "--threads", "1"]


def train(out: Path, *words: str) -> int:
    return run(["train", "ntuple", "--out", str(out), *words])

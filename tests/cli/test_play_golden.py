"""`lab2048 play < moves.txt`, word for word: the same keys on the same seed are the same game for ever.

Rules, dice, keys, undo and what is said all have their part in it.  tests/data/play holds the keys
and what is shown for them; script/goldens writes the latter anew.
"""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from goldens import DATA, PLAYS, play

LAB = [sys.executable, "-m", "lab2048"]


@pytest.mark.parametrize("name", PLAYS)
def test_the_same_keys_show_the_same_game(name: str) -> None:
    assert play(name) == (DATA / "play" / f"{name}.out").read_text()


@pytest.mark.parametrize("name", ["classic", "hexagon"])
def test_a_shell_shows_it_too(name: str, own_store: Path) -> None:
    """With redirection and two processes: nothing depends on how the keys come in."""
    keys = DATA / "play" / f"{name}.txt"
    for _ in range(2):
        with keys.open() as file:
            done = subprocess.run([*LAB, "play", *PLAYS[name]], stdin=file, capture_output=True, text=True, check=True)
        assert done.stdout == (DATA / "play" / f"{name}.out").read_text()
        assert done.stderr == ""


def test_json_tells_the_same_game() -> None:
    told = json.loads(play("classic", "--json"))
    last = (DATA / "play" / "classic.out").read_text().splitlines()[-1]
    assert last == (
        f"seed {told['seed']}, score {told['score']}, highest tile {told['max_tile']}, {len(told['moves'])} moves"
    )

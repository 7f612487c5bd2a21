"""Compiled code is made once, by one process, kept where it belongs, and complete."""

import os
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from lab2048.kernels import _jit

pytestmark = pytest.mark.skipif(not _jit.IS_COMPILED, reason="kernels are plain Python here")

PREPARE = """
from lab2048.arena.compile import GROUPS, prepare
said, work = [], []
prepare(said.append, *GROUPS, begun=work.append)
said = [line for line in said if line.startswith("compiling")]  # whoever waits for another says so
assert len(work) == len(said) and all(each.n_done == each.n_all > 0 for each in work), [str(each) for each in work]
from lab2048.kernels import _jit
print(len(said), [kernel.py_func.__qualname__ for kernel in _jit.KERNELS if said and not kernel.signatures])
"""

USE = """
import gymnasium, numpy, lab2048.envs
from lab2048.arena.perft import count_sequences
from lab2048.kernels.games import play
from lab2048.players import make_player
from lab2048.rules import Rules
make, make_vec, name = gymnasium.make, gymnasium.make_vec, lab2048.envs.CLASSIC
for text in ("4x4", "3x3", "5x5", "hex1", "32768 32768 / # #"):
    rules = Rules.from_text(text)
    count_sequences(rules, 1)
    for player in ("random", "first"):
        games = play.make_games(numpy.arange(3, dtype=numpy.uint64), rules.shape.n_cells, 20)
        make_player(player).games_kernel(rules)(games, 20)
    for observation in ("ranks", "planes", "dict"):
        for mode in ("NextStep", "SameStep"):
            envs = make_vec(name, 2, rules=rules, observation=observation, autoreset_mode=mode)
            envs.reset(seed=1)
            envs.step([0, 1])
        env = make(name, rules=rules, observation=observation, render_mode="ansi")
        env.reset(seed=1)
        env.step(env.action_space.sample())
        env.render()
import pathlib, tempfile
from lab2048.solver import final_tiles, memory, problem, solve, verify
from lab2048.solver.workers import Workers
for goal, objective in ((16, "win"), (2048, "score")):
    with tempfile.TemporaryDirectory() as folder, Workers(2) as workers:
        this = problem.Problem.of(Rules.from_text("2x3", goal=goal), objective)
        for size in (2**14, 2**28):  # in runs and parts, and all at once
            table = solve.Solve(this, pathlib.Path(folder) / str(size), workers, memory.Memory(size)).run()
        table.state_value(this.starts[0].board)
        final_tiles.tile_chances(table)
        verify.verify(table)
"""


def start(code: str, cache: Path) -> "subprocess.Popen[str]":
    environment = {**os.environ, "LAB2048_CACHE": str(cache)}
    return subprocess.Popen([sys.executable, "-c", code], env=environment, stdout=subprocess.PIPE, text=True)


def finish(process: "subprocess.Popen[str]") -> str:
    output, _ = process.communicate()
    assert process.returncode == 0
    return output.strip()


def test_one_of_two_processes_compiles_and_then_nothing_is_left_to_compile(tmp_path: Path) -> None:
    both = [start(PREPARE, tmp_path) for _ in range(2)]
    assert sorted(map(finish, both)) == ["0 []", "4 []"]
    kept = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.nb?")}
    assert len(kept) > 50
    finish(start(USE, tmp_path))
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.nb?")} == kept


def test_a_folder_that_cannot_be_written_keeps_nothing_anywhere(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    code = """
from lab2048.arena import compile as compiling
from lab2048.kernels import _jit
from lab2048.kernels.board import bits
compiling._compile = lambda group: None
compiling.prepare(print, begun=lambda work: print(work.text))
compiling.prepare(print)
print(_jit.CAN_KEEP, bits.popcount(7), bits.popcount.stats.cache_path)
"""
    said, work, facts = finish(start(code, tmp_path / "file")).splitlines()
    assert said.startswith("compiling kernels (play), each time: ")
    assert said.endswith(" cannot be written")
    assert work == "compiling kernels (play), each time"
    assert facts == "False 3 None"


def test_another_python_or_processor_has_a_folder_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    names = [_jit._digest()]
    with monkeypatch.context() as patch:
        patch.setattr(_jit, "get_host_cpu_name", lambda: "another")
        names.append(_jit._digest())
    monkeypatch.setattr(_jit, "sys", SimpleNamespace(implementation=SimpleNamespace(cache_tag="another-399")))
    names.append(_jit._digest())
    assert len(set(names)) == 3


def test_code_that_is_in_use_is_not_dropped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folders = {name: tmp_path / name for name in ("ours", "used", "unused", "unfinished")}
    long_ago = time.time() - 40 * 24 * 3600
    for name, folder in folders.items():
        folder.mkdir()
        if name != "unfinished":
            (folder / "complete-play").touch()
            os.utime(folder / "complete-play", (long_ago, long_ago))
        os.utime(folder, (long_ago, long_ago))
    for name in ("used", "ours"):
        monkeypatch.setattr(_jit, "FOLDER", folders[name])
        assert _jit.is_ready("play")
    _jit.mark_ready("play")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["ours", "used"]

"""Compiled code is made once, by one process, kept where it belongs, and complete."""

import ast
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from lab2048.arena import compile as compiling
from lab2048.kernels import _jit, _source, group
from lab2048.models import SHIPPED
from lab2048.models.ntuple import shipped

pytestmark = pytest.mark.skipif(not _jit.IS_COMPILED, reason="kernels are plain Python here")

PREPARE = """
from lab2048.arena.compile import prepare
from lab2048.kernels.group import GROUPS
said, work = [], []
prepare(said.append, *GROUPS, begun=work.append)
said = [line for line in said if line.startswith("compiling")]  # whoever waits for another says so
assert len(work) == len(said) and all(each.n_done == each.n_all > 0 for each in work), [str(each) for each in work]
print(*[each.count() == each.n_all for each in work])
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
    assert sorted(map(finish, both)) == ["", "True"]
    kept = {path.name for path in (tmp_path / "kernels").glob("*.code")}
    assert len(kept) == sum(each.n_kernels for each in group.GROUPS.values())
    finish(start(USE, tmp_path))
    assert {path.name for path in (tmp_path / "kernels").glob("*.code")} == kept


def test_each_group_compiles_its_own_kernels(tmp_path: Path) -> None:
    code = "from lab2048.arena.compile import prepare; prepare(print, 'games', begun=lambda work: print(work.n_all))"
    assert finish(start(code, tmp_path)).splitlines() == ["compiling kernels (games), once after an update", "1"]
    assert [path.name.partition("-")[0] for path in (tmp_path / "kernels").glob("*.code")] == ["games.play.play_games"]


def test_a_folder_that_cannot_be_written_keeps_nothing_anywhere(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    code = """
from lab2048.arena import compile as compiling
from lab2048.kernels import _jit
from lab2048.kernels.board import bits
compiling.prepare(print, "benchmark", "shipped", begun=lambda work: print(work.text))
compiling.prepare(print, "benchmark", "shipped")
print(_jit.CAN_KEEP, bits.popcount(7), bits.popcount.stats.cache_path)
"""
    network, said, work, facts = finish(start(code, tmp_path / "file")).splitlines()
    assert network.startswith("the network of lab2048 is unpacked each time: ")
    assert said.startswith(f"compiling kernels (benchmark, {shipped.decoder_group()}, pages), each time: ")
    assert said.endswith(" cannot be written")
    assert work == "compiling kernels"
    assert facts == "False 3 None"


def test_a_damaged_file_is_compiled_again(tmp_path: Path) -> None:
    code = """
from lab2048.kernels.board import bits
print(bits.popcount(7), len(bits.popcount._cache_misses))
"""
    assert finish(start(code, tmp_path)) == "3 1"
    (file,) = (tmp_path / "kernels").glob("*.code")
    assert finish(start(code, tmp_path)) == "3 0"
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.write_bytes(data)
    assert finish(start(code, tmp_path)) == "3 1"
    assert finish(start(code, tmp_path)) == "3 0"


def test_another_compiler_python_or_processor_has_code_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    names = {_jit.machine.__wrapped__()}
    for target, name, value in (
        (_jit, "get_host_cpu_name", lambda: "another"),
        (_jit.numba, "__version__", "0.0"),
        (_jit.sys, "platform", "another"),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(target, name, value)
            names.add(_jit.machine.__wrapped__())
    assert len(names) == 4


@pytest.mark.parametrize("module", sorted({m for each in group.GROUPS.values() for m in each.modules}))
def test_the_sources_of_a_group_are_all_that_python_imports(module: str) -> None:
    """The digest is made of files found by a regular expression; here they are found by parsing."""

    def imported(name: str) -> set[str]:
        path = Path(_source.__file__).parent.joinpath(*name.split(".")[2:]).with_suffix(".py")
        found = set()
        for node in ast.walk(ast.parse(path.read_text())):
            assert not (isinstance(node, ast.Import) and any("lab2048" in each.name for each in node.names))
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(_source.PACKAGE):
                here = Path(_source.__file__).parent.joinpath(*node.module.split(".")[2:])
                names = [f"{node.module}.{each.name}" for each in node.names] if here.is_dir() else [node.module]
                found |= set(names)
        return found

    found, new = set(), {f"{_source.PACKAGE}.{module}"}
    while new:
        found |= new
        new = {each for name in new for each in imported(name)} - found
    root = Path(_source.__file__).parent
    assert _source.source_files(f"{_source.PACKAGE}.{module}") == {
        root.joinpath(*name.split(".")[2:]).with_suffix(".py") for name in found
    }
    assert f"{_source.PACKAGE}._jit" in found


def test_an_update_concerns_only_the_groups_that_call_what_it_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    def digests() -> dict[str, str]:
        found = {}
        for name, each in group.GROUPS.items():
            modules = (f"{_source.PACKAGE}.{module}" for module in each.modules)
            found[name] = _source.source_digest.__wrapped__(*modules)
        return found

    before, read = digests(), _source._read
    changed = Path(_source.__file__).parent / "solve" / "layer.py"
    monkeypatch.setattr(_source, "_read", lambda path: read(path) + b"#" * (path == changed))
    after = digests()
    assert {name for name in before if before[name] != after[name]} == {group.SOLVER}


def test_code_that_is_in_use_is_not_dropped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_jit, "FOLDER", tmp_path)
    monkeypatch.setattr(_jit, "CAN_KEEP", True)
    long_ago = time.time() - 40 * 24 * 3600
    for name in ("used.code", "unused.code", "unfinished.code.1234.part", "other-0.complete"):
        (tmp_path / name).touch()
        if name != "used.code":
            os.utime(tmp_path / name, (long_ago, long_ago))
    assert not _jit.is_ready("ours", ("games.play",))
    _jit.mark_ready("ours", ("games.play",))
    assert _jit.is_ready("ours", ("games.play",))
    assert sorted(path.suffix for path in tmp_path.iterdir()) == [".code", ".complete"]


def test_the_work_is_shared_evenly_and_the_network_follows_its_kernel() -> None:
    first, second = compiling._shares([*group.GROUPS, SHIPPED], 2)
    assert sorted([*first, *second]) == sorted([*group.GROUPS, SHIPPED])
    times = compiling._seconds(first), compiling._seconds(second)
    assert max(times) < 1.2 * min(times)
    both = first if SHIPPED in first else second
    end = both.index(SHIPPED)
    assert set(both[end - 3 : end]) == {group.UNPACK, group.UNPACK_OLD, group.PAGES}
    assert compiling._shares(["games", SHIPPED], 4) == [[SHIPPED], ["games"]]
    assert compiling._shares(["games", "search"], 1) == [["games", "search"]]


@pytest.mark.skipif(os.name == "nt", reason="no SIGINT for one process")
def test_an_interrupt_ends_the_helpers_too(tmp_path: Path) -> None:
    code = """
import threading
from lab2048.arena import compile as compiling
compiling.n_cores = lambda: 2
plain = compiling._Helper.start
def start(self, **options):
    plain(self, **options)
    print(self._process.pid, flush=True)
compiling._Helper.start = start
compiling._compile_here = lambda groups, count: threading.Event().wait()  # the helper compiles meanwhile
try:
    compiling.prepare(print, "solver", "tree")
except KeyboardInterrupt:
    print("interrupted")
"""
    process = start(code, tmp_path)
    assert process.stdout is not None
    assert process.stdout.readline().startswith("compiling")
    helper = int(process.stdout.readline())
    process.send_signal(signal.SIGINT)
    assert finish(process) == "interrupted"
    with pytest.raises(ProcessLookupError):
        os.kill(helper, 0)


def test_what_a_helper_does_not_finish_is_compiled_here(tmp_path: Path) -> None:
    code = """
from lab2048.arena import compile as compiling
compiling.n_cores = lambda: 2
plain = compiling._Helper.start
def start(self, **options):
    plain(self, **options)
    self._process.kill()
compiling._Helper.start = start
compiling.prepare(lambda _: None, "benchmark", "compress")
print(compiling.is_ready("benchmark"), compiling.is_ready("compress"))
"""
    assert finish(start(code, tmp_path)) == "True True"

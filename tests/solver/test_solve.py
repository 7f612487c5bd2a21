"""Solving boards: equal to plain recursion, to known values, in little memory, and after every kind of accident."""

import contextlib
import json
import os
import random
import sqlite3
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import DATA
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from plain_solver import plain_solve

from lab2048.errors import BoardError, FileError, UsageError
from lab2048.rules import Board, Rules
from lab2048.rules.move import move_name
from lab2048.solver.export import export
from lab2048.solver.final_tiles import tile_chances
from lab2048.solver.memory import Memory
from lab2048.solver.problem import Problem
from lab2048.solver.solve import Progress, Solve
from lab2048.solver.table import Table
from lab2048.solver.verify import verify
from lab2048.solver.workers import Workers

EXACT = json.loads((DATA / "exact.json").read_text())
LARGE = Memory(2**30)
TINY = Memory(1 << 14)  # nothing fits: every run waits on disk, every layer has several shelves


def solve(problem: Problem, folder: Path, memory: Memory = LARGE, n_workers: int = 1, **options: object) -> Table:
    with Workers(n_workers) as workers:
        return Solve(problem, folder, workers, memory, is_kept=False, **options).run()  # type: ignore[arg-type]


def problem_of(text: str, goal: int | None = None, **options: object) -> Problem:
    return Problem.of(Rules.from_text(text, goal=goal or 2048, **options), "win" if goal else "score")  # type: ignore[arg-type]


def contents(folder: Path) -> dict[str, bytes]:
    """All files of a table but the one that says when it was made."""
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.name != "solved.json"}


SMALL = ("2x2", "1x4", "1x3", "#x|##", "##x|x##", "2#|#4", "##|x#|##", "hex1:x#|##x|#x", "24|##", "1x5")
ANCHORED = ("A##|###", "A##|##G", "#A#|#G#", "##A##", "AG#|#xA|##x", "hex1:A#|#G#|#A", "tri2:A|###", "2#|A#|#G")
TABLES = ("2:0.9,4:0.1", "2:1", "4:1", "2:0.5,4:0.25,8:0.25", "8:0.3,2:0.7", "2:0.5,64:0.5")


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.sampled_from(SMALL + ANCHORED),
    st.sampled_from(TABLES),
    st.sampled_from((4, 8, 16, 32, None)),
    st.sampled_from((LARGE, TINY)),
    st.integers(0, 2),
)
def test_the_solver_equals_plain_recursion(
    tmp_path_factory: pytest.TempPathFactory, text: str, spawn: str, goal: int | None, memory: Memory, n_start: int
) -> None:
    if n_start == 0 and not Board.from_text(text.replace("G", "#")).legal_moves():
        n_start = 1
    if "G" in text and goal is not None and any(int(tile.partition(":")[0]) >= goal for tile in spawn.split(",")):
        return  # refused: the goal would spawn
    problem = problem_of(text, goal, spawn=spawn, start=n_start)
    rules = problem.rules
    expected = plain_solve(problem.rules, problem.objective.value)
    table = solve(problem, tmp_path_factory.mktemp("table"), memory, is_exact=True)
    assert table.manifest["value"] == pytest.approx(expected.value, rel=1e-12, abs=1e-13)
    count = table.count
    # From a map with tiles recursion meets some boards in one way only; the solver counts all copies.
    copies = [
        len({board.carry(symmetry) for board in boards for symmetry in rules.symmetries})
        for boards in (expected.states, expected.lost, expected.afterstates, expected.won)
    ]
    assert [count.states_raw, count.lost_raw, count.afterstates_raw, count.won_raw] == copies
    canonical = [
        {problem.canonical(board) for board in boards} for boards in (expected.states, expected.lost, expected.won)
    ]
    assert [count.states, count.lost, count.won] == list(map(len, canonical))
    assert count.afterstates == len({problem.canonical(after) for after in expected.afterstates})
    for state in sorted(expected.states, key=lambda board: board.ranks)[:20]:
        for move in table.move_values(state):
            reward = move.reward if goal is None else 0
            is_decided, is_won = problem.is_decided(move.after), problem.is_won(move.after)
            exact = float(is_won) if is_decided else reward + expected.afterstates[move.after]
            assert move.value == pytest.approx(exact, rel=1e-12, abs=1e-12)
    assert verify(table, n_sample=0).checked == count.afterstates
    if goal is not None:
        assert tile_chances(table).get(goal, 0.0) == pytest.approx(expected.value, abs=1e-12)


@pytest.mark.parametrize("spawner", ["first", "worst"])
@pytest.mark.parametrize("text", ["2x2", "1x4", "2#|#4", "##|x#|##", "2x3"])
@pytest.mark.parametrize("goal", [8, 32, None])
@pytest.mark.parametrize("spawn", ["2:0.9,4:0.1", "8:0.3,2:0.7"])
def test_deterministic_games_equal_plain_recursion(
    tmp_path: Path, text: str, goal: int | None, spawner: str, spawn: str
) -> None:
    problem = problem_of(text, goal, spawn=spawn, spawner=spawner)
    expected = plain_solve(problem.rules, problem.objective.value)
    table = solve(problem, tmp_path / "table", is_exact=True)
    assert table.manifest["value"] == expected.value
    found = [len(boards) for boards in (expected.states, expected.lost, expected.afterstates, expected.won)]
    count = table.count
    assert [count.states, count.lost, count.afterstates, count.won] == found  # symmetric boards are different here
    assert [count.states_raw, count.lost_raw, count.afterstates_raw, count.won_raw] == found
    for state in expected.states:
        for move in table.move_values(state):
            exact = (
                1.0 if problem.is_won(move.after) else (0 if goal else move.reward) + expected.afterstates[move.after]
            )
            assert move.value == exact
    assert verify(table, n_sample=0).checked == count.afterstates
    if goal is not None:
        assert tile_chances(table).get(goal, 0.0) == expected.value


def records(max_afterstates: int) -> list[dict[str, object]]:
    return [
        record
        for record in EXACT["records"]
        if record["start"] == "random" and record["afterstates_canonical"] <= max_afterstates
    ]


def check_record(record: dict[str, object], table: Table) -> None:
    count = table.count
    assert count.states == record["decision_states_canonical"]
    assert count.states_raw == record["decision_states"]
    assert (count.lost, count.lost_raw) == (record["loss_states_canonical"], record["loss_states"])
    assert (count.won, count.won_raw) == (record["win_afterstates_canonical"], record["win_afterstates"])
    assert (count.afterstates, count.afterstates_raw) == (record["afterstates_canonical"], record["afterstates"])
    assert (len(table.layers), max(table.layers)) == (record["layers"], record["max_sum"])
    assert table.manifest["value"] == pytest.approx(record["value"], rel=1e-12)
    if record["objective"] == "win":
        assert table.manifest["loss_probability"] == pytest.approx(record["loss_probability"], rel=1e-12)


@pytest.mark.parametrize("record", records(70_000), ids=lambda record: f"{record['board']}-{record['win']}")
def test_known_values_and_counts(record: dict[str, object], tmp_path: Path) -> None:
    check_record(record, solve(problem_of(str(record["board"]), record["win"]), tmp_path / "table", n_workers=2))  # type: ignore[arg-type]


@pytest.mark.heavy
@pytest.mark.parametrize(
    "record",
    [record for record in records(32_000_000) if record not in records(70_000)],
    ids=lambda record: f"{record['board']}-{record['win']}",
)
def test_known_values_and_counts_of_large_boards(record: dict[str, object], tmp_path: Path) -> None:
    check_record(record, solve(problem_of(str(record["board"]), record["win"]), tmp_path / "table", n_workers=2))  # type: ignore[arg-type]


@pytest.mark.parametrize("text", ["2x2", "A##|###", "A##|##G"])
@pytest.mark.parametrize("goal", [2**16, 2**17, 2**30])
def test_a_goal_that_no_board_can_hold_is_never_made(text: str, goal: int, tmp_path: Path) -> None:
    table = solve(problem_of(text, goal), tmp_path / "table")
    never = solve(problem_of(text, 2**14), tmp_path / "never")
    assert (table.manifest["value"], table.count) == (0, never.count)
    assert table.count.won == 0
    verify(table)


def test_the_values_of_single_starts(tmp_path: Path) -> None:
    """And of the only brick board and the score: every start that is known, probed in the table of random starts."""
    tables: dict[tuple[str, object], Table] = {}
    n = 0
    for record in EXACT["records"]:
        name = record["board"], record["win"]
        if record["start"].startswith(("random", "fixed")) or record["board"] not in ("2x2", "2x3", "#x#|###|#x#"):
            continue
        if name not in tables:
            tables[name] = solve(problem_of(*name), tmp_path / str(len(tables)), is_exact=True)
        board = Board.from_text(" / ".join(record["start"].replace("0", "#").split("|")))
        assert tables[name].state_value(board)[0] == pytest.approx(record["value"], rel=1e-12)
        n += 1
    assert n > 50


@pytest.mark.parametrize("objective", ["win", "score"])
def test_little_memory_and_more_workers_change_nothing(objective: str, tmp_path: Path) -> None:
    problem = problem_of("2x3", 32 if objective == "win" else None)
    large = contents(solve(problem, tmp_path / "large").folder)
    assert contents(solve(problem, tmp_path / "workers", n_workers=3).folder) == large
    tiny = solve(problem, tmp_path / "tiny", TINY, n_workers=2)
    assert contents(solve(problem, tmp_path / "again", TINY).folder) == contents(tiny.folder)
    assert verify(tiny, n_sample=0).checked == tiny.count.afterstates
    assert {name: data for name, data in contents(tiny.folder).items() if name.startswith("keys")} == {
        name: data for name, data in large.items() if name.startswith("keys")
    }


class KilledError(Exception):
    """As kill -9 would: nothing is tidied up by whoever is killed."""


@pytest.mark.parametrize("memory", [LARGE, TINY], ids=["large", "tiny"])
@pytest.mark.parametrize("text", ["2x3", "AA#G|A###|####"])
def test_a_solve_cut_short_goes_on_to_the_same_files(
    text: str, memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem = problem_of(text, 32 if text == "2x3" else 16)
    whole = contents(solve(problem, tmp_path / "whole", memory).folder)
    rng, cut = random.Random(1), tmp_path / "cut"
    for _ in range(10):
        n_left = rng.randrange(1, 60)

        def kill(progress: Progress) -> None:
            nonlocal n_left
            n_left -= 1
            if n_left == 0:
                raise KilledError

        try:
            solve(problem, cut, memory, progress=kill, checkpoint_seconds=rng.choice((0, 1000)))
        except KilledError:
            for name in ("keys-000099.npy.part", ".solved.json.0b3cdd2c.part", ".manifest.json.0b3cdd2c.part"):
                (cut / name).touch()
            with (cut / "journal.jsonl").open("ab") as file:
                file.write(b'{"kind": "forw')
    assert contents(solve(problem, cut, memory).folder) == whole
    assert not (cut / "work").exists()
    assert not [path for path in cut.iterdir() if path.suffix == ".part"]


def test_files_that_were_damaged_meanwhile_are_made_again(tmp_path: Path) -> None:
    problem = problem_of("2x3", 32)
    whole = contents(solve(problem, tmp_path / "whole").folder)
    for i, name in enumerate(["keys-000020.npy", "values-000060.npy", "work/states.u64", "work/values-000050.npy"]):
        cut, n_left = tmp_path / f"cut{i}", 33 + 12

        def kill(progress: Progress) -> None:
            nonlocal n_left
            n_left -= 1
            if n_left == 0 or (progress.phase == "backward" and progress.tile_sum == 50):
                raise KilledError

        with pytest.raises(KilledError):
            solve(problem, cut, progress=kill, checkpoint_seconds=0)
        data = bytearray((cut / name).read_bytes())
        data[len(data) // 2] ^= 1
        (cut / name).write_bytes(data)
        assert contents(solve(problem, cut).folder) == whole


def test_a_damaged_layer_is_found_and_named(tmp_path: Path) -> None:
    table = solve(problem_of("2x2", 16), tmp_path / "table")
    for name in ("keys-000010.npy", "values-000014.npy"):
        path = table.folder / name
        good = path.read_bytes()
        path.write_bytes(good[:-1] + bytes([good[-1] ^ 1]))
        with pytest.raises(FileError, match=f"{name} is damaged"):
            verify(Table.open(table.folder))
        path.write_bytes(good)
    verify(Table.open(table.folder))


def test_a_wrong_value_with_the_right_checksum_is_found(tmp_path: Path) -> None:
    from lab2048.solver.column_file import write_column

    table = solve(problem_of("2x3", 32), tmp_path / "table")
    layer = table.layers[40]
    values = layer.values.read().copy()
    values[3] *= np.float32(1.00001)
    column = write_column(layer.values.path, "<f4", [values], is_kept=True)
    manifest = json.loads((table.folder / "manifest.json").read_text())
    for line in manifest["layers"]:
        if line["sum"] == 40:
            line["values"] = column.checksum
    (table.folder / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(FileError, match=r"values-0000\d\d.npy: value \d+ differs"):
        verify(Table.open(table.folder), n_sample=0)


def test_a_full_disk_is_one_line_and_a_solve_that_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import errno
    from typing import Any

    from lab2048.solver import column_file as files

    problem = problem_of("2x3", 32)
    whole = contents(solve(problem, tmp_path / "whole").folder)
    true_write, n_left = files._write_parts, 0

    def write(*arguments: Any) -> int:
        nonlocal n_left
        n_left -= 1
        if n_left == 0:
            raise OSError(errno.ENOSPC, "No space left on device")
        return true_write(*arguments)

    monkeypatch.setattr(files, "_write_parts", write)
    for n in (1, 2, 40, 20):
        n_left = n
        with pytest.raises(FileError, match=r"the disk is full; progress is saved, and the same solve continues"):
            solve(problem, tmp_path / "full")
    assert contents(solve(problem, tmp_path / "full").folder) == whole


@pytest.mark.parametrize("line", [b"7\n", b"{}\n", b'{"kind": "forward", "sum": 4, "seconds": 1}\n', b"\xff\n"])
def test_a_damaged_journal_is_believed_up_to_the_damage(line: bytes, tmp_path: Path) -> None:
    problem, cut = problem_of("2x3", 32), tmp_path / "cut"
    whole = contents(solve(problem, tmp_path / "whole").folder)

    def kill(progress: Progress) -> None:
        if progress.tile_sum == 30:
            raise KilledError

    with pytest.raises(KilledError):
        solve(problem, cut, progress=kill)
    lines = (cut / "journal.jsonl").read_bytes().splitlines(keepends=True)
    (cut / "journal.jsonl").write_bytes(b"".join([*lines[:5], line, *lines[6:]]))
    assert contents(solve(problem, cut).folder) == whole


def test_two_solves_do_not_meet_in_one_folder(tmp_path: Path) -> None:
    problem, met = problem_of("2x2", 16), []

    def meet(progress: Progress) -> None:
        with pytest.raises(FileError, match="another solve is running"):
            solve(problem, tmp_path / "table")
        met.append(progress)

    solve(problem, tmp_path / "table", progress=meet)
    assert met


def test_a_folder_of_something_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text("dear")
    with pytest.raises(FileError, match="holds other files"):
        solve(problem_of("2x2", 16), tmp_path)
    solve(problem_of("2x2", 16), tmp_path / "table")
    solve(problem_of("2x2", 16), tmp_path / "table")  # complete: only opened
    with pytest.raises(FileError, match="another problem"):
        solve(problem_of("2x2", 32), tmp_path / "table")
    with pytest.raises(FileError, match="there is no folder"):
        Table.open(tmp_path / "none")


@pytest.mark.parametrize(
    ("text", "options", "says"),
    [
        ("5x5", {}, "25 cells are too many"),
        ("4x4", {}, "without a goal tiles above 32768 could appear"),
        ("4x4", {"goal": 2**16}, "tiles above 32768 could appear: expected a goal of at most that"),
        ("A##|##G", {"goal": 4}, "with goal cells no 4 may spawn"),
    ],
)
def test_what_cannot_be_solved_is_refused(text: str, options: dict[str, object], says: str) -> None:
    with pytest.raises((UsageError, BoardError), match=says):
        problem_of(text, **options)


def test_boards_that_are_not_in_the_table_are_refused(tmp_path: Path) -> None:
    table = solve(problem_of("2x2", 16), tmp_path / "table")
    with pytest.raises(BoardError, match="another shape"):
        table.move_values(Board.from_text("22#"))
    with pytest.raises(BoardError, match="not in the table"):
        table.move_values(Board.from_text("2#|##"))
    assert table.state_value(Board.from_text("24|42")) == (0.0, 1.0)
    assert table.state_value(Board.from_text("16 # / # #")) == (1.0, 0.0)


def test_play_by_score_reaches_the_tiles_of_the_exact_play(tmp_path: Path) -> None:
    """The best play for the score on 2x2 is also the best for 16 and for 32."""
    tiles = tile_chances(solve(problem_of("2x2"), tmp_path / "table"))
    assert tiles[16] == pytest.approx(0.96251125375, rel=1e-9)
    assert tiles[32] == pytest.approx(0.0828872890715542, rel=1e-9)
    assert max(tiles) == 32


@pytest.mark.parametrize(("text", "goal"), [("2x2", 16), ("2x2", None), ("2x3", 16), ("2#|#4", 8)])
@pytest.mark.parametrize("spawner", ["fair", "first"])
def test_sqlite_has_the_best_action_of_every_state(tmp_path: Path, text: str, goal: int | None, spawner: str) -> None:
    problem = problem_of(text, goal, spawner=spawner)
    table = solve(problem, tmp_path / "table", is_exact=True)
    export(table, "sqlite", tmp_path / "table.sqlite", force=False)
    with contextlib.closing(sqlite3.connect(tmp_path / "table.sqlite")) as store:
        rows = store.execute("SELECT sum, ranks, value, action FROM states").fetchall()
    assert len(rows) == table.count.states
    for tile_sum, ranks, value, action in rows:
        board = Board(problem.rules.shape, tuple(int(digit, 16) for digit in ranks))
        found = table.move_values(board)
        assert board.tile_sum == tile_sum
        assert action == move_name(table.best(found).move)
        assert value == pytest.approx(max(each.value for each in found))


def test_scratch_files_are_deleted_also_if_that_fails_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    failed: list[object] = []

    def unlink(path: object, **options: Any) -> None:
        if "states.u64" in str(path) and not failed:
            failed.append(path)
            raise OSError("input/output error")
        remove(path, **options)  # type: ignore[arg-type]

    remove = os.unlink
    monkeypatch.setattr(os, "unlink", unlink)
    solve(problem_of("2x2", 16), tmp_path / "table")
    assert failed
    assert not (tmp_path / "table" / "work").exists()

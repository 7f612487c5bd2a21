"""Damaged stores: what is whole can be read, what is not is named, and nothing is made worse."""

import sqlite3
import tracemalloc
import zlib
from dataclasses import replace
from pathlib import Path

import pytest
from played import fill, play

from lab2048.cli.app import run as lab2048
from lab2048.errors import StoreError
from lab2048.records.episode import MAX_MOVES
from lab2048.records.store import Store
from lab2048.rules import Rules


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "games.sqlite"


def change(path: Path, statement: str, *values: object) -> None:
    """Do to a store what no lab2048 would do."""
    database = sqlite3.connect(path)
    database.execute(statement, values)
    database.commit()
    database.close()


@pytest.mark.parametrize("part", [0.001, 0.01, 0.3, 0.5, 0.9, 0.999])
def test_a_truncated_store_is_refused_and_left_alone(path, part):
    fill(path, 300)
    content = path.read_bytes()
    path.write_bytes(content[: int(len(content) * part)])
    before = path.read_bytes()
    with pytest.raises(StoreError, match="damaged"):
        Store.open(path)
    assert path.read_bytes() == before


def test_damage_in_the_middle_of_the_file_is_one_line(path):
    fill(path, 300)
    content = bytearray(path.read_bytes())
    content[4096:] = b"\xa5" * (len(content) - 4096)
    path.write_bytes(content)
    with pytest.raises(StoreError, match="damaged"), Store.open(path) as store:
        store.entries()
    assert path.read_bytes() == content


@pytest.mark.parametrize(
    "damage",
    [
        "moves = x'00'",
        "moves = x'789c03'",
        "moves = 'wasd'",
        "n_moves = n_moves + 1",
        "max_tile = NULL OR max_tile * 2",
        "moves_to_goal = 5",
        "seed = seed + 1",
        "score = score + 4",
        "checksum = '0123456789abcdef'",
        "checksum = x'00'",
        "player = 'human'",
        "player = CAST(x'ff' AS TEXT)",
        "movers = '[[2, \"human\"]]'",
        "moves = (SELECT moves FROM episodes WHERE id = 3)",
    ],
)
def test_a_damaged_game_is_named_and_the_others_are_not_harmed(path, damage):
    fill(path, 3)
    change(path, f"UPDATE episodes SET {damage} WHERE id = 2")
    with Store.open(path) as store:
        with pytest.raises(StoreError, match=r"game 2 .* is damaged"):
            store.get(2)
        assert len(store.entries()) == 3  # a list does not look at moves and checksums
        assert store.get(1).episode == play("3x3", 0)


@pytest.mark.parametrize(
    "damage",
    [
        "n_moves = 9223372036854775806.5",
        "n_moves = 'many'",
        "n_moves = 6000000000",
        "seconds = 9e999",
        "seconds = -1",
        "seconds = 'abc'",
        "player = x'00ff'",
        "score = '\x1b[2J'",
        "seed = x'00'",
        "created = x'00'",
        "movers = '[5]'",
        "movers = 'human'",
        "movers = '" + "[" * 5000 + "'",
        "movers = x'00'",
        "run = 77",
    ],
)
def test_a_list_goes_on_without_a_damaged_game(path, damage):
    fill(path, 3)
    change(path, f"UPDATE episodes SET {damage} WHERE id = 2")
    with Store.open(path) as store:
        for ask in (lambda: store.get(2), store.entries):
            with pytest.raises(StoreError, match=r"game 2 .* is damaged") as caught:
                ask()
            assert str(caught.value).isprintable()
        told: list[StoreError] = []
        assert [entry.id for entry in store.entries(on_damage=told.append)] == [3, 1]
        assert len(told) == 1
        assert store.ids() == [1, 2, 3]


@pytest.mark.parametrize("damage", ["seconds = 9e999", "score = 'abc'", "n_moves = x'00'"])
def test_statistics_do_not_count_a_damaged_game(path, damage):
    run = fill(path, 3)
    change(path, f"UPDATE episodes SET {damage} WHERE id = 2")
    with Store.open(path) as store, pytest.raises(StoreError, match=r"game 2 .* is damaged"):
        store.summaries_of(run)


def test_moves_that_unfold_to_gigabytes_are_not_unfolded(path):
    fill(path, 2)
    packer = zlib.compressobj()
    packed = b"".join(packer.compress(b"w" * 10_000_000) for _ in range(20)) + packer.flush()
    for n_moves in (6_000_000_000, 200_000_000, MAX_MOVES + 1, MAX_MOVES, 5, -1):
        change(path, "UPDATE episodes SET n_moves = ?, moves = ? WHERE id = 2", n_moves, packed)
        with Store.open(path) as store:
            tracemalloc.start()
            with pytest.raises(StoreError, match=r"game 2 .* is damaged"):
                store.get(2)
            _, peak = tracemalloc.get_traced_memory()
            tracemalloc.stop()
        assert peak < 5 * MAX_MOVES


def test_a_game_that_could_not_be_read_again_is_not_kept(path):
    run = fill(path, 1)
    with Store.open(path) as store, pytest.raises(StoreError, match="expected at most 10000000"):
        store.keep(run, {1: replace(play("3x3", 1), moves="w" * (MAX_MOVES + 1))})


@pytest.mark.parametrize(
    "damage",
    [
        "provenance = '[]'",
        "provenance = 'no JSON'",
        "provenance = '{\"x\": 1e999}'",
        "provenance = '{\"x\": NaN}'",
        "provenance = '" + '{"x":' * 500 + "0" + "}" * 500 + "'",
        "player = x'00'",
        "seed = 'abc'",
        "rules = '5'",
    ],
)
def test_games_of_a_damaged_run_are_named(path, damage):
    fill(path, 1)
    change(path, f"UPDATE runs SET {damage}")
    with Store.open(path) as store:
        with pytest.raises(StoreError, match=r"game 1 .* is damaged: run 1 .* is damaged"):
            store.get(1)
        assert store.find_run(Rules.from_text("3x3"), "first", 7) is None


@pytest.mark.parametrize("spoil", [lambda page: bytes(len(page)), lambda page: bytes(255 - byte for byte in page)])
def test_a_store_with_a_spoilt_page_is_not_written_to(path, spoil):
    """Every page in turn is zeroed, or its bits are flipped."""
    run = fill(path, 100)
    content = path.read_bytes()
    for begin in range(0, len(content), 4096):
        spoilt = content[:begin] + spoil(content[begin : begin + 4096]) + content[begin + 4096 :]
        for write in (
            lambda store: store.keep(run, {100: play("3x3", 100)}),
            lambda store: store.begin_run("play", Rules.from_text("4x4"), "human", 1),
            lambda store: store.adopt([(play("3x3", 101), {})]),
        ):
            path.write_bytes(spoilt)
            with pytest.raises(StoreError, match="damaged"), Store.open(path) as store:
                write(store)
            assert path.read_bytes() == spoilt


def test_damage_that_is_met_while_writing_promises_nothing(path, monkeypatch):
    """A large store is not checked first: that would take long."""
    run = fill(path, 100)
    monkeypatch.setattr("lab2048.records.store_file._CHECKED_SIZE", 0)
    content = path.read_bytes()
    path.write_bytes(content[:8192] + bytes(len(content) - 8192))
    with pytest.raises(StoreError, match="damaged") as caught, Store.open(path) as store:
        store.keep(run, {100: play("3x3", 100)})
    assert "left unchanged" not in str(caught.value)


def test_a_damaged_run_is_named(path):
    fill(path, 1)
    change(path, "UPDATE runs SET rules = '{}'")
    with Store.open(path) as store, pytest.raises(StoreError, match=r"run 1 .* is damaged"):
        store.get(1)


def test_check_finds_a_damaged_structure(path):
    fill(path, 300)
    with Store.open(path) as store:
        store.check()
    content = bytearray(path.read_bytes())
    content[-4096:] = bytes(4096)
    path.write_bytes(content)
    with Store.open(path) as store, pytest.raises(StoreError, match="damaged"):
        store.check()


def test_a_match_does_not_go_on_in_a_damaged_store(path, capsys):
    command = ["match", "random", "--rules", "2x2", "--workers", "1", "--seed", "5", "--store", str(path)]
    assert lab2048([*command, "--games", "300"]) == 0
    content = path.read_bytes()
    spoilt = content[:-4096] + bytes(4096)
    path.write_bytes(spoilt)
    capsys.readouterr()
    assert lab2048([*command, "--games", "400", "--resume"]) == 3
    assert "damaged" in capsys.readouterr().err
    assert path.read_bytes() == spoilt

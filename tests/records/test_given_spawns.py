"""Games with recorded spawns: kept, proved, exported, imported and played on like others."""

import io
import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from played import play

from lab2048.arena.session import Session
from lab2048.errors import FileError
from lab2048.records.episode import SCHEMA, SPAWNS_SCHEMA, Episode
from lab2048.records.exchange import ImportCounts, import_lines, read_line, write_line
from lab2048.records.replay.reading import read_episode
from lab2048.records.store import Store
from lab2048.rules import Game, Rules
from records.replay_writer import write_league, write_rpl1, write_tablebase, write_verse
from records.test_replay import CASES, WRITERS, played


def foreign(seed: int = 1, n_moves: int = 60) -> Episode:
    """A game whose spawns are those of another seed."""
    return read_episode(write_verse(played("4x4", seed, n_moves), "4x4"))


@pytest.fixture
def store(tmp_path: Path):
    with Store.open(tmp_path / "games.sqlite") as opened:
        yield opened


def bring(store: Store, data: bytes) -> tuple[ImportCounts, list[str]]:
    counts, reasons = ImportCounts(), []
    import_lines(store, io.BytesIO(data), counts, refuse=lambda number, why: reasons.append(f"{number}: {why}"))
    return counts, reasons


@pytest.mark.parametrize(("name", "size"), CASES)
def test_a_replay_is_kept_proved_exported_and_imported(store: Store, tmp_path: Path, name: str, size: str) -> None:
    game = played(size, 5)
    counts, reasons = bring(store, WRITERS[name](game, size))
    assert (counts.imported, reasons) == (1, [])
    stored = store.get(counts.ids[0])
    assert stored.episode.rules.board.to_text() == size
    assert stored.episode.schema == SPAWNS_SCHEMA
    found = stored.episode.prove()
    assert (found.first_board, found.score, found.board) == (game.first_board, game.score, game.board)
    line = write_line(stored)
    assert read_line(line.encode())[0] == stored.episode
    assert bring(store, WRITERS[name](game, size))[0].already == 1
    with Store.open(tmp_path / "other.sqlite") as other:
        assert bring(other, line.encode())[0].imported == 1
        assert other.get(1).episode == stored.episode


@given(st.integers(0, 1000), st.integers(0, 60), st.integers(0, 5))
def test_a_recorded_game_is_played_on_and_proved(seed: int, at: int, choice: int) -> None:
    episode = foreign(seed)
    session = Session.branch(episode, min(at, len(episode.moves)))
    for _ in range(3):
        if legal := session.game.legal_moves():
            session.play(legal[choice % len(legal)])
    branch = session.episode()
    assert branch.spawns == episode.spawns[: len(branch.spawns)]
    assert branch.prove().board == session.game.board


def test_undo_and_the_same_move_bring_the_recorded_spawn_and_another_move_does_not() -> None:
    episode = foreign(n_moves=20)
    game = episode.prove()
    last = game.turns[-1]
    game.undo()
    assert game.play(last.move) == last
    game.undo()
    before = list(game.given)
    illegal = [move for move in range(4) if move not in game.legal_moves()]
    for move in illegal:
        with pytest.raises(Exception, match=r"illegal|changes nothing|no tile"):
            game.play(move)
    assert game.given == before
    other = next((move for move in game.legal_moves() if move != last.move), None)
    if other is not None:
        game.play(other)
        record = Episode.from_game(game, "x", 0.0)
        assert len(record.spawns) == len(episode.spawns) - 2
        assert record.prove().board == game.board


def test_a_stored_game_with_spawns_is_changed_and_deleted(store: Store) -> None:
    store.adopt([(foreign(), {})])
    with Session.open(store, 1) as session:
        n = len(session.game.turns)
        session.undo(10)
        last = session.game.undone[-1].move
        session.play(next(move for move in session.game.legal_moves() if move != last))
        session.save()
        assert store.get(1).episode == session.episode()
        assert len(session.episode().spawns) == 2 * (2 + n - 10)
    removed = store.remove(1)
    assert store.put_back(removed) == 1
    assert store.get(1).episode == removed.episode


def test_games_without_recorded_spawns_are_written_as_before() -> None:
    data = play("3x3", 4).to_json()
    assert data["schema"] == SCHEMA
    assert "spawns" not in data
    assert Episode.from_json(json.loads(json.dumps(data))) == play("3x3", 4)


def changed(episode: Episode, **fields: object) -> dict[str, object]:
    return {**json.loads(json.dumps(episode.to_json())), **fields}


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"schema": SCHEMA}, "schema"),
        ({"spawns": ""}, "schema"),
        ({"spawns": "0"}, "two letters per spawn"),
        ({"spawns": 5}, "two letters per spawn"),
        ({"spawns": "?1" * 4}, "has '\\?'"),
        ({"spawns": "01" * 1000}, "at most 62"),
        ({"spawns": "01f2"}, "checksum"),
    ],
)
def test_wrong_spawns_are_refused(fields: dict[str, object], reason: str) -> None:
    with pytest.raises(FileError, match=reason):
        Episode.from_json(changed(foreign(), **fields))


def test_spawns_of_a_spawner_cannot_be_given() -> None:
    with pytest.raises(Exception, match="spawner is worst"):
        Game(Rules.from_text("3x3", spawner="worst"), 0, given=[(0, 1)])


def test_a_broken_rule_is_named_with_its_move(store: Store) -> None:
    content = write_verse(played("4x4", 1, 20), "4x4")
    counts, [reason] = bring(store, content[:-3] + content[-3:] * 40)
    assert counts.refused == 1
    assert re.match(r"0: move \d+ is impossible", reason)


def test_several_replays_may_be_lines_of_one_text(store: Store) -> None:
    games = [played("4x4", seed, 30) for seed in range(3)]
    text = b"\n".join([write_verse(games[0], "4x4"), write_league(games[1]), b"nothing", write_rpl1(games[2], "4x4")])
    counts, reasons = bring(store, text)
    assert (counts.imported, counts.refused, len(counts.ids)) == (3, 1, 3)
    assert reasons[0].startswith("3: ")


def test_a_file_of_a_tablebase_may_contain_line_ends(store: Store) -> None:
    seed = next(seed for seed in range(1000) if b"\n" in write_tablebase(played("4x4", seed, 200)))
    assert bring(store, write_tablebase(played("4x4", seed, 200)))[0].imported == 1

"""Games as lines of JSON: what is written reads back, and a bad line is refused by its number."""

import io
import json
import tracemalloc
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from played import BOARDS, play, play_many

from lab2048.errors import FileError
from lab2048.records import exchange
from lab2048.records.entry import Run, StoredGame
from lab2048.records.episode import MAX_MOVES, Episode
from lab2048.records.exchange import ImportCounts, import_lines, read_line, write_line
from lab2048.records.provenance import provenance
from lab2048.records.store import Store
from lab2048.rules import Game, Rules

ORIGIN = {"program": "lab2048 0.1.0", "command": "lab2048 play"}


def line_of(episode: Episode, origin: dict[str, Any] = ORIGIN) -> bytes:
    run = Run(1, "play", episode.rules, episode.player, 1, "2026-01-01T00:00:00+00:00", origin)
    return write_line(StoredGame(1, run, 0, run.created, episode)).encode()


def changed(episode: Episode, **fields: object) -> bytes:
    """The line of a game with some fields overwritten, and its checksum as it was."""
    return json.dumps({**json.loads(line_of(episode)), **fields}).encode()


def signed(episode: Episode, **fields: Any) -> bytes:
    """The line of a game that was changed by someone who knows how checksums are made."""
    return line_of(replace(episode, **fields))


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(BOARDS), st.integers(0, 2**53 - 1), st.integers(0, 200))
def test_any_episode_round_trips(board, seed, max_moves):
    episode = play(board, seed, max_moves=max_moves)
    assert read_line(line_of(episode)) == (episode, ORIGIN)
    assert Episode.from_json(json.loads(json.dumps(episode.to_json()))) == episode


@settings(max_examples=40, deadline=None)
@given(st.sampled_from(BOARDS), st.integers(0, 2**53 - 1), st.sampled_from([4, 16, 2048]))
def test_a_replay_goes_through_the_boards_of_the_game(board, seed, goal):
    episode = play(board, seed, goal=goal)
    game = Game(episode.rules, seed)
    game.replay(episode.moves)
    assert list(episode.replay()) == game.turns == episode.prove().turns


@pytest.mark.parametrize("spawner", ["first", "worst"])
def test_other_spawners_replay_too(spawner):
    game = Game(Rules.from_text("3x3", spawner=spawner), 5)
    while moves := game.board.legal_moves():
        game.play(moves[-1])
    episode = Episode.from_game(game, "last", 0.0)
    assert read_line(line_of(episode))[0].prove().board == game.board


def test_a_long_game_is_proved_without_remembering_it():
    game = Game(Rules.from_text("8x8", spawner="first"), 1)
    while len(game.turns) < 3000:
        game.play(game.board.legal_moves()[0])
    episode = Episode.from_game(game, "first", 0.0)
    tracemalloc.start()
    for _ in episode.replay():
        pass
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 200_000  # bytes; the turns together take millions


def test_who_took_over_travels_along():
    episode = replace(EPISODE, movers=((2, "human"), (5, "random")))
    assert read_line(line_of(episode)) == (episode, ORIGIN)
    assert episode.checksum != EPISODE.checksum


EPISODE = play("3x3", 4)


def nested(depth: int) -> dict[str, Any]:
    """A provenance of so many objects, each in the one before."""
    data: dict[str, Any] = {}
    for _ in range(depth - 1):
        data = {"x": data}
    return data


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"hello", "not JSON at column 1"),
        (b'{"schema": ', "not JSON"),
        (b"\xff\xfe{}", "not UTF-8 text at byte 1"),
        (b"\x00\x01\x02\x03", "not JSON"),
        (b"[]", "not an episode"),
        (b"12", "not an episode"),
        (b"null", "not an episode"),
        (b"{}", "not an episode"),
        (b'{"schema": "lab2048/games-1"}', "not an episode"),
        (b"[" * 100_000, "nested too deeply"),
        (b'{"schema":' * 100_000, "nested too deeply"),
        (b"9" * 5000, "too large"),
        (changed(EPISODE, rules={"board": "99x99"}), "rules"),
        (changed(EPISODE, rules={**EPISODE.rules.to_json(), "board": "99x99"}), "out of range"),
        (changed(EPISODE, rules={**EPISODE.rules.to_json(), "board": "#" * 5000}), "2000"),
        (changed(EPISODE, rules={**EPISODE.rules.to_json(), "start": 500}), "start 500"),
        (changed(EPISODE, rules={**EPISODE.rules.to_json(), "spawn": "2:nan"}), "probability"),
        (changed(EPISODE, rules={**EPISODE.rules.to_json(), "goal": 2**400}), "too large"),
        (changed(EPISODE, seed=-1), "seed -1"),
        (changed(EPISODE, seed=2**53), "seed"),
        (changed(EPISODE, seed=1.5), "seed"),
        (changed(EPISODE, seed=True), "seed"),
        (changed(EPISODE, score="4"), "score"),
        (changed(EPISODE, score=EPISODE.score + 4), "checksum"),
        (changed(EPISODE, moves=EPISODE.moves[:-1]), "checksum"),
        (changed(EPISODE, moves=None), "moves"),
        (changed(EPISODE, checksum=None), "the checksum is missing: expected"),
        (changed(EPISODE, checksum=[[1]]), "checksum"),
        (signed(EPISODE, score=EPISODE.score + 4), "does not replay: after move"),
        (signed(EPISODE, max_tile=2 * EPISODE.max_tile), "max_tile"),
        (signed(EPISODE, moves_to_goal=3), "moves_to_goal"),
        (signed(EPISODE, moves=EPISODE.moves + "w"), f"move {len(EPISODE.moves) + 1} is illegal"),
        (signed(EPISODE, moves=EPISODE.moves[:9] + "q" + EPISODE.moves[10:]), "move 10 is 'q'"),
        (signed(EPISODE, moves="é" * 50), "move 1 is"),
        (signed(EPISODE, score=10**4000), "..."),
        (changed(EPISODE, movers=[[2, "human"]]), "checksum"),
        (changed(EPISODE, movers=None), "movers"),
        (changed(EPISODE, movers=[[2]]), "movers has"),
        (changed(EPISODE, movers=[[True, "human"]]), "movers has"),
        (signed(EPISODE, movers=((1, "human"),)), "movers has"),
        (signed(EPISODE, movers=((2, EPISODE.player),)), "movers has"),
        (signed(EPISODE, movers=((3, "human"), (3, "first"))), "movers has"),
        (signed(EPISODE, movers=((len(EPISODE.moves) + 1, "human"),)), "movers has"),
        (signed(EPISODE, movers=((2, "\x1b[2J"),)), "player"),
        (signed(EPISODE, player=""), "player"),
        (signed(EPISODE, player="\x1b[2J"), "player"),
        (signed(EPISODE, player="\ud800"), "half a character"),
        (signed(EPISODE, player="x" * 1001), "player"),
        (signed(EPISODE, seconds=-1.0), "seconds"),
        (signed(EPISODE, seconds=10**400), "too large"),
        (changed(EPISODE, seconds=float("inf")), "Infinity"),
        (changed(EPISODE, seconds=float("nan")), "NaN"),
        (line_of(EPISODE).replace(b'"seconds": 0.25', b'"seconds": 1e999'), "1e999 is too large"),
        (changed(EPISODE, provenance=[]), "provenance"),
        (changed(EPISODE, provenance={"command": "x" * 10_000}), "provenance"),
        (line_of(EPISODE, {"x": 5}).replace(b'{"x": 5}', b'{"x": 1e999}'), "1e999 is too large"),
        (line_of(EPISODE, nested(21)), "nested at most 20 deep"),
        (line_of(EPISODE, nested(900)), "nested too deeply"),
    ],
)
def test_a_bad_line_is_refused_with_a_reason(line, reason):
    with pytest.raises(FileError) as refused:
        read_line(line)
    message = str(refused.value)
    assert reason in message
    assert message.isprintable()
    assert len(message) < 400


def test_a_game_of_too_many_moves_is_refused(monkeypatch):
    monkeypatch.setattr("lab2048.records.episode.MAX_MOVES", 5)
    with pytest.raises(FileError, match="moves: expected at most 5"):
        read_line(line_of(EPISODE))


def test_a_game_of_the_most_moves_fits_a_line():
    assert len(signed(EPISODE, moves="w" * MAX_MOVES)) < exchange.MAX_LINE


def test_a_provenance_that_is_nested_too_deeply_costs_only_its_line(tmp_path):
    games = list(play_many(3).values())
    deep = line_of(games[1], {"x": 0}).replace(b'{"x": 0}', b'{"x":' * 975 + b"0" + b"}" * 975)
    found = Import(tmp_path / "games.sqlite", b"\n".join([line_of(games[0], nested(20)), deep, line_of(games[2])]))
    assert str(found.counts) == "imported 2, already present 0, rejected 1"
    assert list(found.refused) == [2]
    assert found.games == [games[0], games[2]]


def test_the_provenance_of_any_command_can_be_imported(monkeypatch):
    monkeypatch.setattr("sys.argv", ["lab2048", "\N{GAME DIE}" * 5000])
    assert read_line(line_of(EPISODE, provenance()))[0] == EPISODE


def test_a_line_without_provenance_is_accepted():
    assert read_line(json.dumps(EPISODE.to_json()).encode()) == (EPISODE, {})


class Import:
    """An import of some bytes into a store, and all that it said."""

    def __init__(self, path: Path, content: bytes) -> None:
        self.counts, self.refused = ImportCounts(), dict[int, str]()
        with Store.open(path) as store:
            import_lines(store, io.BytesIO(content), self.counts, refuse=self.refused.__setitem__)
            self.games = [store.get(id_).episode for id_ in store.ids()]


def test_bad_lines_are_named_and_the_rest_is_imported(tmp_path):
    games = list(play_many(5).values())
    lines = [line_of(game) for game in games]
    content = (
        b"\xef\xbb\xbf"
        + lines[0]
        + b"\r\n\n"
        + lines[1][:50]
        + b"\n"
        + lines[2]
        + b"\n\xff\n"
        + lines[3]
        + b"\n"
        + lines[0]
    )
    found = Import(tmp_path / "games.sqlite", content)
    assert str(found.counts) == "imported 3, already present 1, rejected 2"
    assert sorted(found.refused) == [3, 5]
    assert found.games == [games[0], games[2], games[3]]


@pytest.mark.parametrize("bad", [b"hello", b"\xff\xfe", b"x" * 20_000, b"\xff" * 20_000])
def test_a_bad_first_line_costs_only_itself(tmp_path, bad):
    games = list(play_many(2).values())
    found = Import(tmp_path / "games.sqlite", b"\n".join([bad, *map(line_of, games)]))
    assert found.games == games
    assert list(found.refused) == [1]


def test_a_line_that_is_too_long_costs_only_itself(tmp_path, monkeypatch):
    monkeypatch.setattr(exchange, "MAX_LINE", 2000)
    games = [play("2x2", seed) for seed in range(3)]
    endless = b"x" * 7000
    content = line_of(games[0]) + b"\n" + endless + b"\n" + line_of(games[1]) + b"\n" + endless
    found = Import(tmp_path / "games.sqlite", content)
    assert str(found.counts) == "imported 2, already present 0, rejected 2"
    assert found.refused == {2: "longer than 2000 bytes", 4: "longer than 2000 bytes"}


def test_an_import_is_kept_batch_by_batch(tmp_path, monkeypatch):
    monkeypatch.setattr(exchange, "_BATCH_GAMES", 2)
    games = list(play_many(5).values())

    class Cut(io.BytesIO):
        def peek(self, _: int) -> bytes:
            return self.getvalue()

        def readline(self, size: int | None = -1, /) -> bytes:
            line = super().readline(size)
            if not line:
                raise KeyboardInterrupt
            return line

    counts, batches = ImportCounts(), list[int]()
    with Store.open(tmp_path / "games.sqlite") as store:
        with pytest.raises(KeyboardInterrupt):
            import_lines(
                store,
                Cut(b"\n".join(map(line_of, games))),
                counts,
                refuse={}.__setitem__,
                progress=lambda: batches.append(counts.imported),
            )
        assert counts.imported == 4
        assert batches == [2, 4]
        assert [store.get(id_).episode for id_ in store.ids()] == games[:4]


def test_games_of_one_origin_share_a_run(tmp_path):
    content = b"\n".join(line_of(game) for game in [*play_many(3).values(), play("hex1", 1)])
    content += b"\n" + line_of(play("3x3", 9), {"program": "another"})
    Import(tmp_path / "games.sqlite", content)
    with Store.open(tmp_path / "games.sqlite") as store:
        assert [len(store.summaries_of(run)) for run in (1, 2, 3)] == [3, 1, 1]


@settings(max_examples=60, deadline=None)
@given(st.binary(max_size=400))
def test_no_bytes_bring_the_import_down(tmp_path_factory, content):
    found = Import(tmp_path_factory.mktemp("store") / "games.sqlite", content)
    assert found.counts.imported <= content.count(b"\n") + 1  # a few letters may be a short replay of 2048league
    assert found.counts.refused == len(found.refused)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(sorted(EPISODE.to_json())), JSON)
def test_no_value_of_a_field_brings_the_import_down(name, value):
    try:
        episode, _ = read_line(changed(EPISODE, **{name: value}))
    except FileError:
        return
    assert replace(episode, seconds=0.25) == EPISODE

"""Matches: the same games for any number of workers, resumed without loss, honest statistics."""

import math
import threading
from collections.abc import Iterable
from pathlib import Path
from typing import NoReturn

import pytest

from lab2048.arena.batch import Played
from lab2048.arena.executor.local import Pool
from lab2048.arena.match import Match
from lab2048.arena.match_record import MatchRecorder
from lab2048.errors import PlayerError, StoreError, UsageError
from lab2048.library.match import MatchRunner
from lab2048.players import load_player_file
from lab2048.records.episode import Episode
from lab2048.records.store import Store
from lab2048.rules import Rules, reference


def played(specs: list[str], *, rules: str = "4x4", n: int = 30, workers: int = 1) -> Match:
    match = Match(Rules.from_text(rules), specs, seed=5, n_games=n)
    with Pool(workers) as pool:
        for _ in match.play(pool):
            pass
    return match


def games_of(match: Match) -> dict[str, list[tuple[int, int, int]]]:
    return {
        player: [(n, game.score, game.n_moves) for n, game in sorted(player_result.games.items())]
        for player, player_result in match.results.items()
    }


@pytest.mark.parametrize("rules", ["4x4", "hex1"])
def test_the_number_of_workers_changes_nothing(rules: str) -> None:
    one = played(["random", "first"], rules=rules)
    assert games_of(one) == games_of(played(["random", "first"], rules=rules, workers=3))
    assert all(len(player_result.games) == 30 for player_result in one.results.values())


def test_players_in_python_play_the_same_here_and_in_processes(hug: Path) -> None:
    load_player_file(hug)
    one = played(["hug", "random"], rules="3x3", n=6)
    assert games_of(one) == games_of(played(["hug", "random"], rules="3x3", n=6, workers=2))


def test_players_meet_the_same_dice() -> None:
    starts: dict[str, list[Episode]] = {"random": [], "first": []}
    match = Match(Rules.from_text("4x4"), ["random", "first"], seed=5, n_games=10)
    with Pool(1) as pool:
        for piece in match.play(pool):
            starts[piece.player] += piece.episodes.values()
    for a, b in zip(starts["random"], starts["first"], strict=True):
        assert a.seed == b.seed
        assert a.prove().first_board == b.prove().first_board


@pytest.mark.parametrize("spawner", ["fair", "first", "worst"])
@pytest.mark.parametrize("rules", ["3x3", "hex1", "2 4 # / # 8 #"])
def test_tile_sums_are_those_of_the_last_boards(tmp_path: Path, hug: Path, rules: str, spawner: str) -> None:
    load_player_file(hug)
    the_rules = Rules.from_text(rules, spawner=spawner, spawn="2:0.7,4:0.2,8:0.1")
    match = Match(the_rules, ["random", "hug"], seed=3, n_games=4)
    expected: dict[str, dict[int, int]] = {"random": {}, "hug": {}}
    with Store.open(tmp_path / "store.sqlite") as store, Pool(1) as pool:
        recorder = MatchRecorder(store, match)
        for piece in match.play(pool):
            recorder.keep(piece)
            for number, episode in piece.episodes.items():
                expected[piece.player][number] = sum(episode.prove().board.tiles)
        recorder.flush()
        resumed = Match(the_rules, ["random", "hug"], seed=3, n_games=4)
        assert dict(MatchRecorder(store, resumed).resume()) == {"random": 4, "hug": 4}
    for player, sums in expected.items():
        assert match.results[player].tile_sums == resumed.results[player].tile_sums == sums
    assert match.results["random"].mean_tile_sum == sum(expected["random"].values()) / 4


def test_a_game_is_stored_although_no_other_game_ends(tmp_path: Path) -> None:
    match = Match(Rules.from_text("3x3"), ["random"], seed=3, n_games=4)
    path, told = tmp_path / "store.sqlite", threading.Event()
    n_stored: list[int] = []

    def on_kept(_: Played) -> None:
        with Store.open(path, create=False) as other:  # as another program sees it
            n_stored.append(len(other.ids()))
        told.set()

    with Store.open(path) as store, Pool(1) as pool:
        recorder = MatchRecorder(store, match, on_kept=on_kept)
        games = match.play(pool)
        recorder.keep(next(games))
        assert told.wait(240)
        assert n_stored == [1]
        told.clear()
        recorder.keep(next(games))
        assert told.wait(240)
        assert n_stored == [1, 2]
        recorder.flush()


def test_games_are_told_after_they_are_stored(own_store: Path) -> None:
    match = Match(Rules.from_text("3x3"), ["random", "first"], seed=3, n_games=30)
    n_told = 0

    def on_games(_: str, numbers: Iterable[int], __: float) -> None:
        nonlocal n_told
        n_told += len(list(numbers))
        assert sum(len(result.games) for result in match.results.values()) == n_told
        with Store.open(own_store, create=False) as other:
            assert len(other.ids()) >= n_told

    with MatchRunner(match, 2, store=True, on_games=on_games) as runner:
        assert runner.play().is_complete
    assert n_told == 60


def test_a_match_ends_when_its_games_cannot_be_stored(own_store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> NoReturn:
        raise StoreError("the disk is full")

    monkeypatch.setattr(Store, "keep", fail)
    match = Match(Rules.from_text("3x3"), ["random"], seed=3, n_games=1_000_000)
    with MatchRunner(match, 2, store=True) as runner, pytest.raises(StoreError, match="the disk is full"):
        runner.play()
    assert not match.results["random"].games


def test_every_episode_keeps_the_score_identity() -> None:
    for rules in ("4x4", "3x3", "hex1", "##x|###|###"):
        match = Match(Rules.from_text(rules), ["random"], seed=1, n_games=20)
        with Pool(1) as pool:
            for piece in match.play(pool):
                for episode in piece.episodes.values():
                    game = episode.prove()
                    spawned = [rank for _, rank in game.first_spawns] + [turn.spawn[1] for turn in game.turns]
                    n_fours = spawned.count(2)
                    assert episode.score == reference.potential(game.board.ranks) - 4 * n_fours


def test_random_play_averages_what_is_known() -> None:
    """About 1,080 to 1,110 on the classic board; a wrong DOWN gives about 2,200."""
    match = played(["random"], n=10_000, workers=2)
    mean = match.to_json()["players"][0]["mean_score"]
    assert 1080 < mean < 1110


def test_json_says_what_was_measured() -> None:
    match = played(["random", "first"], n=20)
    data = match.to_json()
    assert data["schema"] == "lab2048/match-1"
    for player in data["players"]:
        low, high = player["mean_score_ci95"]
        assert low < player["mean_score"] < high
        assert player["games"] == 20
        assert player["reached"]["2048"]["rate"] == 0
        rates = [entry["rate"] for entry in player["reached"].values()]
        assert rates == sorted(rates, reverse=True)
        assert player["moves_per_second"] > 0
        assert player["seconds_to_goal"] is None
    [pair] = data["paired"]
    assert pair["games"] == 20
    assert pair["mean_difference"] == pytest.approx(data["players"][0]["mean_score"] - data["players"][1]["mean_score"])


def test_winning_is_counted_against_the_goal() -> None:
    match = Match(Rules.from_text("4x4", goal=16), ["random"], seed=1, n_games=50)
    with Pool(1) as pool:
        for _ in match.play(pool):
            pass
    data = match.to_json()["players"][0]
    assert data["won"] == 50
    assert 0 < data["seconds_to_goal"] < data["seconds_per_game"]


def test_one_game_has_no_interval() -> None:
    match = played(["random"], n=1)
    assert match.to_json()["players"][0]["mean_score_ci95"] == [None, None]
    assert math.isfinite(match.to_json()["players"][0]["mean_score"])


def test_a_player_is_named_once() -> None:
    with pytest.raises(UsageError, match="each player once"):
        Match(Rules.from_text("4x4"), ["random", "random"], seed=1, n_games=1)


def test_an_illegal_move_is_reported_with_its_player(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lab2048.players.registry._registered", {})
    path = tmp_path / "stuck.py"
    path.write_text(
        "from lab2048.players import *\n"
        "class Stuck(Player):\n"
        "    def choose(self, board): return Decision(3, dict.fromkeys(board.legal_moves(), 0.0))\n"
        "register('stuck', Stuck)\n"
    )
    load_player_file(path)
    for workers in (1, 2):
        with pytest.raises(PlayerError, match="player stuck chose an illegal move"):
            played(["stuck"], n=3, workers=workers)


@pytest.mark.parametrize(
    ("code", "says"),
    [
        ("return board.no_such_thing", r"player wrong fails: .*wrong.py, line 3: AttributeError"),
        ("return 0", r"player wrong chose 0: expected a Decision"),
        ("return Decision(board.legal_moves()[0], {})", r"player wrong valued the moves \[\]: expected the legal ones"),
    ],
)
def test_what_is_wrong_with_a_player_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: str, says: str
) -> None:
    monkeypatch.setattr("lab2048.players.registry._registered", {})
    path = tmp_path / "wrong.py"
    path.write_text(
        "from lab2048.players import *\n"
        f"class Wrong(Player):\n    def choose(self, board): {code}\n"
        "register('wrong', Wrong)\n"
    )
    load_player_file(path)
    with pytest.raises(PlayerError, match=says):
        played(["wrong"], n=1)

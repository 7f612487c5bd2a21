"""The screens of `lab2048 tui`, without a terminal: what they show, and what the keys do."""

import re
import threading
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import pytest
from played import play
from textual.pilot import Pilot
from textual.widgets import Input, Static
from tui_scene import Run, press, run_scene, screen_of
from tui_shots import FOLDER, SHOTS, take, text_of, until

from lab2048.arena.episode import play_episode
from lab2048.arena.player_service import AskedPlayer
from lab2048.errors import FileError, StoreError
from lab2048.players import Decision, canonical_spec, make_player
from lab2048.records.store import Store
from lab2048.rules import Board, Rules
from lab2048.views.tui.app import LabApp
from lab2048.views.tui.screens.base import Choices
from lab2048.views.tui.screens.games import GamesScreen
from lab2048.views.tui.screens.menu import MenuScreen
from lab2048.views.tui.screens.play import PlayScreen
from lab2048.views.tui.screens.replay import ReplayScreen


@pytest.mark.parametrize("name", SHOTS)
def test_screens_look_as_they_did(name: str) -> None:
    assert take(name) == (FOLDER / f"{name}.txt").read_text(), "script/goldens writes them anew"


def test_the_docs_show_what_is_there() -> None:
    page = (Path(__file__).parents[3] / "docs" / "terminal.md").read_text()
    assert (FOLDER / "play-values.txt").read_text() in page


@pytest.mark.parametrize("name", [name for name in SHOTS if SHOTS[name].is_ascii])
def test_ascii_is_ascii(name: str) -> None:
    assert (FOLDER / f"{name}.txt").read_text().isascii()


@pytest.fixture
def run(own_store: Path) -> Run:
    """Plays a scene in a store of its own."""
    return partial(run_scene, own_store)


# --- playing -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("board", "keys", "moves"),
    [
        ("4x4", ["up", "left", "down", "right"], "wasd"),
        ("4x4", "wasd", "wasd"),
        ("4x4", "khjl", "wasd"),
        ("hex2", "wedsaq", "wedsaq"),
        ("hex2", ["up", "right", "down", "left"], "wdsa"),
    ],
)
def test_all_ways_to_move(run: Run, own_store: Path, board: str, keys: Sequence[str], moves: str) -> None:
    async def scene(app: LabApp, pilot: Pilot[None]) -> None:
        await press(pilot, keys)
        assert screen_of(app).session.game.moves_text() == moves

    run(scene, board)
    with Store.open(own_store) as store:
        (entry,) = store.entries()
        assert store.get(entry.id).episode.moves == moves


def test_undo_redo_and_a_new_game(run: Run) -> None:
    async def scene(app: LabApp, pilot: Pilot[None]) -> None:
        screen = screen_of(app)
        await press(pilot, "wasdu")
        assert screen.session.game.moves_text() == "was"
        await press(pilot, ["y", "u", "ctrl+r", "backspace", "r"])
        assert screen.session.game.moves_text() == "wasd"
        await press(pilot, "n")
        assert screen.session.game.moves_text() == ""
        assert "u goes back" in screen.message
        await press(pilot, "u")
        assert screen.session.game.moves_text() == "wasd"
        await press(pilot, "uuuuu")
        assert screen.message == "nothing to undo"

    run(scene, "4x4")


def test_an_illegal_move_says_so_and_changes_nothing(run: Run) -> None:
    async def scene(app: LabApp, pilot: Pilot[None]) -> None:
        await press(pilot, "a")
        assert screen_of(app).message == "left is not a legal move"

    run(scene, "2 # # # / 4 # # #")


def test_keys_are_never_lost_to_motion(run: Run) -> None:
    async def scene(app: LabApp, pilot: Pilot[None]) -> None:
        await pilot.press(*"wasd" * 5)
        assert screen_of(app).session.game.moves_text() == "wasd" * 5
        board = screen_of(app).query_one("BoardView")
        await until(pilot, lambda: board.board is screen_of(app).session.game.board)  # type: ignore[attr-defined]

    run(scene, "4x4", has_motion=True)


def test_a_player_plays_on_and_you_take_over(run: Run, own_store: Path) -> None:
    async def scene(app: LabApp, pilot: Pilot[None]) -> None:
        screen = screen_of(app)
        await press(pilot, ["w", "minus", "enter"])
        await until(pilot, lambda: len(screen.session.game.turns) > 2)
        n = len(screen.session.game.turns)
        for key in "wasd":
            await press(pilot, key)
        assert not screen.is_auto
        assert len(screen.session.game.turns) > n
        await press(pilot, ["space"])

    run(scene, "4x4")
    with Store.open(own_store) as store:
        (entry,) = store.entries()
    assert entry.player == "human"
    assert [name for _, name in entry.movers][:2] == ["random", "human"]


def test_a_game_that_is_over_can_be_taken_back(run: Run) -> None:
    async def scene(app: LabApp, pilot: Pilot[None]) -> None:
        screen = screen_of(app)
        screen.speed = 0
        await press(pilot, ["enter"])
        await until(pilot, lambda: screen.session.game.is_over and not screen.is_auto)
        for keys in (["plus"], ["a"], ["t"], ["space"], ["enter"]):  # whatever else is said, this is
            await press(pilot, keys)
            assert re.search(r"game over: u undoes a move, n starts a new game", text_of(app))
            assert re.search(r"now +game over", text_of(app))
        await press(pilot, "u")
        assert not screen.session.game.is_over
        assert re.search(r"now +you play", text_of(app))

    run(scene, "2x2")


def test_another_player_in_the_middle_of_a_game(run: Run, own_store: Path) -> None:
    async def scene(app: LabApp, pilot: Pilot[None]) -> None:
        screen = screen_of(app)
        await press(pilot, ["space"])
        await until(pilot, lambda: screen.session.game.turns)
        await press(pilot, ["p", *"first:order=ws", "enter"])
        await until(pilot, lambda: screen.adviser.spec == "first:order=ws")
        await press(pilot, ["space"])
        await until(pilot, lambda: len(screen.session.game.turns) == 2)

    run(scene, "4x4")
    with Store.open(own_store) as store:
        (entry,) = store.entries()
    assert (entry.player, entry.movers) == ("random", ((2, "first:order=ws"),))


def test_a_player_that_fails_says_so_and_the_game_goes_on(run: Run) -> None:
    async def scene(app: LabApp, pilot: Pilot[None]) -> None:
        screen = screen_of(app)
        await press(pilot, ["enter"])
        await until(pilot, lambda: "no-such-table" in screen.message)
        await press(pilot, "wasd")
        assert len(screen.session.game.turns) == 4

    run(scene, "4x4", player="optimal:table=no-such-table")


def test_a_store_that_fails_does_not_end_the_game(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise StoreError("the disk is full")

    monkeypatch.setattr(Store, "add", fail)

    async def scene(app: LabApp, pilot: Pilot[None]) -> None:
        await press(pilot, "wasd")
        assert "not saved yet: the disk is full" in text_of(app)

    app = run(scene, "4x4")
    assert [episode.moves for episode in app.unsaved] == ["wasd"]


def test_the_board_follows_the_size(run: Run) -> None:
    async def scene(app: LabApp, pilot: Pilot[None]) -> None:
        board = screen_of(app).query_one("BoardView")
        for size, columns in (((80, 24), 10), ((60, 16), 7), ((30, 8), 5), ((120, 50), 18), ((160, 50), 22)):
            await pilot.resize_terminal(*size)
            await until(pilot, lambda wanted=columns: board.picture and board.picture.density.columns == wanted)  # type: ignore[attr-defined,misc]
        await pilot.resize_terminal(15, 4)
        await until(pilot, lambda: board.picture is None)  # type: ignore[attr-defined]
        assert re.search(r"needs \d+x\d+|too small", text_of(app))

    run(scene, "4x4")


def test_a_hint_says_that_it_is_worked_out_and_keys_go_on(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    is_known, choose = threading.Event(), AskedPlayer.choose

    def think(self: AskedPlayer, board: Board) -> Decision:
        is_known.wait()
        return choose(self, board)

    monkeypatch.setattr(AskedPlayer, "choose", think)

    async def scene(app: LabApp, pilot: Pilot[None]) -> None:
        await press(pilot, "t")
        await until(pilot, lambda: "asking first ..." in text_of(app))
        await press(pilot, "wasd")
        assert screen_of(app).session.game.moves_text() == "wasd"
        assert "asking first ..." in text_of(app)
        is_known.set()
        await until(pilot, lambda: re.search(r"\w by first\b", text_of(app)))
        assert "asking" not in text_of(app)

    run(scene, "4x4", player="first")


def test_whoever_waits_for_a_player_is_told_for_what_after_every_move(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    may_go_on = threading.Event()

    def prepare(say: Callable[[str], None], *_: str, begun: object) -> None:
        say("another lab2048 is compiling")
        may_go_on.wait()

    monkeypatch.setattr("lab2048.arena.compile.prepare", prepare)

    async def scene(app: LabApp, pilot: Pilot[None]) -> None:
        await press(pilot, "t")
        for key in "wasd":
            await until(pilot, lambda: "another lab2048 is compiling" in text_of(app))
            await press(pilot, key)
        await until(pilot, lambda: "another lab2048 is compiling" in text_of(app))
        may_go_on.set()
        await until(pilot, lambda: re.search(r"\w by first\b", text_of(app)))
        await until(pilot, lambda: "another" not in text_of(app))
        assert screen_of(app).session.game.moves_text() == "wasd"

    run(scene, "4x4", player="first")


def test_why_a_player_failed_outlives_what_was_made_ready_for_it(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    is_seen = threading.Event()

    def prepare(say: Callable[[str], None], *_: str, begun: object) -> None:
        say("compiling")
        is_seen.wait()
        raise FileError("the disk is full")

    monkeypatch.setattr("lab2048.arena.compile.prepare", prepare)

    async def scene(app: LabApp, pilot: Pilot[None]) -> None:
        await press(pilot, "t")
        await until(pilot, lambda: screen_of(app).message == "compiling")
        is_seen.set()
        await until(pilot, lambda: "the disk is full" in screen_of(app).message)
        await pilot.pause(0.2)
        assert "the disk is full" in screen_of(app).message

    run(scene, "4x4", player="first")


def test_values_stay_when_the_player_stops(run: Run) -> None:
    async def scene(app: LabApp, pilot: Pilot[None]) -> None:
        screen = screen_of(app)
        await press(pilot, ["t", "enter"])
        await until(pilot, lambda: len(screen.session.game.turns) > 1)
        await press(pilot, ["enter"])
        await until(pilot, lambda: not screen.is_auto and re.search(r"\w by first\b", text_of(app)))
        n_turns = len(screen.session.game.turns)
        await press(pilot, "u")  # what the values belong to is still there to be undone
        assert len(screen.session.game.turns) == n_turns - 1

    run(scene, "4x4", player="first")


def test_your_best_is_of_the_games_that_you_played_alone(run: Run, own_store: Path) -> None:
    with Store.open(own_store) as store:
        for player, seed in (("human", 4), ("random", 1)):
            number = store.begin_run("play", Rules.from_text("3x3"), player, seed)
            store.keep(number, {0: play("3x3", seed=seed, player=player, max_moves=8 if player == "human" else 99)})
        entries = {entry.player: entry.score for entry in store.entries()}
    assert 0 < entries["human"] < entries["random"]

    async def scene(app: LabApp, pilot: Pilot[None]) -> None:
        assert re.search(rf"your best +{entries['human']}\n", text_of(app))
        screen_of(app).speed = 0
        await press(pilot, ["enter"])
        await until(pilot, lambda: screen_of(app).session.game.is_over)
        assert re.search(rf"your best +{entries['human']}\n", text_of(app))  # it was the player's game
        await press(pilot, ["n", *"sdsdsdsdawaw" * 20])
        mine = screen_of(app).session.game.score
        assert mine > entries["human"]
        assert re.search(rf"your best +{mine}\n", text_of(app))
        await press(pilot, ["escape", "g", "k", "b"])
        ids = [option.id for option in app.screen.query_one(Choices).options]
        assert len(ids) == 2
        assert all(app.store.get(int(id_ or 0)).episode.player == "human" for id_ in ids)
        assert "yours: every move by you, best first" in text_of(app)
        await press(pilot, "k")
        assert "played or watched, by anyone" in text_of(app)
        assert app.screen.query_one(Choices).option_count == 4

    run(scene, "3x3")


# --- games ---------------------------------------------------------------------------


def test_a_game_is_gone_on_with_where_it_ended(run: Run, own_store: Path) -> None:
    with Store.open(own_store) as store:
        number = store.begin_run("play", Rules.from_text("3x3"), "human", 1)
        store.keep(number, {0: (before := play("3x3", seed=1, player="human", max_moves=5))})

    async def scene(app: LabApp, pilot: Pilot[None]) -> None:
        await press(pilot, "gc")
        assert screen_of(app).session.game.moves_text() == before.moves
        await press(pilot, ["escape"])
        assert isinstance(app.screen, GamesScreen)

    run(scene)


def test_the_replay_says_why_a_shield_moved(run: Run, own_store: Path) -> None:
    with Store.open(own_store) as store:
        spec = canonical_spec("shield:warm_up=0")
        number = store.begin_run("match", Rules.from_text("3x3"), spec, 1)
        episode = play_episode(make_player(spec), spec, Rules.from_text("3x3"), 5)
        store.keep(number, {0: episode})

    async def scene(app: LabApp, pilot: Pilot[None]) -> None:
        await press(pilot, "g")
        await press(pilot, ["enter"])
        replay = app.screen
        assert isinstance(replay, ReplayScreen)
        await until(pilot, lambda: replay.turns)
        note = replay.query_one("#note", Static)
        await press(pilot, ["right", "right", "right"])
        await until(pilot, lambda: "Safe: " in str(note.content))
        await press(pilot, ["home"])
        assert str(note.content) == ""
        await press(pilot, ["escape"])

    run(scene)


def test_a_game_that_is_watched_says_why_a_shield_moved(run: Run) -> None:
    async def scene(app: LabApp, pilot: Pilot[None]) -> None:
        await press(pilot, "w")
        app.screen.query_one("#field-player", Input).value = "shield:warm_up=0"
        app.screen.query_one("#field-board", Input).value = "3x3"
        app.screen.query_one("#field-goal", Input).value = "16"
        app.screen.query_one("#field-stop", Input).value = "yes"
        app.screen.query_one("#field-speed", Input).value = "100"
        await press(pilot, ["enter"])
        screen = app.screen
        assert isinstance(screen, PlayScreen)
        await until(pilot, lambda: screen.session.game.is_over and not screen.is_auto)
        assert screen.session.game.board.max_tile == 16
        note = screen.query_one("#note", Static)
        await until(pilot, lambda: "Safe: " in str(note.content))
        last = str(note.content)
        await press(pilot, ["u"])
        await until(pilot, lambda: str(note.content) not in ("", last))
        screen.new_game()
        await until(pilot, lambda: str(note.content) == "")

    run(scene)


def test_a_game_of_before_is_replayed_and_gone_on_with(run: Run, own_store: Path) -> None:
    with Store.open(own_store) as store:
        number = store.begin_run("match", Rules.from_text("3x3"), "random", 1)
        store.keep(number, {0: (before := play("3x3", seed=1))})

    async def scene(app: LabApp, pilot: Pilot[None]) -> None:
        await press(pilot, "g")
        assert isinstance(app.screen, GamesScreen)
        await press(pilot, ["enter"])
        replay = app.screen
        assert isinstance(replay, ReplayScreen)
        await until(pilot, lambda: replay.turns)
        await press(pilot, ["right", "right", "pagedown", "left"])
        assert replay.at == 11
        await press(pilot, ["space"])
        await until(pilot, lambda: replay.at == replay.n_moves)
        await press(pilot, ["home", *["right"] * 5, "c"])
        session = screen_of(app).session
        assert session.game.moves_text() == before.moves[:5]
        await press(pilot, ["space"])
        await until(pilot, lambda: len(session.game.turns) == 6)
        await press(pilot, ["escape"])

    run(scene)
    with Store.open(own_store) as store:
        new, old = store.entries()
        assert store.get(old.id).episode == before
        assert (new.kind, new.player, new.movers) == ("play", "random", ((6, "expectimax"),))


# --- the menu ------------------------------------------------------------------------


def test_the_menu_is_at_the_bottom(run: Run) -> None:
    async def scene(app: LabApp, pilot: Pilot[None]) -> None:
        await press(pilot, ["escape", "escape", "question_mark", "escape", "w", "escape"])
        assert isinstance(app.screen, MenuScreen)

    run(scene)

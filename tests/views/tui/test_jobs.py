"""What the forms of `lab2048 tui` begin: games by any rules, and jobs that run beside the screen."""

import shlex
from functools import partial
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import Input
from tui_scene import Run, fill, press, run_scene, screen_of
from tui_shots import text_of, until

from lab2048.cli.app import run as run_command
from lab2048.jobs.progress import SolveProgress
from lab2048.players import load_player_file
from lab2048.records.store import Store
from lab2048.rules import Spawner
from lab2048.views.tui.app import LabApp
from lab2048.views.tui.screens.form import FormScreen
from lab2048.views.tui.screens.job import JobScreen
from lab2048.views.tui.screens.replay import ReplayScreen


@pytest.fixture
def run(own_store: Path) -> Run:
    """Plays a scene in a store of its own."""
    return partial(run_scene, own_store)


# --- games by any rules --------------------------------------------------------------


def test_a_game_by_any_rules_is_begun_kept_and_replayed(run: Run, own_store: Path) -> None:
    async def scene(app: LabApp, pilot: Pilot[None]) -> None:
        await press(pilot, "p")
        fill(app, board="##x|###|#4#", goal="64", spawn="2:0.5,4:0.5", start="1", spawner="worst", seed="5")
        words = "play --rules '##x|###|#4#' --goal 64 --spawn 2:0.5,4:0.5 --start 1 --spawner worst --seed 5"
        assert app.screen.words == shlex.split(words)  # type: ignore[attr-defined]
        await press(pilot, ["enter"])
        assert "2048 on ##x|###|#4#, spawn 2:0.5,4:0.5, 1 first tile, worst spawner" in text_of(app)
        await press(pilot, "wasdwasd")
        assert screen_of(app).session.game.turns
        await press(pilot, ["escape", "g", "enter"])
        replay = app.screen
        assert isinstance(replay, ReplayScreen)
        await until(pilot, lambda: replay.message.startswith("verified"))

    run(scene)
    with Store.open(own_store) as store:
        (entry,) = store.entries()
        rules = store.get(entry.id).episode.rules
    assert (rules.spawner, rules.spawn_table, rules.n_start) == (Spawner.WORST, ((1, 0.5), (2, 0.5)), 1)
    assert rules.goal == 64
    assert run_command(["games", "replay", str(entry.id), "--store", str(own_store)]) == 0


@pytest.mark.parametrize(
    ("field", "value", "says"),
    [
        ("spawn", "3:1", "spawn '3:1': 3 is not a tile"),
        ("spawner", "wrst", "did you mean worst?"),
        ("start", "many", "start 'many' is not a number: expected digits"),
        ("start", "17", "start 17 is out of range: expected 0 to 16"),
        ("goal", "7", "goal 7 is not a tile"),
    ],
)
def test_what_no_game_could_be_played_by_is_refused_in_words(run: Run, field: str, value: str, says: str) -> None:
    async def scene(app: LabApp, pilot: Pilot[None]) -> None:
        for key in "pwmt":
            await press(pilot, key)
            fill(app, **{field: value})
            await press(pilot, ["enter"])
            assert isinstance(app.screen, FormScreen)
            assert says in app.screen.message
            await press(pilot, ["escape"])

    run(scene)


def test_what_was_said_at_the_start_stands_in_the_forms(run: Run, tmp_path: Path) -> None:
    async def scene(app: LabApp, pilot: Pilot[None]) -> None:
        for key, command in (("p", "play"), ("w", "watch"), ("m", "match greedy expectimax"), ("t", "train ntuple")):
            await press(pilot, key)
            assert isinstance(app.screen, FormScreen)
            words = shlex.join(app.screen.words)
            assert words.startswith(f"{command} --rules 3x3")
            assert "--spawn 2:1" in words
            assert ("--store games" in words) == (key != "t")
            await press(pilot, ["escape"])
        await press(pilot, "s")
        assert app.screen.query_one("#field-board", Input).value == "2x3"  # another question

    run(scene, defaults={"board": "3x3", "spawn": "2:1"}, store_file=Path("games"))


# --- jobs ----------------------------------------------------------------------------


def test_a_match_runs_beside_the_screen(run: Run, own_store: Path) -> None:
    async def scene(app: LabApp, pilot: Pilot[None]) -> None:
        await press(pilot, "m")
        fill(app, players="random first", board="2x2", games="3", workers="1")
        await press(pilot, ["enter"])
        assert isinstance(app.screen, JobScreen)
        assert "$ lab2048 match random first --rules 2x2 --games 3 --seed 1 --workers 1" in text_of(app)
        await press(pilot, ["escape"])  # it goes on
        job = app.current_jobs["match"]
        await until(pilot, lambda: not job.is_active)
        assert (job.state, job.message) == ("done", "6 of 6 games")
        await press(pilot, "m")
        await until(pilot, lambda: "mean score" in text_of(app))
        await press(pilot, "n")
        assert isinstance(app.screen, FormScreen)

    run(scene)
    with Store.open(own_store) as store:
        assert len(store.entries(kind="match")) == 6


def test_what_stands_in_a_field_is_replaced_by_what_is_typed(run: Run) -> None:
    async def scene(app: LabApp, pilot: Pilot[None]) -> None:
        await press(pilot, ["m", *"random", "tab", *"2x2", "down", "down", "up", "end", "8"])
        assert isinstance(app.screen, FormScreen)
        words = ["match", "random", "--rules", "2x2", "--goal", "8", "--games", "20", "--seed", "1"]
        assert app.screen.words == words

    run(scene)


def test_a_match_of_one_player_is_a_match(run: Run) -> None:
    async def scene(app: LabApp, pilot: Pilot[None]) -> None:
        await press(pilot, ["m", *"random"])
        fill(app, board="2x2", games="3", workers="1")
        await press(pilot, ["enter"])
        job = app.current_jobs["match"]
        await until(pilot, lambda: not job.is_active)
        assert job.state == "done"
        assert job.result is not None
        assert [player["games"] for player in job.result["players"]] == [3]

    run(scene)


def test_a_solve_ends_with_its_answer(run: Run) -> None:
    async def scene(app: LabApp, pilot: Pilot[None]) -> None:
        await press(pilot, "s")
        fill(app, board="2x2", goal="16")
        await press(pilot, ["enter"])
        await until(pilot, lambda: "reached with probability" in text_of(app))
        progress = app.jobs.progress_of(app.current_jobs["solve"])
        assert isinstance(progress, SolveProgress)
        assert progress.layers

    run(scene)


def test_a_job_is_stopped_when_one_leaves_and_keeps_what_it_has_done(run: Run, own_store: Path) -> None:
    async def scene(app: LabApp, pilot: Pilot[None]) -> None:
        await press(pilot, "m")
        fill(app, players="random", games="1000000")
        await press(pilot, ["enter"])
        await until(pilot, lambda: app.current_jobs["match"].progress)
        await press(pilot, "q")
        await until(pilot, lambda: not app.current_jobs["match"].is_active)

    app = run(scene)
    assert app.current_jobs["match"].state == "cancelled"
    with Store.open(own_store) as store:
        assert store.entries(kind="match", limit=1)


def test_a_job_that_fails_shows_why(run: Run, tmp_path: Path) -> None:
    async def scene(app: LabApp, pilot: Pilot[None]) -> None:
        await press(pilot, "t")
        fill(app, out=str(tmp_path / "nowhere" / "x.safetensors"))
        await press(pilot, ["enter"])
        await until(pilot, lambda: not app.current_jobs["train"].is_active)
        await until(pilot, lambda: "there is no folder" in text_of(app))

    app = run(scene)
    assert app.current_jobs["train"].state == "failed"
    assert "there is no folder" in app.current_jobs["train"].message


def test_a_match_with_a_player_of_ones_own(
    run: Run, hug: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    load_player_file(hug)

    async def scene(app: LabApp, pilot: Pilot[None]) -> None:
        await press(pilot, "m")
        fill(app, players="hug random", board="2x2", games="3", workers="1")
        assert app.screen.words[-2:] == ["--player-file", "hug.py"]  # type: ignore[attr-defined]
        await press(pilot, ["enter"])
        job = app.current_jobs["match"]
        await until(pilot, lambda: not job.is_active)
        assert (job.state, job.message) == ("done", "6 of 6 games")

    run(scene)

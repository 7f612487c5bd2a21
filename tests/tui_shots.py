"""What the screens of `lab2048 tui` show, as text: each shot is a few keys and the screen that they lead to.

script/goldens writes them anew, into tests/data/tui.
"""

import asyncio
import io
import json
import re
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from played import play
from rich.console import Console
from textual.pilot import Pilot

from lab2048.arena.session import Session
from lab2048.jobs.job import EVENTS, LOG, RUNNING, Job
from lab2048.records.store import Store
from lab2048.rules import Rules
from lab2048.views.tui.app import LabApp
from lab2048.views.tui.forms import COMMAND_FORMS
from lab2048.views.tui.palette import Depth
from lab2048.views.tui.screens.choose_player import ChooseScreen
from lab2048.views.tui.screens.job import JobScreen
from lab2048.views.tui.screens.play import PlayScreen
from lab2048.views.tui.screens.replay import ReplayScreen

FOLDER = Path(__file__).parent / "data" / "tui"
ALL_TILES = "2 4 8 16 / 32 64 128 256 / 512 1024 2048 4096 / 8192 16384 # x"
MOVES = tuple("wasd" * 6)


@dataclass(frozen=True)
class Shot:
    """A screen: where it begins, what is pressed, and what it waits for."""

    board: str = ""  # a game on it; empty: the menu
    keys: Sequence[str] = ()
    size: tuple[int, int] = (80, 24)
    depth: Depth = Depth.MANY
    is_ascii: bool = False
    player: str = "first"
    job: Callable[[Path], Job] | None = None
    until: Callable[[LabApp], bool] = lambda _: True


def _drawn(app: LabApp) -> Console:
    """A console that the screen was drawn on."""
    width, height = app.size
    console = Console(
        width=width, height=height, file=io.StringIO(), force_terminal=True, record=True, legacy_windows=False
    )
    console.print(app.screen._compositor.render_update(full=True))
    return console


def reversed_in(app: LabApp) -> list[str]:
    """Every piece of the screen that is shown in reverse."""
    codes = re.findall(r"\x1b\[([\d;]*)m([^\x1b]*)", _drawn(app).export_text(styles=True))
    return [text for code, text in codes if "7" in code.split(";")]


def text_of(app: LabApp) -> str:
    """The screen as lines of text; what differs from day to day is made the same."""
    text = _drawn(app).export_text()
    text = re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d", "2048-01-01 00:00", text)
    text = re.sub(r"(lab2048) \d+\.\d+\.\d+", r"\1 0.0.0", text)
    return "\n".join(line.rstrip() for line in text.splitlines()).rstrip() + "\n"


async def until(pilot: Pilot[None], is_there: Callable[[], Any]) -> None:
    """Go on when something is so; the time limit only keeps a broken program from hanging."""
    async with asyncio.timeout(240):
        while not is_there():
            await pilot.pause()
            await asyncio.sleep(0.01)  # not to wait for it, but to leave the processor to it
    await pilot.pause()


async def _take(shot: Shot, store: Store) -> str:
    first = None
    if shot.board:
        first = PlayScreen(Session(Rules.from_text(shot.board), 7, store), shot.player)
    app = LabApp(store, is_ascii=shot.is_ascii, depth=shot.depth, has_motion=False, first=first)
    async with app.run_test(size=shot.size) as pilot:
        await pilot.pause()
        if shot.job:
            job = shot.job(store.path.parent)
            app.current_jobs[job.kind] = job
            app.push_screen(JobScreen(next(form for form in COMMAND_FORMS if form.name == job.kind), job))
            await pilot.pause()
        for key in shot.keys:
            await pilot.press(key)
        await until(pilot, lambda: shot.until(app))
        return text_of(app)


def take(name: str) -> str:
    """The text of a shot, in a store with a few games."""
    with tempfile.TemporaryDirectory() as folder, Store.open(Path(folder) / "games.sqlite") as store:
        run = store.begin_run("match", Rules.from_text("3x3"), "random", 7)
        store.keep(run, {n: play("3x3", seed=n) for n in range(3)})
        run = store.begin_run("play", Rules.from_text("hex2"), "human", 1)
        store.keep(run, {0: play("hex2", seed=4, player="human", max_moves=40)})
        return asyncio.run(_take(SHOTS[name], store))


def _job(folder: Path, words: list[str], request: dict[str, Any], events: list[dict[str, Any]], log: str = "") -> Job:
    """A job that runs, by what its command has written so far."""
    job = Job(f"{words[0]}-1", words[0], "", words, [], request, "2048-01-01T00:00:00", state=RUNNING)
    job.folder = folder
    (folder / EVENTS).write_text("".join(f"{json.dumps(event)}\n" for event in events))
    (folder / LOG).write_text(log)
    return job


def _match(folder: Path) -> Job:
    rate = {"rate": 0.25, "ci95": [0.14, 0.40]}
    figures = {"mean_score": 1090.5, "mean_score_ci95": [1040.0, 1141.0], "median_score": 1064, "max_score": 3180}
    figures |= {"moves_per_second": 7.2e6, "games": 40}
    tiles = {str(2**n): rate for n in range(7, 12)}
    players = [{"player": name, "reached": tiles, **figures} for name in ("random", "expectimax:depth=3")]
    pair = {"players": [p["player"] for p in players], "games": 40, "mean_difference": -12.0, "games_to_decide": 900}
    paired = [pair | {"mean_difference_ci95": [-40.0, 16.0]}]
    event = {"event": "progress", "n_done": 60, "n_all": 80, "players": players, "paired": paired}
    words = ["match", "random", "expectimax:depth=3", "--games", "40"]
    rules = Rules.from_text("4x4").to_json()
    request = {"specs": ["random", "expectimax:depth=3"], "rules": rules, "seed": 1, "games": 40}
    return _job(folder, words, request, [event], "60 of 80 games\n")


def _train(folder: Path) -> Job:
    events = []
    for n in range(1, 60):
        rates = {"2048": n / 60, "4096": n / 200, "8192": 0.0}
        sums = {"seconds": 2.5 * n, "n_moves": 3_000_000 * n, "n_games": 4000 * n, "pace": 1.2e6, "n_last": 1000}
        events.append({"event": "progress", **sums, "mean": 40_000 * (1 - 0.95**n), "best": 90_000.0, "rates": rates,
                       "learning_rate": 0.1, "error": 120.0})  # fmt: skip
    words = ["train", "ntuple", "--minutes", "5", "--out", "my.safetensors"]
    return _job(folder, words, {"total_minutes": 5.0}, events)


def _solve(folder: Path) -> Job:
    events: list[dict[str, Any]] = []
    for n in range(1, 100):
        sums = {"states": n**3, "afterstates": 2 * n**3, "valued": 0, "seconds": n / 10, "bytes": n**4}
        facts = {"phase": "forward", "tile_sum": 2 * n, "n_layers": n, "n_all": 0, "line": f"forward, tile sum {2 * n}"}
        events.append({"event": "progress", **facts, **sums})
    line = "backward, tile sum 198: 970,299 states, layer 30 of 99"
    events.append(events[-1] | {"phase": "backward", "n_layers": 30, "n_all": 99, "valued": 500_000, "line": line})
    return _job(folder, ["solve", "3x3", "--goal", "256"], {}, events)


def _has_values(app: LabApp) -> bool:
    screen = app.screen
    return isinstance(screen, PlayScreen) and screen.decision is not None


def _is_proved(app: LabApp) -> bool:
    screen = app.screen
    return isinstance(screen, ReplayScreen) and screen.message.startswith("verified")


def is_loaded(app: LabApp) -> bool:
    """True if the list of players is there, and all that there is to say of them."""
    return isinstance(app.screen, ChooseScreen) and app.screen.is_loaded


SHOTS = {
    "menu": Shot(),
    "menu-keys": Shot(keys=["question_mark"]),
    "play": Shot("4x4", MOVES),
    "play-values": Shot("4x4", [*MOVES, "t"], player="lookahead:depth=2", depth=Depth.NONE, until=_has_values),
    "play-keys": Shot("4x4", ["question_mark"]),
    "play-large": Shot("5x5", MOVES, size=(120, 40)),
    "play-middle": Shot("4x4", MOVES, size=(50, 16)),
    "play-small": Shot("8x8", MOVES, size=(40, 12)),
    "play-too-small": Shot("8x8", size=(30, 10)),
    "play-tiles": Shot(ALL_TILES),
    "play-tiles-small": Shot(ALL_TILES, size=(30, 9)),
    "play-hexagons": Shot("hex2", tuple("qweasd" * 5)),
    "play-hexagons-large": Shot("hex1", tuple("qweasd"), size=(80, 30)),
    "play-bricks": Shot("####|#xx#|####", MOVES),
    "play-no-colour": Shot("4x4", MOVES, depth=Depth.NONE),
    "play-sixteen": Shot("4x4", MOVES, depth=Depth.SIXTEEN),
    "play-ascii": Shot("hex1", tuple("qweasd"), is_ascii=True),
    "play-160x50": Shot("4x4", MOVES, size=(160, 50)),
    "play-40x15": Shot("4x4", MOVES, size=(40, 15)),
    "play-hexagons-160x50": Shot("hex2", tuple("qweasd" * 5), size=(160, 50)),
    "play-hexagons-40x15": Shot("hex2", tuple("qweasd" * 5), size=(40, 15)),
    "play-over": Shot("2 2 / 8 16", ["a", "plus"]),
    "play-keys-small": Shot("4x4", ["question_mark"], size=(40, 15)),
    "choose": Shot("4x4", ["p"], until=is_loaded),
    "choose-typed": Shot("4x4", ["p", *"ex", "tab", *"de"], until=is_loaded),
    "choose-wrong": Shot("4x4", ["p", *"expectimax:dept=3", "enter"], until=lambda app: "did you mean" in text_of(app)),
    "choose-small": Shot("4x4", ["p", "down"], size=(30, 10), until=is_loaded),
    "form-play": Shot(keys=["p"]),
    "form-watch": Shot(keys=["w"]),
    "form-match": Shot(keys=["m"]),
    "form-train": Shot(keys=["t"]),
    "form-solve": Shot(keys=["s"]),
    "form-small": Shot(keys=["m", *["down"] * 9], size=(30, 10)),
    "form-wrong-small": Shot(keys=["m", "down", *"4y4", "enter"], size=(40, 15)),
    "menu-small": Shot(size=(30, 10)),
    "games-small": Shot(keys=["g"], size=(40, 15)),
    "match-small": Shot(job=_match, size=(40, 15)),
    "form-wrong": Shot(keys=["p", "backspace", "backspace", "backspace", *"4y4", "enter"]),
    "match": Shot(job=_match),
    "train": Shot(job=_train),
    "train-ascii": Shot(job=_train, is_ascii=True, depth=Depth.NONE),
    "solve": Shot(job=_solve),
    "games": Shot(keys=["g"]),
    "games-best": Shot(keys=["g", "b", "k", "k", "k"]),
    "games-yours": Shot(keys=["g", "k"], is_ascii=True, depth=Depth.NONE),
    "practice": Shot(keys=["e"]),
    "replay": Shot(keys=["g", "enter", "right", "pagedown"], until=_is_proved),
}  # fmt: skip


def write() -> None:
    """Write all shots anew."""
    FOLDER.mkdir(exist_ok=True)
    for name in SHOTS:
        (FOLDER / f"{name}.txt").write_text(take(name))


if __name__ == "__main__":
    write()

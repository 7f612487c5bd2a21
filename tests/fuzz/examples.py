"""A valid example of every kind of file that lab2048 reads, and the commands that read it.

An example is a folder of its own; one of its files is damaged before a command runs in that folder.  In the words of a
command, @ stands for that folder where lab2048 remembers a file by its path.
"""

import contextlib
import dataclasses
import io
import json
import os
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from played import fill, play
from records.replay_writer import write_league, write_rpl1, write_tablebase, write_verse
from safetensors.numpy import load_file

from lab2048.cli.app import run
from lab2048.rules import Game

BOARD = "2 4 # / # 2 #"
POSITIONS = "id one\nboard 2 2 / . .\ngoal 8\nbound 0.9\n\nid two\nboard 4 2 / . 2\ngoal 16\n"
EVALUATOR = '[mine]\ndoc = "a test"\nempty = 2.5\nsum = 11.0\nsum_power = 3.5\npath = "snake"\nlost = -1000\n'
SETTINGS = 'rules = "2x2"\ngoal = 16\n[match]\ngames = 2\nworkers = 1\n[hint]\nplayer = "greedy"\n'
STUDY = """title = "Small"
question = "How high?"
source = "a test"
[[rows]]
id = "greedy"
title = "greedy"
kind = "match"
rules = "2x2"
goal = 16
player = "greedy"
quick = 4
full = 4
test = 4
figures = [{measure = "won", published = "15 of 100"}, {measure = "score", published = "about 60"}]
"""
DEEP = (
    "--rules",
    "2x2",
    "--widths",
    "4,4,4",
    "--crowd",
    "4",
    "--batch",
    "8",
    "--trial-every",
    "5",
    "--trial-games",
    "2",
)
GAMES = ("--games", "30")
DEEP_OPTIONS = {
    "afterstate": ("--window", "4"),
    "c51": ("--replay", "200", "--atoms", "5"),
    "dqn": ("--replay", "200"),
    "returns": (),
    "distil": ("--replay", "200", "--teacher", "greedy"),
}
PLAYERS = {"afterstate": "net", "c51": "c51", "dqn": "c51", "returns": "c51", "distil": "c51"}


class Example(NamedTuple):
    """A folder, the files in it that are damaged in turn, and the commands that read them."""

    kind: str
    folder: Path
    files: tuple[str, ...]
    commands: tuple[tuple[str, ...], ...]


def make_examples(folder: Path) -> list[Example]:
    """Make all examples; takes some seconds."""
    makers = (
        *(_networks, _deep, _table, _endgame, _unfinished, _store, _lines, _replays),
        *(_texts, _study, _tuning, _page),
    )
    return [example for maker in makers for example in maker(folder)]


def _run(*words: str) -> str:
    """Run a command that must succeed; return what it printed."""
    told, printed = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(told):
        code = run(words)
    assert code == 0, f"{words}: {told.getvalue()}"
    return printed.getvalue()


def _new(folder: Path, name: str) -> Path:
    made = folder / name
    made.mkdir(parents=True)
    return made


def _networks(folder: Path) -> Iterator[Example]:
    """A checkpoint, the same in format 1, and a quantized network."""
    from lab2048.models.ntuple.file import DENSE, write_tensors

    commands = (
        ("weights", "info", "net"),
        ("weights", "curve", "net"),
        ("weights", "curve", "net", "--csv"),
        ("hint", BOARD, "--player", "ntuple:weights=net,depth=1"),
        ("evaluate", "net", "--games", "2", "--depth", "1", "--workers", "1"),
        ("weights", "quantize", "net", "--out", "small"),
    )
    training = (("train", "ntuple", "--resume", "--out", "net", "--moves", "1200", "--threads", "2"),)
    sparse = _new(folder, "ntuple")
    words = ("--rules", "2x3", "--network", "0123,1245", "--threads", "1", "--moves", "1000", "--late-after", "0")
    _run("train", "ntuple", "--out", str(sparse / "net"), *words)
    yield Example("ntuple", sparse, ("net",), commands + training)
    dense = _new(folder, "ntuple-1")
    from lab2048.models.ntuple.file import load_network

    network, arrays = load_network(sparse / "net", with_rates=True), load_file(sparse / "net")
    about = {"format": DENSE, "rules": network.design.rules.to_json(), "patterns": "0123 1245", "stages": []}
    about |= {"is_shared": True, "step": None, "facts": network.facts}
    assert network.rates is not None
    kept = {"weights": network.weights, "rates": network.rates, "cursors": arrays["cursors"]}
    write_tensors(dense / "net", kept, {"lab2048": json.dumps(about)})
    yield Example("ntuple-1", dense, ("net",), commands + training)
    small = _new(folder, "quantized")
    _run("weights", "quantize", str(sparse / "net"), "--out", str(small / "net"))
    yield Example("quantized", small, ("net",), commands[:-1])


def _deep(folder: Path) -> Iterator[Example]:
    for method, options in DEEP_OPTIONS.items():
        made = _new(folder, method)
        _run("train", method, "--out", str(made / "net"), *DEEP, *options, *GAMES)
        commands = (
            ("weights", "info", "net"),
            ("weights", "curve", "net"),
            ("hint", "2 4 / # 2", "--player", f"{PLAYERS[method]}:weights=net"),
            ("train", method, "--resume", "--out", "net", "--games", "60"),
        )
        yield Example(method, made, ("net",), (*commands, commands[-1]))


def _table(folder: Path) -> Iterator[Example]:
    made = _new(folder, "table")
    _run("solve", "2x2", "--goal", "32", "--out", str(made / "table"))
    yield Example("table", made, _files(made), _table_commands("2 4 / # 2"))
    score = _new(folder, "table-score")
    _run("solve", "2x2", "--objective", "score", "--exact", "--out", str(score / "table"))
    yield Example("table-score", score, _files(score), _table_commands("2 4 / # 2"))


def _table_commands(board: str) -> tuple[tuple[str, ...], ...]:
    return (
        ("probe", "table", board),
        ("hint", board, "--player", "optimal:table=table"),
        ("table", "verify", "table"),
        ("table", "export", "table", "--out", "out.csv"),
        ("regret", "table", "greedy", "--games", "2"),
        ("solve", "2x2", "--goal", "32", "--out", "table", "--workers", "1"),
    )


def _endgame(folder: Path) -> Iterator[Example]:
    made = _new(folder, "endgame")
    words = ("endgame", "build", "--formation", "A##|#G#", "--goal", "16", "--workers", "1")
    _run(*words, "--out", str(made / "table"))
    board = "512 2 # / 4 # #"
    search = ("hint", board, "--player", "lookahead:depth=3,endgames=@")
    commands = (("probe", "table", board), search, ("table", "verify", "table"), (*words, "--out", "table"))
    files = tuple(f"table/{path.name}" for path in (made / "table").iterdir() if path.is_file())
    yield Example("endgame", made, files, commands)


def _files(folder: Path) -> tuple[str, ...]:
    """Return the files of a folder; of the many layers of a table only some."""
    found = sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())
    layers = [name for name in found if name.endswith(".npy")]
    return tuple(name for name in found if name not in layers or name in layers[3::10])


def _unfinished(folder: Path) -> Iterator[Example]:
    """A solve that was interrupted in its backward pass, after a checkpoint."""
    from lab2048.rules import Rules
    from lab2048.solver.memory import Memory
    from lab2048.solver.problem import Problem
    from lab2048.solver.solve import Progress, Solve
    from lab2048.solver.workers import Workers

    made = _new(folder, "unfinished")

    def stop(progress: Progress) -> None:
        if progress.phase == "backward" and progress.n_layers > 10:
            raise KeyboardInterrupt

    problem = Problem.of(Rules.from_text("2x2", goal=32), "win")
    with Workers(1) as workers, contextlib.suppress(KeyboardInterrupt):
        Solve(problem, made / "table", workers, Memory(2**28), checkpoint_seconds=0, progress=stop).run()
    (made / "table" / "work" / "lock").unlink(missing_ok=True)
    yield Example("unfinished", made, _files(made), (("solve", "2x2", "--goal", "32", "--out", "table", "-w", "1"),))


def _store(folder: Path) -> Iterator[Example]:
    made = _new(folder, "store")
    fill(made / "games", 6, "2x2")
    commands = (
        ("games", "list", "--store", "games"),
        ("games", "list", "--best", "--csv", "--store", "games"),
        ("games", "show", "2", "--store", "games"),
        ("games", "replay", "3", "--store", "games", "--every", "50"),
        ("games", "export", "--store", "games"),
        ("games", "delete", "4", "--store", "games"),
        ("match", "random", "--games", "1", "--rules", "2x2", "--workers", "1", "--store", "games"),
    )
    yield Example("store", made, ("games",), commands)


def _lines(folder: Path) -> Iterator[Example]:
    from lab2048.records.provenance import provenance

    made = _new(folder, "lines")
    episodes = [play("2x2", seed, max_moves=30) for seed in range(3)]
    episodes[0] = dataclasses.replace(episodes[0], movers=((3, "human"), (4, "random")))
    lines = (json.dumps({**episode.to_json(), "provenance": provenance()}) for episode in episodes)
    (made / "games.jsonl").write_text("".join(f"{line}\n" for line in lines))
    yield Example("lines", made, ("games.jsonl",), (("games", "import", "games.jsonl", "--store", "games"),))


def _replays(folder: Path) -> Iterator[Example]:
    """Games as other programs record them, one of each format, and one of ours; all are reviewed."""
    made = _new(folder, "replays")
    ours = play("4x4", 7, max_moves=40)
    game = Game(ours.rules, ours.seed)
    game.replay(ours.moves)
    written = {
        "ours": json.dumps({**ours.to_json(), "provenance": {"program": "fuzz"}}).encode(),
        "league": write_league(game),
        "verse": write_verse(game, "4x4"),
        "rpl1": write_rpl1(game, "4x4"),
        "tablebase": write_tablebase(game),
    }
    for name, data in written.items():
        place = _new(made, name)
        (place / "game").write_bytes(data)
        yield Example("replays", place, ("game",), (("review", "game", "--reviewer", "ntuple:depth=1"),))


def _texts(folder: Path) -> Iterator[Example]:
    made = _new(folder, "evaluator")
    (made / "mine.toml").write_text(EVALUATOR)
    commands = (
        ("hint", BOARD, "--player", "expectimax:eval=@/mine.toml,depth=1"),
        ("hint", BOARD, "--player", "lookahead:eval=@/mine.toml,depth=2"),
        (
            "match",
            "lookahead:eval=@/mine.toml,depth=1",
            "--games",
            "1",
            "--rules",
            "2x2",
            "--workers",
            "1",
            "--no-keep",
        ),
    )
    yield Example("evaluator", made, ("mine.toml",), commands)
    made = _new(folder, "settings")
    (made / "lab2048.toml").write_text(SETTINGS)
    yield Example("settings", made, ("lab2048.toml",), (("config", "show"), ("hint", BOARD), ("players",)))
    made = _new(folder, "positions")
    (made / "mine.txt").write_text(POSITIONS)
    words = ("bench", "positions", "--file", "mine.txt", "--player", "greedy", "--games", "2", "--workers", "1")
    yield Example("positions", made, ("mine.txt",), (words,))


def _study(folder: Path) -> Iterator[Example]:
    made = _new(folder, "study")
    (made / "small.toml").write_text(STUDY)
    tomllib.loads(STUDY)
    words = ("--quick", "--folder", "results")
    with contextlib.chdir(made):
        _run("study", "run", "small.toml", *words, "--workers", "1")
    commands = (
        ("study", "report", "@/small.toml", *words),
        ("study", "report", "@/small.toml", *words, "--json"),
        ("study", "report", "@/small.toml", *words, "--html", "page.html"),
        ("study", "run", "@/small.toml", *words, "--workers", "1"),
    )
    yield Example("study", made, _files(made), commands)


def _tuning(folder: Path) -> Iterator[Example]:
    made = _new(folder, "tuning")
    words = ("tune", "{empty = 1, merges = 1}", "--player", "lookahead:depth=1", "--rules", "2x2", "--games", "2")
    words += ("--trials", "8", "--fresh", "2", "--workers", "1", "--study", "trials")
    with contextlib.chdir(made):
        _run(*words)
    yield Example("tuning", made, ("trials",), (words,))


def _page(folder: Path) -> Iterator[Example]:
    """What the page keeps beside its games: trainings with their checkpoints, tables and jobs with their events."""
    made = _new(folder, "page")
    (made / "trainings").mkdir()
    net = made / "trainings" / "small.safetensors"
    words = ("--rules", "2x3", "--network", "0123,1245", "--threads", "1", "--moves", "1000")
    told = _run("train", "ntuple", "--out", str(net), *words, "--jsonl")
    _job(made, "train", ["train", "ntuple", "--out", str(net), *words], {"name": "small", "total_minutes": 1}, told)
    os.link(net, net.with_name("small@1.safetensors"))
    net.with_name("small.checkpoints.json").write_text('{"n": 1, "wished": [1]}')
    told = _run("solve", "2x2", "--goal", "32", "--out", str(made / "tables" / "small"), "--jsonl")
    _job(made, "solve", ["solve", "2x2", "--goal", "32"], {"name": "small"}, told)
    words = ("match", "greedy", "random", "--rules", "2x2", "--games", "3", "--workers", "1", "--no-keep")
    request = {"specs": ["greedy", "random"], "rules": {"board": "2x2"}, "seed": 1, "games": 3}
    _job(made, "match", list(words), request, _run(*words, "--jsonl"))
    requests = (
        ("GET", "/api/trainings"),
        ("GET", "/api/trainings/small"),
        ("GET", "/api/tables"),
        ("GET", "/api/tables/small"),
        ("GET", "/api/players"),
        ("GET", "/api/jobs"),
        ("GET", "/api/jobs/match-1"),
        ("GET", "/api/matches/match-1"),
        ("GET", "/api/matches/match-1/charts/scores"),
        ("GET", "/api/matches/compare?matches=match-1"),
        ("GET", "/api/trainings/small/charts/tiles"),
        ("GET", "/api/solves/solve-1/chart"),
        ("DELETE", "/api/jobs/train-1"),
        (
            "POST",
            "/api/hint",
            '{"rules": {"board": "2x3"}, "board": "2 4 # / # 2 #", "player": "ntuple:weights=small"}',
        ),
        ("POST", "/api/hint", '{"rules": {"board": "2x2"}, "board": "2 4 / # 2", "player": "optimal:table=small"}'),
        ("POST", "/api/trainings/small/checkpoints"),
        ("DELETE", "/api/trainings/small/checkpoints/1"),
    )
    yield Example("page", made, _files(made), tuple(("@page", *request) for request in requests))


def _job(folder: Path, kind: str, words: list[str], request: dict[str, Any], events: str) -> None:
    """Write a finished job with the events that its command printed."""
    from lab2048.jobs.job import DONE, EVENTS, Job
    from lab2048.records.provenance import now

    job = Job(f"{kind}-1", kind, "a job", words, words, request, now(), state=DONE)
    job.folder = _new(folder / "jobs", job.id)
    (job.folder / EVENTS).write_text(events)
    job.save()

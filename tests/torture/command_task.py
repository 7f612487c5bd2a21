"""The commands under torture, each with settings that make it short."""

import hashlib
import json
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from torture.program import Broken, streams_of
from torture.task import Task, digest_of, json_lines, read_store, store_of

_GAMES = """
    SELECT runs.player, number, score, checksum FROM episodes JOIN runs ON runs.id = episodes.run ORDER BY 1, 2
"""


class Match(Task):
    name = "match"
    is_new_each_time = True
    words = ("match", "lookahead:depth=1", "random", "--games", "1200", "--rules", "4x4", "--workers", "2", "--jsonl")
    resumed = ("--resume",)
    seconds = 1.2

    def can_resume(self, folder: Path) -> bool:
        return store_of(folder).exists()

    def check(self, folder: Path, told: Sequence[dict[str, Any]]) -> None:
        found = {(player, number): score for player, number, score, _ in read_store(store_of(folder), _GAMES)}
        for event in told:
            for number, score, *_ in event["games"] if event["event"] == "games" else ():
                if found.get((event["player"], number)) != score:
                    raise Broken(f"game {number} of {event['player']} was told and is not in the store")

    def result(self, folder: Path) -> Any:
        return read_store(store_of(folder), _GAMES)


class Import(Task):
    """All games of a file; its games are made once."""

    name = "import"
    words = ("games", "import", "games.jsonl", "--json")
    seconds = 0.8
    n_games = 1500

    def prepare(self, folder: Path) -> None:
        (folder / "games.jsonl").write_text(_games(self.n_games))

    def check(self, folder: Path, told: Sequence[dict[str, Any]]) -> None:
        checksums = [row[0] for row in read_store(store_of(folder), "SELECT checksum FROM episodes")]
        if len(set(checksums)) != len(checksums):
            raise Broken("a game was imported twice")
        wanted = {json.loads(line)["checksum"] for line in (folder / "games.jsonl").read_text().splitlines()}
        if not set(checksums) <= wanted:
            raise Broken("the store has games that no one imported")
        if told and set(checksums) != wanted:
            raise Broken(f"{len(wanted)} games were imported and {len(checksums)} are in the store")

    def result(self, folder: Path) -> Any:
        return sorted(read_store(store_of(folder), "SELECT checksum FROM episodes"))


@cache
def _games(n: int) -> str:
    """Return n games as lines of JSON."""
    from played import play

    games = (play("3x3" if seed < 60 else "2x2", seed) for seed in range(n))
    return "".join(json.dumps({**game.to_json(), "provenance": {"program": "torture"}}) + "\n" for game in games)


class Train(Task):
    """A training on one thread, which is repeatable to the bit."""

    file = "network.safetensors"

    def can_resume(self, folder: Path) -> bool:
        return (folder / self.file).exists()

    def check(self, folder: Path, told: Sequence[dict[str, Any]]) -> None:
        saved = [event["n_moves"] for event in told if event["event"] in ("checkpoint", "end")]
        found = self._n_moves(folder)
        if saved and found < saved[-1]:
            raise Broken(f"a checkpoint of {saved[-1]} moves was told, the file has {found}")

    def _n_moves(self, folder: Path) -> int:
        """Load the network as players do; return how many moves it has learned from, -1 without a file."""
        path = folder / self.file
        if not path.exists():
            return -1
        n_moves = _find(_metadata(path), "n_moves")
        if n_moves is None:
            raise Broken(f"{path.name} does not say how far the training is")
        return int(n_moves)

    def result(self, folder: Path) -> Any:
        from safetensors.numpy import load_file

        tensors = load_file(folder / self.file)
        return {name: tensor.tobytes() for name, tensor in tensors.items()}


def _metadata(path: Path) -> Any:
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="numpy") as file:
            for name in file.keys():  # noqa: SIM118 - not a dict
                file.get_tensor(name)
            return {name: json.loads(text) for name, text in (file.metadata() or {}).items() if text[:1] == "{"}
    except (SafetensorError, ValueError, OSError) as error:
        raise Broken(f"{path.name} is damaged: {error}") from error


def _find(data: Any, name: str) -> Any:
    """Return the first value with this key, at any depth."""
    if isinstance(data, dict):
        if name in data:
            return data[name]
        for value in data.values():
            if (found := _find(value, name)) is not None:
                return found
    return None


_OFTEN = ("--checkpoint", "0.001", "--threads", "1", "--out", Train.file, "--jsonl")
_TINY = ("--rules", "2x2", "--network", "mlp", "--widths", "8", "--crowd", "8", "--batch", "8", "--replay", "1000",
         "--trial-every", "0", "--moves", "12000", *_OFTEN)  # fmt: skip


class TrainNtuple(Train):
    name = "train ntuple"
    words = ("train", "ntuple", "--rules", "2x3", "--network", "rows", "--moves", "1500000", *_OFTEN)
    resumed = ("--resume",)
    seconds = 1.2


class TrainDqn(Train):
    name = "train dqn"
    words = ("train", "dqn", *_TINY)
    resumed = ("--resume",)
    seconds = 1.2


class TrainC51(Train):
    name = "train c51"
    words = ("train", "c51", *_TINY)
    resumed = ("--resume",)
    seconds = 1.6


class Solve(Task):
    name = "solve"
    words = ("solve", "2x4", "--goal", "128", "--out", "table", "--jsonl", "--workers", "2")
    seconds = 0.8

    def check(self, folder: Path, told: Sequence[dict[str, Any]]) -> None:
        table = folder / "table"
        if (table / "manifest.json").exists():
            for name, checksum in self.columns(json.loads((table / "manifest.json").read_text())):
                _check_column(table / f"{name}.npy", checksum)
        elif any(event["event"] == "end" for event in told):
            raise Broken("the table was told to be solved and has no manifest")

    def columns(self, manifest: Any) -> Iterator[tuple[str, str]]:
        """Yield the names and checksums of the columns of a table."""
        for layer in manifest["layers"]:
            for column in ("keys", "values"):
                yield f"{column}-{layer['sum']:06}", layer[column]

    def result(self, folder: Path) -> Any:
        return digest_of(folder / "table", without=("solved.json", "lock"))


class BuildEndgame(Solve):
    name = "endgame build"
    words = (
        *("endgame", "build", "--formation", "AG##|####", "--goal", "128"),
        *("--out", "table", "--jsonl", "--workers", "2"),
    )

    def columns(self, manifest: Any) -> Iterator[tuple[str, str]]:
        """Yield those of the layers, and after them those of the compact table."""
        if "columns" not in manifest:
            yield from super().columns(manifest)
        else:
            yield from ((name, checksum) for name, (_, checksum) in manifest["columns"].items())


def _check_column(path: Path, checksum: str) -> None:
    """Raise Broken unless the numbers in an .npy file have this checksum."""
    if not path.exists() or hashlib.sha256(path.read_bytes()[128:]).hexdigest() != checksum:
        raise Broken(f"the table is said to be complete, and {path.name} is damaged")


_STUDY = """
title = "A study for the torture suite"
question = "Does it survive?"
source = "Our own question."
[every]
kind = "match"
rules = "3x3"
full = 400
quick = 400
test = 400
figures = [{ measure = "score" }]
"""
_ROWS = "".join(
    f'[[rows]]\nid = "row-{i}"\ntitle = "row {i}"\nplayer = "{player}"\n'
    for i, player in enumerate(("random", "lookahead:depth=1", "lookahead:depth=2", "greedy", "first"))
)
_SOLVED = """
[[rows]]
id = "solved"
title = "solved"
kind = "solve"
rules = "2x3"
goal = 32
figures = [{ measure = "win" }]
"""


class Study(Task):
    name = "study"
    words = ("study", "run", "own.toml", "--workers", "2", "--folder", "results")
    seconds = 1.5

    def prepare(self, folder: Path) -> None:
        (folder / "own.toml").write_text(_STUDY + _ROWS + _SOLVED)

    def check(self, folder: Path, told: Sequence[dict[str, Any]]) -> None:
        for file in (folder / "results").rglob("*.json"):
            try:
                json.loads(file.read_text())
            except ValueError as error:
                raise Broken(f"{file.name} is damaged: {error}") from error

    def result(self, folder: Path) -> Any:
        found = {}
        for file in sorted((folder / "results").rglob("*.json")):
            data = json.loads(file.read_text())
            found[file.name] = [game[:6] for game in data["games"]], _without_times(data["measured"]), data["digest"]
        return found


class Tune(Task):
    name = "tune"
    words = (
        "tune",
        "rows",
        "--games",
        "5",
        "--trials",
        "16",
        "--rules",
        "2x3",
        "--fresh",
        "10",
        "--workers",
        "2",
        "--json",
    )
    seconds = 1.8

    def check(self, folder: Path, told: Sequence[dict[str, Any]]) -> None:
        read_store(store_of(folder).with_name("tuning.sqlite"), "")

    def result(self, folder: Path) -> Any:
        [found] = list(json_lines((streams_of(folder) / "out").read_text()))[-1:] or [None]
        return _without_times(found)


def _without_times(data: Any) -> Any:
    """Return the same without measured times and what depends on how often it was interrupted."""
    if isinstance(data, dict):
        kept = (name for name in data if not any(word in name for word in ("second", "time", "found", "created")))
        return {name: _without_times(data[name]) for name in kept}
    return [_without_times(value) for value in data] if isinstance(data, list) else data


TASKS: tuple[type[Task], ...] = (Match, TrainNtuple, TrainDqn, TrainC51, Solve, BuildEndgame, Import, Study, Tune)

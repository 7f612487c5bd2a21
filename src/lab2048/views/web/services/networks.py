"""Networks trained on this page, as data from their file headers."""

import contextlib
from dataclasses import replace
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict

from lab2048.errors import FileError
from lab2048.learning.registry import METHODS, player_of_head
from lab2048.rules import Rules
from lab2048.views.web.errors import one_line
from lab2048.views.web.serialize.schema import DamagedData, RulesData
from lab2048.views.web.services.checkpoints import SUFFIX, Checkpoints
from lab2048.views.web.state import Lab


class NetworkData(BaseModel):
    """A network in a file and its training so far."""

    model_config = ConfigDict(allow_inf_nan=False)

    spec: str
    bytes: int
    changed: str
    minutes: float
    n_moves: int
    n_games: int
    mean: float


class CheckpointData(NetworkData):
    """A checkpoint; `number` 0 is the last one, and `wished` means that it is protected."""

    number: int
    wished: bool
    is_last: bool


class TrainingData(NetworkData):
    """A network trained on this page."""

    name: str
    method: str
    board: str
    rules: RulesData  # to play with it: those it learned by, with a goal that can be reached
    network: str
    n_weights: int
    job: str | None = None


def training_list(lab: Lab) -> list[TrainingData]:
    """List the networks in the folder of the page, newest first; see `damaged_trainings` for those left out."""
    folder = lab.library.trainings
    jobs: dict[str, str] = {}
    for job in lab.jobs.all_jobs("train"):  # newest first
        jobs.setdefault(str(job.request.get("name")), job.id)
    found = []
    for path in folder.glob(f"*{SUFFIX}") if folder.is_dir() else ():
        training = None if "@" in path.stem else read_training(path)
        if training:
            found.append(training.model_copy(update={"job": jobs.get(path.stem)}))
    return sorted(found, key=lambda training: training.changed, reverse=True)


def damaged_trainings(lab: Lab) -> list[DamagedData]:
    """List the files of trainings that cannot be read."""
    folder = lab.library.trainings
    found = folder.glob(f"*{SUFFIX}") if folder.is_dir() else ()
    return [damage for path in sorted(found) if "@" not in path.stem and (damage := damage_of(path))]


def damaged_checkpoints(lab: Lab, name: str) -> list[DamagedData]:
    """List the saved checkpoints of a training that cannot be read; their names end with @ and a number."""
    kept = Checkpoints(lab.library.trainings, name)
    return [damage for number in kept.numbers() if (damage := damage_of(kept.path(number)))]


def checkpoint_list(lab: Lab, name: str) -> list[CheckpointData]:
    """List the checkpoints of a training, newest first, including the last one if it is not saved."""
    kept = Checkpoints(lab.library.trainings, name)
    wished = kept.wished()
    last = read_training(kept.last)
    found = []
    for number in reversed(kept.numbers()):
        network = read_training(kept.path(number))
        if network:
            facts = network.model_dump(include=set(NetworkData.model_fields))
            found.append(CheckpointData(**facts, number=number, wished=number in wished, is_last=kept.is_last(number)))
    if last and not any(each.is_last for each in found):
        facts = last.model_dump(include=set(NetworkData.model_fields))
        found.insert(0, CheckpointData(**facts, number=0, wished=False, is_last=True))
    return found


def read_training(path: Path) -> TrainingData | None:
    """Read the header of a network file; None if it cannot be read."""
    with contextlib.suppress(Exception):  # whatever is wrong with one file, the others are listed
        stamp = path.stat()
        return _read(path, stamp.st_mtime_ns, stamp.st_size)
    return None


def damage_of(path: Path) -> DamagedData | None:
    """Return what is wrong with a network file; None if it can be read, or does not exist."""
    try:
        stamp = path.stat()
        _read(path, stamp.st_mtime_ns, stamp.st_size)
    except FileNotFoundError:
        return None
    except Exception as error:
        reason = str(error) if isinstance(error, FileError) else f"the header is wrong: {type(error).__name__}"
        return DamagedData(name=path.stem, reason=one_line(reason), bytes=path.stat().st_size if path.exists() else 0)
    return None


@lru_cache(maxsize=500)
def _read(path: Path, changed: int, size: int) -> TrainingData:
    from lab2048.models.ntuple.file import is_deep

    method, player, rules, network, n_weights, facts = (_deep_facts if is_deep(path) else _ntuple_facts)(path)
    curve: list[dict[str, Any]] = facts.get("curve") or [{}]
    return TrainingData(
        name=path.stem,
        method=method,
        spec=f"{player}:weights={path.stem}",
        bytes=size,
        changed=datetime.fromtimestamp(changed / 1e9, UTC).isoformat(timespec="seconds"),
        board=rules.board.to_text(),
        rules=RulesData.of(replace(rules, goal_rank=min(rules.goal_rank, rules.max_rank))),
        network=network,
        n_weights=n_weights,
        minutes=round(float(facts.get("seconds", 0)) / 60, 3),
        n_moves=int(facts.get("n_moves", 0)),
        n_games=int(facts.get("n_games", 0)),
        mean=float(curve[-1].get("mean", 0.0)),
    )


def _ntuple_facts(path: Path) -> tuple[str, str, Rules, str, int, dict[str, Any]]:
    from lab2048.models.ntuple.file import read_header

    header = read_header(path)
    facts: dict[str, Any] = header.facts.get("training") or {}
    network = str(facts.get("config", {}).get("network", ""))
    return (
        "ntuple",
        METHODS["ntuple"].player,
        header.design.rules,
        network,
        header.design.n_weights,
        facts,
    )


def _deep_facts(path: Path) -> tuple[str, str, Rules, str, int, dict[str, Any]]:
    import math

    from lab2048.models.deep.header import read_deep_header

    design, about = read_deep_header(path)
    facts: dict[str, Any] = about.get("training") or {}
    method = str(facts.get("method", ""))
    n_weights = sum(math.prod(shape) for shape in design.shapes().values())
    network = f"{design.kind} {','.join(map(str, design.widths))}"
    known = method if method in METHODS else ""
    return known, player_of_head(design.head), design.rules, network, n_weights, facts

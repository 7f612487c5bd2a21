"""`/api/trainings`: networks that learn by playing, as jobs; their curves, and who plays with them."""

import math
from dataclasses import fields
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path as File
from typing import Annotated, Any

from fastapi import APIRouter, Path
from fastapi.responses import Response
from pydantic import BaseModel, Field

from lab2048.errors import FileError, UsageError, nearest
from lab2048.models.pattern import PRESETS
from lab2048.views.charts import Chart, training_chart
from lab2048.views.web.chart import chart_data, csv_response
from lab2048.views.web.command import line, rules_options
from lab2048.views.web.error import ConflictError, NotFoundError
from lab2048.views.web.follow import TrainFollower
from lab2048.views.web.job import Job
from lab2048.views.web.lab import Lab, LabOf
from lab2048.views.web.schema import ERRORS, NAME, Body, ChartData, CommandData, JobData, RulesBody, RulesData

MAX_MINUTES = 60 * 24 * 7
CHARTS = ("score", "tiles", "learning")
# What a field of the configuration is called on the command line, if not by its own name.
_SAID = {"trace": "lambda", "late_after": "late-after"}

router = APIRouter(prefix="/api/trainings", tags=["trainings"], responses=ERRORS)
TrainingName = Annotated[str, Path(alias="training", pattern=NAME, examples=["my"])]
ChartName = Annotated[str, Path(alias="chart", max_length=20, examples=["score"])]


class TrainingBody(Body):
    """What to train, for how long, and how."""

    name: str = Field(pattern=NAME)
    network: str | None = Field(default=None, max_length=300)
    minutes: float = Field(default=10, gt=0, le=MAX_MINUTES, description="To learn now, on top of what was learnt.")
    rules: RulesBody = Field(default_factory=lambda: RulesBody(board="4x4"))
    options: dict[str, str | float | bool] = Field(default_factory=dict, max_length=30)
    resume: bool = Field(default=False, description="Go on with a training of this name.")


class TrainingData(BaseModel):
    """A network that was trained here."""

    name: str
    spec: str
    bytes: int
    changed: str
    board: str
    network: str
    n_weights: int
    minutes: float
    n_moves: int
    n_games: int
    mean: float
    job: str | None = None


class TrainingList(BaseModel):
    """The networks, newest first."""

    trainings: list[TrainingData]


class TrainingShown(BaseModel):
    """A training and its job; before its first checkpoint there is only the job."""

    training: TrainingData | None
    job: JobData | None


class OptionData(BaseModel):
    """One option of a training."""

    name: str
    kind: str
    default: Any
    doc: str


class OptionList(BaseModel):
    """All options of a training."""

    options: list[OptionData]
    networks: list[str]


class GoneData(BaseModel):
    """What is gone."""

    deleted: str


@router.post("")
def begin(lab: LabOf, body: TrainingBody) -> JobData:
    """Train a network; stopping keeps it."""
    lab.library.trainings.mkdir(parents=True, exist_ok=True)
    words, total = _words(lab, body)
    job = _job_of(lab, body.name)
    if job and job.is_active:
        raise ConflictError(f"training {body.name} runs already: {job.id}")
    rules = RulesData.of(body.rules.read())
    request = {**body.model_dump(), "rules": rules.model_dump(), "total_minutes": total}
    title = f"{body.name}: {body.network or 'best'} on {rules.board}"
    words = [*words, "--jsonl"]
    resume_words = words if "--resume" in words else [*words, "--resume"]
    return lab.jobs.start("train", title, words, request=request, resume_words=resume_words).data()


@router.post("/plan")
def plan(lab: LabOf, body: TrainingBody) -> CommandData:
    """The command that does the same; nothing starts."""
    return CommandData(command=line(_words(lab, body)[0]))


@router.get("")
def list_trainings(lab: LabOf) -> TrainingList:
    """The networks that were trained here."""
    return TrainingList(trainings=training_list(lab))


@router.get("/options")
def options() -> OptionList:
    """How a training can be changed."""
    return OptionList(options=_options(), networks=list(PRESETS))


@router.get("/{training}")
def show(lab: LabOf, name: TrainingName) -> TrainingShown:
    """A training, and the job that makes it or made it."""
    found = next((training for training in training_list(lab) if training.name == name), None)
    job = _job_of(lab, name)
    if found is None and job is None:
        raise NotFoundError(f"there is no training {name}: /api/trainings lists those there are")
    return TrainingShown(training=found, job=job.data() if job else None)


@router.get("/{training}/charts/{chart}")
def chart(lab: LabOf, name: TrainingName, kind: ChartName) -> ChartData:
    """One of the charts: score, tiles, learning."""
    return chart_data(_chart(lab, name, kind), f"/api/trainings/{name}/charts/{kind}")


@router.get("/{training}/charts/{chart}/csv", response_class=Response, responses={200: {"content": {"text/csv": {}}}})
def chart_csv(lab: LabOf, name: TrainingName, kind: ChartName) -> Response:
    """The numbers of a chart."""
    return csv_response(_chart(lab, name, kind).to_csv(), f"{name}-{kind}")


@router.delete("/{training}")
def delete(lab: LabOf, name: TrainingName) -> GoneData:
    """Remove a network for good."""
    job = _job_of(lab, name)
    if job and job.is_active:
        raise ConflictError(f"training {name} is running: cancel {job.id} first")
    path = lab.library.network(name)
    lab.coach.forget(str(path))
    path.unlink(missing_ok=True)
    return GoneData(deleted=name)


def training_list(lab: Lab) -> list[TrainingData]:
    """The networks in the folder of the page, newest first; a file that cannot be read is left out."""
    folder = lab.library.trainings
    found = []
    for path in folder.glob("*.safetensors") if folder.is_dir() else ():
        try:
            stamp = path.stat()
            training = _read(path, stamp.st_mtime_ns, stamp.st_size)
        except (FileError, OSError):
            continue
        job = _job_of(lab, path.stem)
        found.append(training.model_copy(update={"job": job.id if job else None}))
    return sorted(found, key=lambda training: training.changed, reverse=True)


@lru_cache(maxsize=200)
def _read(path: File, changed: int, size: int) -> TrainingData:
    from lab2048.models.file import read_header

    header = read_header(path)
    facts: dict[str, Any] = header.facts.get("training") or {}
    curve: list[dict[str, Any]] = facts.get("curve") or [{}]
    return TrainingData(
        name=path.stem,
        spec=f"ntuple:weights={path.stem}",
        bytes=size,
        changed=datetime.fromtimestamp(changed / 1e9, UTC).isoformat(timespec="seconds"),
        board=header.design.rules.board.to_text(),
        network=str(facts.get("config", {}).get("network", "")),
        n_weights=header.design.n_weights,
        minutes=round(float(facts.get("seconds", 0)) / 60, 2),
        n_moves=int(facts.get("n_moves", 0)),
        n_games=int(facts.get("n_games", 0)),
        mean=float(curve[-1].get("mean", 0.0)),
    )


def _chart(lab: Lab, name: str, kind: str) -> Chart:
    if kind not in CHARTS:
        raise NotFoundError(f"there is no chart {kind!r}: expected {', '.join(CHARTS)}")
    job = _job_of(lab, name)
    if job is None:
        raise NotFoundError(f"there is no job of a training {name}")
    follower = lab.jobs.follower(job)
    with lab.jobs.lock:
        curve = list(follower.curve) if isinstance(follower, TrainFollower) else []
    return training_chart(kind, curve)


def _job_of(lab: Lab, name: str) -> Job | None:
    """The newest job that trains a network of this name."""
    return next((job for job in lab.jobs.all_jobs("train") if job.request.get("name") == name), None)


def _options() -> list[OptionData]:
    from lab2048.learning.ntuple_config import Config

    docs = _field_docs(Config)
    return [
        OptionData(
            name=each.name,
            kind=str(getattr(each.type, "__name__", each.type)),
            default=each.default,
            doc=docs.get(each.name, ""),
        )
        for each in fields(Config)
        if each.name not in ("network",)
    ]


@lru_cache
def _field_docs(kind: type) -> dict[str, str]:
    """The line of text below each field in the source of a class."""
    import ast
    import inspect

    try:
        body = ast.parse(inspect.getsource(kind)).body[0]
    except (OSError, SyntaxError):
        return {}
    found, last = {}, ""
    for node in getattr(body, "body", []):
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            last = node.target.id
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and last:
            found[last] = str(node.value.value)
            last = ""
    return found


def _words(lab: Lab, body: TrainingBody) -> tuple[list[str], float]:
    """The command of a training, and the minutes that it will have learnt in all."""
    from lab2048.learning.ntuple_config import Config

    rules = body.rules.read()
    path = lab.library.trainings / f"{body.name}.safetensors"
    before = 0.0
    if path.exists():
        if not body.resume:
            raise ConflictError(f"training {body.name} is there already: go on with it (resume), or take another name")
        stamp = path.stat()
        before = _read(path, stamp.st_mtime_ns, stamp.st_size).minutes
    elif body.resume:
        raise NotFoundError(f"there is no training {body.name} to go on with")
    wishes = dict(body.options)
    known = {each.name for each in fields(Config)} - {"network"}
    for name in wishes:
        if name not in known:
            raise UsageError(f"option {name[:40]!r} is unknown: {nearest(name, known)}")
    config = {name: _typed(Config, name, value) for name, value in wishes.items()}
    if body.network:
        config["network"] = body.network
    if not body.resume:
        Config.for_board(rules, **config).design(rules)
    words = ["train", "ntuple", "--out", str(path), "--minutes", f"{before + body.minutes:g}", "--checkpoint", "1"]
    if body.network:
        words += ["--network", body.network]
    for name, value in config.items():
        said = _SAID.get(name, name)
        if isinstance(value, bool):
            words.append(f"--{said}" if value else f"--no-{said}")
        elif name != "network":
            words += [f"--{said}", f"{value:g}" if isinstance(value, float) else str(value)]
    if body.resume:
        words.append("--resume")
    elif body.rules.board != "4x4" or len(rules_options(rules)) > 2:
        words += rules_options(rules)
    return words, before + body.minutes


def _typed(config: type, name: str, value: str | float | bool) -> Any:
    """An option as the configuration wants it."""
    kind = str({each.name: each.type for each in fields(config)}[name])
    expected = "true or false" if "bool" in kind else "text" if "str" in kind else "a number"
    if "bool" in kind and isinstance(value, bool):
        return value
    if "str" in kind and isinstance(value, str):
        return value
    is_number = isinstance(value, float | int) and not isinstance(value, bool) and math.isfinite(value)
    if ("float" in kind or "int" in kind) and is_number:
        return int(value) if "int" in kind else float(value)
    raise UsageError(f"option {name} is {str(value)[:40]!r}: expected {expected}")

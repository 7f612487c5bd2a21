"""`/api/trainings`: trainings as jobs, their curves and checkpoints."""

from typing import Annotated, Any

from fastapi import APIRouter, Path, Query
from fastapi.responses import Response
from pydantic import BaseModel

from lab2048.errors import unknown
from lab2048.jobs.command_line import command_line
from lab2048.jobs.job import JobData
from lab2048.jobs.progress import TrainingProgress
from lab2048.learning.registry import METHODS, Method
from lab2048.models.ntuple.file import read_training
from lab2048.models.ntuple.pattern import PRESETS, parse_patterns
from lab2048.rules import Board
from lab2048.views.charts import Chart, training_chart
from lab2048.views.pattern_picture import patterns_svg
from lab2048.views.web.errors import ConflictError, NotFoundError
from lab2048.views.web.serialize.schema import (
    CSV,
    ERRORS,
    MAX_TEXT,
    NAME,
    ChartData,
    CommandData,
    DamagedData,
    GoneData,
    RulesData,
    csv_response,
)
from lab2048.views.web.services.checkpoints import Checkpoints
from lab2048.views.web.services.networks import (
    CheckpointData,
    TrainingData,
    checkpoint_list,
    damaged_checkpoints,
    damaged_trainings,
    training_list,
)
from lab2048.views.web.services.training_request import TrainingBody, option_list, plan_training
from lab2048.views.web.state import Lab, LabOf

CHARTS = ("score", "tiles", "learning")

router = APIRouter(prefix="/api/trainings", tags=["trainings"], responses=ERRORS)
TrainingName = Annotated[str, Path(alias="training", pattern=NAME, examples=["my"])]
Number = Annotated[int, Path(alias="number", ge=1, le=10**9, examples=[1])]
ChartName = Annotated[str, Path(alias="chart", max_length=20, examples=["score"])]


class TrainingList(BaseModel):
    """Trained networks, newest first, and files that cannot be read."""

    trainings: list[TrainingData]
    damaged: list[DamagedData]


class TrainingShown(BaseModel):
    """A training, its job, and its checkpoints; before its first checkpoint there is only the job."""

    training: TrainingData | None
    job: JobData | None
    checkpoints: list[CheckpointData]
    damaged: list[DamagedData]  # checkpoints that cannot be read


class TrainingPlan(CommandData):
    """The command, and the size of its file: `bytes` at the start, `last_bytes` at the end."""

    bytes: int
    last_bytes: int
    free: int
    writes: str
    network: str  # the patterns of an n-tuple network: a preset, or cells in hex; empty for a deep network


class OptionData(BaseModel):
    """One option of a training; `known` lists its values if it is a choice, `low` and `high` are its range."""

    name: str
    kind: str
    default: Any
    doc: str
    known: list[str]
    low: float | None
    high: float | None


class MethodData(BaseModel):
    """A training method; `why_not` says what is missing for it."""

    name: str
    title: str
    doc: str
    why_not: str
    options: list[OptionData]


class OptionList(BaseModel):
    """All training methods with their options, and the named n-tuple networks."""

    methods: list[MethodData]
    networks: list[str]


@router.post("")
def begin(lab: LabOf, body: TrainingBody) -> JobData:
    """Start a training; stopping it keeps the network."""
    lab.library.trainings.mkdir(parents=True, exist_ok=True)
    plan = plan_training(lab, body)
    job = lab.jobs.find("train", body.name)
    if job and job.is_active:
        raise ConflictError(f"training {body.name} is running already: {job.id}")
    plan.check_room()
    rules = RulesData.of(body.rules.read())
    more = {"method": plan.method.name, "total_minutes": plan.total}
    request = {**body.model_dump(), "rules": rules.model_dump(), **more}
    what = plan.method.title if plan.method.is_deep else plan.network
    words = plan.words
    resume_words = words if "--resume" in words else [*words, "--resume"]
    title = f"{body.name}: {what} on {rules.board}"
    return lab.jobs.start("train", title, words, request=request, resume_words=resume_words, needs=plan.needs).data()


@router.post("/plan")
def plan(lab: LabOf, body: TrainingBody) -> TrainingPlan:
    """Return the command of a training and what it will write, without starting it."""
    plan = plan_training(lab, body)
    first, last = plan.n_bytes
    return TrainingPlan(
        command=command_line(plan.words),
        bytes=first,
        last_bytes=last,
        free=plan.free,
        writes=plan.writes(),
        network="" if plan.method.is_deep else plan.network,
    )


@router.get("/options/patterns", response_class=Response, responses={200: {"content": {"image/svg+xml": {}}}})
def patterns(
    board: Annotated[str, Query(max_length=MAX_TEXT)] = "4x4",
    network: Annotated[str, Query(max_length=300)] = "best",
    shared: bool = True,
) -> Response:
    """Return a picture of the patterns of a network and of their symmetric copies, as SVG."""
    shape = Board.from_text(board).shape
    found = parse_patterns(network, shape, is_shared=shared)
    return Response(patterns_svg(shape, found, is_shared=shared), media_type="image/svg+xml")


@router.get("")
def list_trainings(lab: LabOf) -> TrainingList:
    """List the networks that were trained on this page."""
    return TrainingList(trainings=training_list(lab), damaged=damaged_trainings(lab))


@router.get("/options")
def options() -> OptionList:
    """List the training methods and their options."""
    found = [
        MethodData(
            name=method.name, title=method.title, doc=method.doc, why_not=method.why_not, options=_options(method)
        )
        for method in METHODS.values()
    ]
    return OptionList(methods=found, networks=list(PRESETS))


@router.get("/{training}")
def show(lab: LabOf, name: TrainingName) -> TrainingShown:
    """Return a training with its latest job and its checkpoints, newest first."""
    found = next((training for training in training_list(lab) if training.name == name), None)
    job = lab.jobs.find("train", name)
    if found is None and job is None:
        raise NotFoundError(f"there is no training {name}: /api/trainings lists all trainings")
    return TrainingShown(
        training=found,
        job=job.data() if job else None,
        checkpoints=checkpoint_list(lab, name),
        damaged=damaged_checkpoints(lab, name),
    )


@router.post("/{training}/checkpoints")
def keep(lab: LabOf, name: TrainingName) -> CheckpointData:
    """Keep a copy of the last checkpoint."""
    lab.library.network(name)
    number = Checkpoints(lab.library.trainings, name).keep_last(is_wished=True)
    return _checkpoint(lab, name, number or 0)


@router.post("/{training}/checkpoints/{number}")
def wish(lab: LabOf, name: TrainingName, number: Number) -> CheckpointData:
    """Protect a checkpoint from being removed to make room for others."""
    _checkpoint(lab, name, number)
    Checkpoints(lab.library.trainings, name).wish(number)
    return _checkpoint(lab, name, number)


@router.delete("/{training}/checkpoints/{number}")
def remove(lab: LabOf, name: TrainingName, number: Number) -> GoneData:
    """Delete a checkpoint; the training stays."""
    checkpoints = Checkpoints(lab.library.trainings, name)
    if number not in checkpoints.numbers():
        _checkpoint(lab, name, number)  # raises
    lab.players.forget(str(checkpoints.path(number)))
    wished = number in checkpoints.wished()
    undo = lab.trash.put(
        f"{name}@{number}", [checkpoints.path(number)], lambda: checkpoints.wish(number) if wished else None
    )
    checkpoints.remove(number)
    return GoneData(deleted=f"{name}@{number}", undo=undo)


@router.get("/{training}/charts/{chart}")
def chart(lab: LabOf, name: TrainingName, kind: ChartName) -> ChartData:
    """Return a chart: score, tiles or learning."""
    return ChartData.of(_chart(lab, name, kind), f"/api/trainings/{name}/charts/{kind}")


@router.get("/{training}/charts/{chart}/csv", **CSV)
def chart_csv(lab: LabOf, name: TrainingName, kind: ChartName) -> Response:
    """Return the numbers of a chart as CSV."""
    return csv_response(_chart(lab, name, kind).to_csv(), f"{name}-{kind}")


@router.delete("/{training}")
def delete(lab: LabOf, name: TrainingName) -> GoneData:
    """Delete a training with its checkpoints."""
    job = lab.jobs.find("train", name)
    if job and job.is_active:
        raise ConflictError(f"training {name} is running: cancel {job.id} first")
    path = lab.library.network(name)
    lab.players.forget(str(path))
    lab.players.forget(f"{path.parent / name}@")
    return GoneData(deleted=name, undo=lab.trash.put(name, Checkpoints(lab.library.trainings, name).files()))


def _checkpoint(lab: Lab, name: str, number: int) -> CheckpointData:
    found = next((each for each in checkpoint_list(lab, name) if each.number == number), None)
    if found is None:
        raise NotFoundError(f"there is no checkpoint {number} of {name}: /api/trainings/{name} lists its checkpoints")
    return found


def _chart(lab: Lab, name: str, kind: str) -> Chart:
    if kind not in CHARTS:
        raise NotFoundError(unknown("chart", kind, CHARTS))
    return training_chart(kind, _curve(lab, name))


def _curve(lab: Lab, name: str) -> list[dict[str, Any]]:
    """Return the learning curve of a training: of its job, or else as far as its file has it."""
    job = lab.jobs.find("train", name)
    if job is None:
        return list(read_training(lab.library.network(name))["curve"])
    progress = lab.jobs.progress_of(job)
    with lab.jobs.lock:
        return list(progress.curve) if isinstance(progress, TrainingProgress) else []


def _options(method: Method) -> list[OptionData]:
    return [
        OptionData(**vars(each) | {"kind": each.kind.__name__, "known": list(each.choices)})
        for each in option_list(method)
    ]

"""`/api/studies`: published experiments, repeated as jobs."""

from typing import TYPE_CHECKING, Annotated, Literal

from fastapi import APIRouter, Path, Query
from fastapi.responses import Response
from pydantic import BaseModel, Field

from lab2048.jobs.command_line import command_line
from lab2048.jobs.job import JobData
from lab2048.views.web.errors import ConflictError, NotFoundError
from lab2048.views.web.serialize.schema import ERRORS, NAME, JobBody
from lab2048.views.web.state import LabOf

if TYPE_CHECKING:
    from lab2048.studies.comparison import Line
    from lab2048.studies.model import Study
    from lab2048.studies.report import Report

router = APIRouter(prefix="/api/studies", tags=["studies"], responses=ERRORS)


Size = Literal["tiny", "quick", "full"]
StudyName = Annotated[str, Path(alias="study", pattern=NAME)]
AskedSize = Annotated[Size, Query()]
SEED = 1  # of studies that the page runs


class StudyData(BaseModel):
    """A study that can be run."""

    name: str
    title: str
    doc: str


class StudyList(BaseModel):
    """All studies."""

    studies: list[StudyData]


class StudyBody(JobBody):
    """A study to run; `full` plays as many games as were published."""

    name: str = Field(pattern=NAME)
    size: Size = "quick"


class FigureData(BaseModel):
    """A published figure, ours, and whether they agree."""

    measure: str
    published: str
    where: str
    ours: str
    interval: str
    n: str
    word: str
    agreement: str


class FigureGroup(BaseModel):
    """The figures of one row of a study."""

    title: str
    figures: list[FigureData]


class RankingData(BaseModel):
    """A ranking as a table."""

    title: str
    heads: list[str]
    rows: list[list[str]]


class StudyReport(BaseModel):
    """The results of a study beside the published ones; figures that were not measured say so."""

    name: str
    title: str
    question: str
    source: str
    summary: str
    n_measured: int
    groups: list[FigureGroup]
    rankings: list[RankingData]
    assumptions: list[str]
    command: str


@router.get("")
def list_studies() -> StudyList:
    """List the studies that are shipped with lab2048."""
    found = [StudyData(name=each.name, title=each.title, doc=each.question) for each in _known().values()]
    return StudyList(studies=found)


@router.post("")
def begin(lab: LabOf, body: StudyBody) -> JobData:
    """Start a study, or resume it; finished rows are saved."""
    known = _known()
    if body.name not in known:
        raise NotFoundError(f"there is no study {body.name}: /api/studies lists all studies")
    if (job := lab.jobs.find("study", body.name)) and job.is_active:
        raise ConflictError(f"study {body.name} is running already: {job.id}")
    words = ["study", "run", body.name, *_size_words(body.size), *body.cluster_words()]
    title = known[body.name].title
    return lab.jobs.start("study", title, words, request=body.model_dump(), resume_words=words).data()


@router.get("/{study}/report")
def report(name: StudyName, size: AskedSize = "quick") -> StudyReport:
    """Return what a study has measured so far, beside the published figures."""
    from lab2048.views.study.figure import ranking_cells
    from lab2048.views.study.text import summary

    found = _report(name, size)
    groups: dict[str, FigureGroup] = {}
    for line in found.lines:
        group = groups.setdefault(line.row.id, FigureGroup(title=line.row.title, figures=[]))
        group.figures.append(_figure(line))
    rankings = [(each.ranking.title, *ranking_cells(each, found.size)) for each in found.ranked]
    return StudyReport(
        name=name,
        title=found.study.title,
        question=found.study.question,
        source=found.study.source,
        summary=summary(found),
        n_measured=found.n_measured,
        groups=list(groups.values()),
        rankings=[RankingData(title=title, heads=heads, rows=rows) for title, heads, rows in rankings],
        assumptions=list(found.study.assumptions),
        command=command_line(["study", "report", name, *_size_words(size), "--html", f"{name}.html"]),
    )


@router.get("/{study}/chart", response_class=Response, responses={200: {"content": {"image/svg+xml": {}}}})
def chart(name: StudyName, size: AskedSize = "quick") -> Response:
    """Return the chart of a report as SVG."""
    from lab2048.views.study.chart import report_svg

    return Response(report_svg(_report(name, size)), media_type="image/svg+xml")


def _report(name: str, size: Size) -> "Report":
    from lab2048.studies.report import make_report
    from lab2048.studies.result import ResultFolder

    study = _known().get(name)
    if study is None:
        raise NotFoundError(f"there is no study {name}: /api/studies lists all studies")
    return make_report(ResultFolder(study, "test" if size == "tiny" else size, SEED))


def _figure(line: "Line") -> FigureData:
    from lab2048.views.study.figure import write_ours, write_published

    ours, interval, n = write_ours(line)
    return FigureData(
        measure=line.figure.measure.title,
        published=write_published(line),
        where=line.figure.where,
        ours=ours,
        interval=interval,
        n=str(n),
        word=line.agreement.word,
        agreement=str(line.agreement),
    )


def _size_words(size: Size) -> list[str]:
    return [] if size == "full" else [f"--{size}"]


def _known() -> "dict[str, Study]":
    from lab2048.studies.reading import load_study, study_names

    return {name: load_study(name) for name in study_names()}

"""`/api/studies`: published experiments, repeated as jobs."""

from typing import TYPE_CHECKING, Literal

from fastapi import APIRouter
from pydantic import BaseModel, Field

from lab2048.jobs.job import JobData
from lab2048.views.web.errors import ConflictError, NotFoundError
from lab2048.views.web.serialize.schema import ERRORS, NAME, Body
from lab2048.views.web.state import LabOf

if TYPE_CHECKING:
    from lab2048.studies.model import Study

router = APIRouter(prefix="/api/studies", tags=["studies"], responses=ERRORS)


class StudyData(BaseModel):
    """A study that can be run."""

    name: str
    title: str
    doc: str


class StudyList(BaseModel):
    """All studies."""

    studies: list[StudyData]


class StudyBody(Body):
    """A study to run; `full` plays as many games as were published."""

    name: str = Field(pattern=NAME)
    size: Literal["tiny", "quick", "full"] = "quick"


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
    words = ["study", "run", body.name, *([] if body.size == "full" else [f"--{body.size}"])]
    title = known[body.name].title
    return lab.jobs.start("study", title, words, request=body.model_dump(), resume_words=words).data()


def _known() -> "dict[str, Study]":
    from lab2048.studies.reading import load_study, study_names

    return {name: load_study(name) for name in study_names()}

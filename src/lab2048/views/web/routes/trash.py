"""`/api/trash`: what was deleted since the server started, and how to restore it."""

from typing import Annotated

from fastapi import APIRouter, Path
from pydantic import BaseModel

from lab2048.views.web.serialize.schema import ERRORS
from lab2048.views.web.state import LabOf

router = APIRouter(prefix="/api/trash", tags=["trash"], responses=ERRORS)
Key = Annotated[str, Path(alias="key", pattern=r"^deleted-[0-9]{1,9}$")]


class TrashData(BaseModel):
    """The size of what was deleted and can be restored."""

    bytes: int


class RestoredData(BaseModel):
    """What was restored."""

    restored: str


@router.get("")
def show(lab: LabOf) -> TrashData:
    """Return the size of the trash."""
    return TrashData(bytes=lab.trash.n_bytes)


@router.delete("")
def empty(lab: LabOf) -> TrashData:
    """Delete everything in the trash for good, which frees its disk space."""
    lab.trash.empty()
    return TrashData(bytes=lab.trash.n_bytes)


@router.post("/{key}/restore")
def restore(lab: LabOf, key: Key) -> RestoredData:
    """Restore a deleted training, checkpoint, table or job."""
    return RestoredData(restored=lab.trash.restore(key))

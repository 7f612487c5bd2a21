"""`/api/status`: how the server stands."""

from pydantic import BaseModel


class StatusData(BaseModel):
    """Whether players answer at once, and what is going on."""

    program: str
    ready: bool
    doing: str
    cores: int
    interrupted: list[str]
    store: str


class ReadyData(BaseModel):
    """Whether something can be asked now; if not, what is being prepared."""

    ready: bool
    doing: str

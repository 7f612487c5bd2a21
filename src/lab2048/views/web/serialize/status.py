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

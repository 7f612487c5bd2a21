"""JSON schemas shared by several routes."""

from datetime import date
from typing import TYPE_CHECKING, Any, Literal

from fastapi.responses import Response
from pydantic import BaseModel, ConfigDict, Field

from lab2048.extras import need
from lab2048.rules import Rules

if TYPE_CHECKING:
    from lab2048.views.charts import Chart

MAX_TEXT = 2000  # of a board
MAX_SPEC = 500  # of a player
NAME = r"^[a-z0-9][a-z0-9_-]{0,39}$"  # of a training or a table: never a path


class Body(BaseModel):
    """Base class of request bodies; unknown fields are rejected."""

    model_config = ConfigDict(extra="forbid")


class JobBody(Body):
    """Base class of requests that start a job."""

    cluster: Literal["auto", "local"] | None = Field(
        default=None,
        description="Run on a Ray cluster: the one that is there (auto), or one that is started for this job (local).",
    )

    def cluster_words(self) -> list[str]:
        """Return the words of the command line; raise MissingPackageError if Ray is not installed."""
        if self.cluster is None:
            return []
        need("cluster")
        return ["--cluster", self.cluster]


class DamagedData(BaseModel):
    """Something in the data folder that cannot be used, and why; it can be deleted like a good one."""

    name: str
    state: Literal["damaged", "unfinished"] = "damaged"
    reason: str
    bytes: int


class GoneData(BaseModel):
    """What was deleted, and the key that restores it until the server ends."""

    deleted: str
    undo: str


class Error(BaseModel):
    """An error: one line of text, and its code, field and hint."""

    error: str
    code: str
    field: str | None = None
    hint: str | None = None


ERRORS: dict[int | str, dict[str, Any]] = {"4XX": {"model": Error}, 503: {"model": Error}}  # of every route


class RulesBody(Body):
    """Rules with the options of the command line."""

    board: str = Field(max_length=MAX_TEXT, examples=["4x4"])
    goal: int = Field(default=2048, ge=4, le=2**31)
    spawn: str = Field(default="2:0.9,4:0.1", max_length=500)
    start: int | None = Field(default=None, ge=0, le=64)
    spawner: str = Field(default="fair", max_length=10)
    stop_at_goal: bool = False

    def read(self) -> Rules:
        """Return the rules; raise LabError if they are invalid."""
        return Rules.from_text(
            self.board,
            goal=self.goal,
            spawn=self.spawn,
            start=self.start,
            spawner=self.spawner,
            stop_at_goal=self.stop_at_goal,
        )


class RulesData(BaseModel):
    """Rules with every field."""

    board: str
    goal: int
    spawn: str
    start: int
    spawner: str
    stop_at_goal: bool = False

    @classmethod
    def of(cls, rules: Rules) -> "RulesData":
        return cls.model_validate_json(rules.json_text)


class EntryData(BaseModel):
    """An entry of the map: its centre, and its cell or -1 for a brick."""

    x: float
    y: float
    cell: int
    outline: int  # which of the shape's outlines
    name: str


class MoveData(BaseModel):
    """A move: its keys, name and direction."""

    letter: str
    name: str
    glyph: str
    dx: float
    dy: float
    angle: float
    arrow_key: str
    digit: str


class ShapeData(BaseModel):
    """The drawing of a board: outlines and lines."""

    board: str
    name: str
    n_cells: int
    kind: str
    sizes: list[int]
    size_text: str
    row_noun: str
    map_prefix: str
    boxed: bool
    left: float
    top: float
    width: float
    height: float
    outlines: list[list[tuple[float, float]]]
    entries: list[EntryData]
    rows: list[list[int]]
    moves: list[MoveData]
    lines: list[list[list[int]]]
    holding: list[list[int]]  # for each move, the cells that hold anchors: none may be left empty
    free_rank: int  # of free large tiles, which never merge; 0 if the board has none
    n_symmetries: int


class TurnData(BaseModel):
    """A move, its reward, and the tile that spawned."""

    number: int
    move: int
    mover: str
    reward: int
    cell: int
    rank: int


class AutoData(BaseModel):
    """Autoplay: the player and its speed."""

    player: str
    speed: float
    running: bool
    error: str = ""


class StateData(BaseModel):
    """The state of a game."""

    id: int
    rev: int
    rules: RulesData
    seed: int
    is_from_seed: bool  # False for a game from elsewhere whose tiles were recorded
    ranks: list[int]
    score: int
    n_moves: int
    highest: int
    won: bool
    over: bool
    legal: list[int]
    can_undo: bool
    can_redo: bool
    best: int
    best_assisted: int
    mover: str
    movers: list[tuple[int, str]]
    saved: bool  # False if a crash of the server could lose the last moves
    auto: AutoData | None


class ChangeData(BaseModel):
    """A change of a game."""

    state: StateData
    turns: list[TurnData]
    kind: Literal["moves", "undo", "redo", "auto", "open", "saved"]


class DeletedData(BaseModel):
    """The id of the deleted game."""

    deleted: int


class GameData(BaseModel):
    """A game with everything needed to show it."""

    state: StateData
    shape: ShapeData
    moves: str
    first: list[int]
    day: date | None  # whose board of the day it is
    commands: dict[str, str]


class TableData(BaseModel):
    """The numbers behind a chart."""

    columns: list[str]
    rows: list[list[Any]]


class ChartData(BaseModel):
    """A chart: a figure for plotly, and the same as a table."""

    title: str
    figure: dict[str, Any]
    table: TableData
    csv: str

    @classmethod
    def of(cls, chart: "Chart", address: str) -> "ChartData":
        """Return a chart as data; `address` is its route, which with /csv returns its numbers."""
        path, mark, query = address.partition("?")
        table = TableData(columns=chart.columns, rows=chart.rows)
        return cls(title=chart.title, figure=chart.figure, table=table, csv=f"{path}/csv{mark}{query}")


# Arguments of a route that returns a CSV file.
CSV: dict[str, Any] = {"response_class": Response, "responses": {200: {"content": {"text/csv": {}}}}}


def csv_response(text: str, name: str) -> Response:
    """Return comma-separated values as a file to save."""
    headers = {"content-disposition": f'attachment; filename="{name}.csv"'}
    return Response(text, media_type="text/csv; charset=utf-8", headers=headers)


class CommandData(BaseModel):
    """The equivalent command line."""

    command: str


class StatusData(BaseModel):
    """Whether players are ready, and what is being prepared."""

    program: str
    ready: bool
    doing: str
    cores: int
    interrupted: list[str]
    store: str  # why games cannot be saved; empty if they can
    unsaved: int  # games that are not saved yet for this reason


class ReadyData(BaseModel):
    """Whether something can be asked now; if not, what is being prepared."""

    ready: bool
    doing: str

"""`/api/games`: list, export and import saved games."""

import io
import json
from typing import Annotated

from fastapi import APIRouter, Path, Query, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import Response
from pydantic import BaseModel

from lab2048.errors import StoreError
from lab2048.records.exchange import ImportCounts, import_lines, write_line
from lab2048.rules import Board
from lab2048.views.web.errors import NotFoundError, TooLargeError
from lab2048.views.web.routes.events import read_ids
from lab2048.views.web.serialize.schema import ERRORS, MAX_SPEC, MAX_TEXT
from lab2048.views.web.state import Lab, LabOf

MAX_LISTED = 500
MAX_EXPORTED = 10_000
MAX_MOVES = 300_000  # per import: replaying them takes half a minute
LINES = "application/x-ndjson"

router = APIRouter(prefix="/api/games", tags=["games"], responses=ERRORS)


class Listed(BaseModel):
    """A game in the list."""

    id: int
    created: str
    kind: str
    board: str
    player: str
    players: list[str]
    seed: int
    score: int
    highest: int
    n_moves: int
    won: bool
    seconds: float


class GameList(BaseModel):
    """A page of the list of saved games."""

    games: list[Listed]
    has_more: bool
    damaged: int


class Imported(BaseModel):
    """The result of an import."""

    imported: int
    already: int
    refused: int
    errors: list[str]
    ids: list[int]


@router.get("")
def list_games(
    lab: LabOf,
    limit: Annotated[int, Query(ge=1, le=MAX_LISTED)] = 50,
    offset: Annotated[int, Query(ge=0, le=10**9)] = 0,
    board: Annotated[str | None, Query(max_length=MAX_TEXT)] = None,
    player: Annotated[str | None, Query(max_length=MAX_SPEC)] = None,
    kind: Annotated[str | None, Query(max_length=20)] = None,
    best: bool = False,
) -> GameList:
    """List saved games, newest or best first."""
    damages: list[StoreError] = []
    entries = lab.store.entries(
        board=Board.from_text(board).to_text() if board else None,
        player=player or None,
        kind=kind or None,
        best=best,
        limit=limit + 1,
        offset=offset,
        on_damage=damages.append,
    )
    write = lab.library.write
    games = [
        Listed(
            **entry._asdict()
            | {
                "player": write(entry.player),
                "players": list(dict.fromkeys([write(entry.player), *(write(name) for _, name in entry.movers)])),
                "highest": entry.max_tile,
                "won": entry.moves_to_goal is not None,
            }
        )
        for entry in entries[:limit]
    ]
    return GameList(games=games, has_more=len(entries) + len(damages) > limit, damaged=len(damages))


@router.get("/export", response_class=Response, responses={200: {"content": {LINES: {}}}})
def export(lab: LabOf, ids: Annotated[str, Query(max_length=20_000)] = "") -> Response:
    """Export games as JSON lines."""
    chosen = read_ids(ids, 2000) if ids else lab.store.ids()
    if len(chosen) > MAX_EXPORTED:
        raise TooLargeError(f"{len(chosen)} games are too many for the page: lab2048 games export writes all of them")
    return _lines(lab, chosen, "games.jsonl")


@router.get("/unsaved", response_class=Response, responses={200: {"content": {LINES: {}}}})
def export_unsaved(lab: LabOf) -> Response:
    """Export the open games that could not be saved yet, as JSON lines."""
    text = "".join(json.dumps(episode.to_json()) + "\n" for episode in lab.open_games.not_saved_yet())
    return _attachment(text, "lab2048-unsaved.jsonl")


@router.get("/{game}/export", response_class=Response, responses={200: {"content": {LINES: {}}}})
def export_one(lab: LabOf, game: Annotated[int, Path(ge=1, le=2**63 - 1)]) -> Response:
    """Export one game as a JSON line."""
    return _lines(lab, [game], f"game-{game}.jsonl")


@router.post(
    "/import",
    openapi_extra={"requestBody": {"content": {LINES: {"schema": {"type": "string"}}}, "required": True}},
)
async def import_games(lab: LabOf, request: Request) -> Imported:
    """Import games from JSON lines, or a replay of another program; each is replayed and verified first."""
    return await run_in_threadpool(_import, lab, await request.body())


def _lines(lab: Lab, ids: list[int], name: str) -> Response:
    for id_ in ids:
        if not lab.store.has(id_):
            raise NotFoundError(f"there is no game {id_}: /api/games lists all games")
    text = "".join(write_line(lab.store.get(id_)) + "\n" for id_ in ids)
    return _attachment(text, name)


def _attachment(text: str, name: str) -> Response:
    return Response(text, media_type=LINES, headers={"content-disposition": f'attachment; filename="{name}"'})


def _import(lab: Lab, body: bytes) -> Imported:
    n_moves = _count_moves(body)
    if n_moves > MAX_MOVES:
        raise TooLargeError(f"{n_moves} moves are too many for the page: lab2048 games import FILE accepts them")
    counts, errors = ImportCounts(), []
    import_lines(
        lab.store,
        io.BytesIO(body),
        counts,
        refuse=lambda number, why: errors.append(f"line {number}: {why}" if number else why),
        check=lab.check_running,  # replaying may take half a minute
        is_one_batch=True,  # a request that is refused changes nothing
    )
    return Imported(
        imported=counts.imported,
        already=counts.already,
        refused=counts.refused,
        errors=errors[:20],
        ids=counts.ids,
    )


def _count_moves(body: bytes) -> int:
    """Return an upper bound of the number of moves, without replaying."""
    total = 0
    for line in body.splitlines():
        if not line.lstrip().startswith(b"{"):
            total += len(line)
            continue
        try:
            data = json.loads(line)
            total += len(data["moves"]) if isinstance(data["moves"], str) else 0
        except (ValueError, TypeError, KeyError, RecursionError):
            continue
    return total

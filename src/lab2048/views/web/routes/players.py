"""`/api/players`: the players and their options."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field

from lab2048.errors import LabError, UsageError
from lab2048.extras import has_extra, missing_error
from lab2048.players import default_spec, names
from lab2048.players.registry import fit_player, make_player, options, player_class, registered_names, summary
from lab2048.rules import Board, Rules
from lab2048.views.number import count
from lab2048.views.web.serialize.schema import ERRORS, MAX_SPEC, MAX_TEXT, Body
from lab2048.views.web.state import Lab, LabOf

router = APIRouter(prefix="/api/players", tags=["players"], responses=ERRORS)

# Offered first, after the default player.
_PRESETS = {
    "expectimax": "Expectimax",
    "montecarlo": "Monte Carlo",
    "mcts": "Tree search",
    "greedy": "Greedy",
    "random": "Random",
}
_DEEP = ("c51", "net")  # players that use a deep network


class PlayerOption(BaseModel):
    """One option of a player."""

    name: str
    kind: str
    default: Any
    doc: str


class PlayerData(BaseModel):
    """A player and its options."""

    name: str
    doc: str
    unit: str
    options: list[PlayerOption]


class PresetData(BaseModel):
    """A player that the page offers in its list."""

    spec: str
    label: str
    doc: str
    fits: bool
    minor: bool = Field(default=False, description="A checkpoint: listed separately.")


class PlayerList(BaseModel):
    """The players for a board."""

    default: str
    presets: list[PresetData]
    players: list[PlayerData]


class SpecBody(Body):
    """A player spec as typed."""

    spec: str = Field(max_length=MAX_SPEC)
    board: str = Field("", max_length=MAX_TEXT, description="a board that it is to play on; empty: any")


class SpecData(BaseModel):
    """A canonical player spec."""

    spec: str


@router.get("")
def list_players(lab: LabOf, board: Annotated[str, Query(max_length=MAX_TEXT)] = "4x4") -> PlayerList:
    """List the players for a board, and the presets to offer first."""
    the_board = Board.from_text(board)
    default = default_spec(_plain_rules(the_board))
    found = [player for name in names() if not _needs_torch(name) and (player := _describe(name))]
    return PlayerList(default=default, presets=_presets(lab, default, the_board), players=found)


@router.post("/check")
def check(lab: LabOf, body: SpecBody) -> SpecData:
    """Return the canonical form of a player spec, or an error.

    It is an error, too, if the player lacks its network or the package it needs, or cannot play on the board.
    """
    if _needs_torch(body.spec.strip()):
        raise missing_error("deep", ["torch"])
    name, _, options = body.spec.strip().partition(":")
    if name in _DEEP and "weights=" not in options:
        raise UsageError(f"{name} needs a network: expected {name}:weights=NAME, the name of a training")
    spec = lab.library.read(body.spec)
    if body.board:
        fit_player(spec, _plain_rules(Board.from_text(body.board)))
    return SpecData(spec=lab.library.write(spec))


def _plain_rules(board: Board) -> Rules:
    """Return the rules of an empty board of this shape."""
    return Rules.from_text(Board(board.shape, (0,) * board.shape.n_cells).to_text())


def _describe(name: str) -> PlayerData | None:
    """Describe a player; None if it is a person or does not load."""
    try:
        player = player_class(name)
    except LabError:
        return None
    if player.is_interactive:
        return None
    found = [
        PlayerOption(
            name=key,
            kind=(
                each.type if isinstance(each.type, str) else str(getattr(each.type, "__name__", each.type))
            ).removesuffix(" | None"),
            default=each.default if isinstance(each.default, int | float | str | None) else str(each.default),
            doc=each.metadata.get("doc", ""),
        )
        for key, each in options(name).items()
    ]
    return PlayerData(name=name, doc=summary(name), unit=player.unit, options=found)


def _presets(lab: Lab, default: str, board: Board) -> list[PresetData]:
    """List the players to offer: solved tables first, those that do not fit this board last."""
    label = "Champion" if default == "ntuple" else default.capitalize()
    usual = [PresetData(spec=default, label=label, doc=summary(default), fits=True)]
    usual += [
        PresetData(spec=name, label=label, doc=summary(name), fits=True)
        for name, label in _PRESETS.items()
        if name != default and name in names()
    ]
    own = [PresetData(spec=name, label=name, doc=summary(name), fits=True) for name in registered_names()]
    found = [*_tables(lab, board), *usual, *own, *_networks(lab, board)]
    return sorted(found, key=lambda preset: (preset.minor, not preset.fits))  # otherwise in the order above


def own_reviewers(lab: Lab, board: Board) -> Iterator[str]:
    """Yield the tables and networks made here that can review games on a board; looks for them only when asked."""
    for list_presets in (_tables, _networks):
        for preset in list_presets(lab, board):
            if preset.fits and not preset.minor and preset.spec.partition(":")[0] in ("optimal", "ntuple"):
                yield lab.library.read(preset.spec)


def _tables(lab: Lab, board: Board) -> list[PresetData]:
    from lab2048.views.web.routes.tables import table_lists

    return [
        PresetData(
            spec=table.spec,
            label=f"Optimal {table.name}",
            doc=f"perfect play from the table {table.name}",
            fits=Board.from_text(table.rules.board).shape == board.shape,
        )
        for table in table_lists(lab)[0]
    ]


def _networks(lab: Lab, board: Board) -> list[PresetData]:
    """List the trained networks and their checkpoints."""
    from lab2048.views.web.services.networks import checkpoint_list, training_list

    found = []
    for training in training_list(lab):
        fits = Board.from_text(training.board).shape == board.shape and not _needs_torch(training.spec)
        doc = f"trained here on {training.board}, {count(training.n_games, 'game')}"
        found.append(PresetData(spec=training.spec, label=training.name, doc=doc, fits=fits))
        if not fits:
            continue
        for each in checkpoint_list(lab, training.name):
            if each.number:
                doc = f"{training.name} after {count(each.n_games, 'game')}"
                label = f"{training.name}@{each.number}"
                found.append(PresetData(spec=each.spec, label=label, doc=doc, fits=True, minor=True))
    return found


def _needs_torch(spec: str) -> bool:
    """Return whether a player needs torch and it is not installed."""
    return spec.partition(":")[0] in _DEEP and not has_extra("deep")


def unit_of_player(spec: str) -> str:
    """Return the unit of a player's values; that of `optimal` depends on what its table was solved for."""
    name = spec.partition(":")[0]
    if name != "optimal":
        return player_class(name).unit
    from lab2048.views.web.routes.tables import open_path

    player: Any = make_player(spec)
    objective = open_path(Path(player.table)).problem.objective.value if player.table else player.objective
    return "chance" if objective == "win" else "score"

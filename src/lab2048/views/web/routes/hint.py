"""`/api/hint`: values of every legal move, from any player; and why a player made a move."""

import time
from typing import Annotated

from fastapi import APIRouter, Path
from pydantic import BaseModel, Field

from lab2048.arena.annotation import has_notes
from lab2048.arena.review.grade import Grade, grade_of, share_of
from lab2048.errors import UsageError
from lab2048.jobs.command_line import command_line, file_options, rules_options
from lab2048.players import Decision, Player, default_spec
from lab2048.rules import Board, Rules
from lab2048.rules.motion import motions
from lab2048.rules.move import move_name
from lab2048.views.number import count
from lab2048.views.web.errors import NotFoundError
from lab2048.views.web.routes.game import Id
from lab2048.views.web.routes.players import unit_of_player
from lab2048.views.web.serialize.schema import ERRORS, MAX_SPEC, MAX_TEXT, Body, RulesBody
from lab2048.views.web.state import Gone, LabOf

DEFAULT_SEED = 1  # of `lab2048 hint`

LOW_CONFIDENCE = ". Low confidence: the network hardly knows such boards, so these values come from a plain search."

router = APIRouter(prefix="/api", responses=ERRORS)


class HintBody(Body):
    """A game, or a board with its rules; and the player to ask."""

    game: int | None = Field(default=None, ge=1, le=2**63 - 1)
    board: str | None = Field(default=None, max_length=MAX_TEXT)
    rules: RulesBody | None = None
    player: str | None = Field(default=None, max_length=MAX_SPEC)


class ValueData(BaseModel):
    """The value of a move."""

    move: int
    name: str
    value: float
    loss: float
    error: float | None
    grade: str


class EndgameData(BaseModel):
    """What an endgame table knows about the best move: how likely the goal is, and under which condition."""

    rate: float
    goal: int
    formation: str
    text: str


class HintData(BaseModel):
    """The best move, and the value of every legal move."""

    player: str
    ms: float
    move: int | None
    unit: str
    depth: int
    nodes: int
    confidence: float | None  # share of the network's weights for this board that were trained; None without a network
    endgame: EndgameData | None  # None unless an endgame table chose the move
    rev: int | None
    values: list[ValueData]
    sentence: str
    command: str


class ConsideredData(BaseModel):
    """The board after a legal move, as a shield judges it."""

    move: str
    is_safe: bool
    state_score: int
    horizontal_score: int
    n_empty_lines: int
    mergeable: int
    is_locked: bool


class NoteData(BaseModel):
    """Why a player made a move: a few sentences, and what a shield compared.  Empty for players without notes."""

    turn: int
    text: str = ""
    inner: str = ""
    proposed: str = ""
    safe: list[str] = []
    masked: str = ""
    made: str = ""
    considered: list[ConsideredData] = []


@router.post("/hint", tags=["hint"])
def hint(lab: LabOf, gone: Gone, body: HintBody) -> HintData:
    """Ask a player for the value of every legal move."""
    rules, board, rev, seed = _question(lab, body)
    spec = lab.library.read(body.player or default_spec(rules))
    words = ["hint", board.to_text(), *rules_options(rules, has_board=False, has_start=False, has_stop=False)]
    words += [*(["--seed", str(seed)] if seed != DEFAULT_SEED else []), "--player", spec, *file_options([spec])]
    unit = unit_of_player(spec)
    if not board.legal_moves():
        return HintData(
            player=lab.library.write(spec), ms=0, move=None, unit=unit, depth=0, nodes=0, confidence=None,
            endgame=None, rev=rev, values=[], sentence="No move is possible.", command=command_line(words),
        )  # fmt: skip
    begin = time.perf_counter()
    decision = lab.players.decide(spec, rules, board, seed, gone=gone)
    if decision.is_guess:  # the values come from the evaluator that replaces the network, and are no scores
        unit = Player.unit
    return HintData(
        player=lab.library.write(spec),
        ms=round(1000 * (time.perf_counter() - begin), 2),
        move=decision.move,
        unit=unit,
        depth=decision.depth,
        nodes=decision.nodes,
        confidence=decision.confidence,
        endgame=EndgameData(**decision.endgame.to_json()) if decision.endgame else None,
        rev=rev,
        values=_values(board, decision, unit),
        sentence=sentence(board, decision.move) + _added(decision),
        command=command_line(words),
    )


def _added(decision: Decision) -> str:
    """Return what the sentence of a hint says about where the move comes from."""
    if decision.endgame is not None:
        return f". {decision.endgame.text}"
    return LOW_CONFIDENCE if decision.is_guess else ""


@router.get("/games/{game}/notes/{turn}", tags=["games"])
def note(lab: LabOf, id_: Id, turn: Annotated[int, Path(ge=1, le=10_000_000)]) -> NoteData:
    """Say why the player of a move made it: the player is asked again."""
    session = lab.open_games.get(id_)
    with session.lock:
        game = session.game
        if turn > len(game.turns):
            raise NotFoundError(f"game {id_} has no move {turn}: expected 1 to {len(game.turns)}")
        spec, made = session.mover(turn), int(game.turns[turn - 1].move)
        board = game.turns[turn - 2].board if turn > 1 else game.first_board
    if not has_notes(spec):
        return NoteData(turn=turn)
    lab.players.check_ready(spec, game.rules)
    found = lab.annotator.note(spec, game.rules, game.seed, board, made)
    return NoteData(turn=turn, **found.to_json()) if found else NoteData(turn=turn)


def _question(lab: LabOf, body: HintBody) -> tuple[Rules, Board, int | None, int]:
    if body.game is not None:
        opened = lab.open_games.get(body.game)
        with opened.lock:
            return opened.game.rules, opened.game.board, opened.rev, opened.game.seed
    if body.board is None:
        raise UsageError("a hint needs a game or a board: expected game or board")
    board = Board.from_text(body.board)
    if body.rules is not None:
        rules = body.rules.read()
        if rules.shape != board.shape:
            raise UsageError(
                f"board {board.to_text()} does not have the shape of its rules: expected {rules.shape.size_name}",
                field="board",
            )
        return rules, board, None, DEFAULT_SEED
    plain = Board(board.shape, (0,) * board.shape.n_cells)
    return Rules.from_text(plain.to_text()), board, None, DEFAULT_SEED


def _values(board: Board, decision: Decision, unit: str) -> list[ValueData]:
    best = finite(decision.values[decision.move])
    found = []
    for move in sorted(decision.values, key=lambda move: (-decision.values[move], move != decision.move)):
        value, error = finite(decision.values[move]), decision.errors.get(move)
        loss = best - value
        noise = 2 * ((error or 0.0) ** 2 + decision.errors.get(decision.move, 0.0) ** 2) ** 0.5
        found.append(
            ValueData(
                move=move,
                name=move_name(board.shape.moves[move]),
                value=value,
                loss=loss,
                error=None if error is None else finite(error),
                grade=grade(loss, best, unit, noise) if move != decision.move else "best",
            )
        )
    return found


def finite(value: float) -> float:
    """Limit a value to what JSON can hold: it has no infinity, which a lost game may be worth.

    >>> finite(float("-inf")), finite(0.5)
    (-1e+300, 0.5)
    """
    return max(-1e300, min(value, 1e300))


def grade(loss: float, best: float, unit: str, noise: float = 0.0) -> Grade:
    """Return the grade of a move by its loss; "unclear" if the loss is within the noise.

    >>> print(grade(0.0, 0.9, "chance"), grade(0.2, 0.9, "chance"), grade(3.0, 500.0, "score", noise=10.0))
    best blunder unclear
    """
    if loss == 0:
        return Grade.BEST
    if unit not in ("score", "chance") or loss <= noise or best <= 0:
        return Grade.UNCLEAR
    return max(grade_of(share_of(loss, best)), Grade.GOOD, key=list(Grade).index)


def sentence(board: Board, move: int) -> str:
    """Describe what a move does.

    >>> sentence(Board.from_text("2 2 . . / . . . . / . . . . / . . . 4"), 3)
    'Left: makes 4, 14 empty cells'
    """
    after, _ = board.slide(move)
    joined = {
        motion.end
        for motion in motions(board.ranks, board.shape.lines[move], board.shape.free_rank)
        if motion.is_merged
    }
    made = sorted((2 ** after.ranks[cell] for cell in joined), reverse=True)
    what = f"makes {_list(made)}" if made else "no merge"
    return f"{move_name(board.shape.moves[move]).capitalize()}: {what}, {count(after.n_empty, 'empty cell')}"


def _list(tiles: list[int]) -> str:
    words = [str(tile) for tile in tiles]
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"

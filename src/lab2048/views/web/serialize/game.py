"""Shapes and games as data for the page."""

from itertools import chain

from lab2048.arena.session import Session
from lab2048.rules import Board, Turn
from lab2048.views.web.serialize.schema import (
    AutoData,
    EntryData,
    MoveData,
    RulesData,
    ShapeData,
    StateData,
    TurnData,
)
from lab2048.views.web.services.player_names import Library


def shape_data(board: Board) -> ShapeData:
    """Return the drawing of a shape."""
    shape = board.shape
    outlines = list(dict.fromkeys(chain.from_iterable(shape.outlines)))
    columns = (chain.from_iterable(rows) for rows in (shape.rows, shape.centres, shape.outlines, shape.names))
    entries = [
        EntryData(x=x, y=y, cell=cell, outline=outlines.index(outline), name=name)
        for cell, (x, y), outline, name in zip(*columns, strict=True)
    ]
    left, top, right, bottom = shape.bounds
    return ShapeData(
        board=board.to_text(),
        name=shape.size_name,
        n_cells=shape.n_cells,
        kind=shape.kind,
        sizes=list(shape.sizes),
        size_text=shape.size_text,
        row_noun=shape.row_noun,
        map_prefix=shape.map_prefix,
        boxed=shape.is_boxed,
        left=left,
        top=top,
        width=right - left,
        height=bottom - top,
        outlines=[list(outline) for outline in outlines],
        entries=entries,
        rows=[list(row) for row in shape.rows],
        moves=[MoveData(name=each.label, **each._asdict()) for each in shape.directions],
        lines=[[list(line) for line in lines] for lines in shape.lines],
        holding=[list(cells) for cells in shape.holding],
        free_rank=shape.free_rank,
        n_symmetries=len(shape.symmetries),
    )


def state_data(session: Session, best: tuple[int, int], auto: AutoData | None, library: Library) -> StateData:
    """Return the state of a game; the caller holds its lock."""
    game = session.game
    board = game.board
    movers = [(number, library.write(name)) for number, name in session.movers]
    legal = [int(move) for move in game.legal_moves()]
    return StateData(
        id=session.id or 0,
        rev=session.rev,
        rules=RulesData.of(game.rules),
        seed=game.seed,
        is_from_seed=not game.given,
        ranks=list(board.ranks),
        score=game.score,
        n_moves=len(game.turns),
        highest=board.max_tile,
        won=game.moves_to_goal is not None,
        over=not legal,
        legal=legal,
        can_undo=bool(game.turns),
        can_redo=bool(game.undone),
        best=best[0],
        best_assisted=best[1],
        mover=movers[-1][1] if movers else library.write(session.player),
        movers=movers,
        saved=session.is_saved,
        auto=auto,
    )


def turn_data(session: Session, turns: list[Turn], library: Library) -> list[TurnData]:
    """Return turns of the current game of a session; the caller holds its lock."""
    return [
        TurnData(
            number=turn.number,
            move=int(turn.move),
            mover=library.write(session.mover(turn.number)),
            reward=turn.reward,
            cell=turn.spawn[0],
            rank=turn.spawn[1],
        )
        for turn in turns
    ]

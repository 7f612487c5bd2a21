"""`lab2048 probe` and `lab2048 table`: read, verify and export the table of a solved board."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lab2048.cli.command import Commands
from lab2048.cli.option_types import AtLeast, OneOf
from lab2048.cli.options import JsonOption, read_board
from lab2048.cli.output import print_json
from lab2048.cli.progress import make_ready, progress_line, working
from lab2048.errors import BoardError

if TYPE_CHECKING:
    from lab2048.rules import Board
    from lab2048.solver.endgame.probe import Endgame
    from lab2048.solver.probing import MoveValue, Probing

app = Commands(
    "Verify, export, list and delete tables of solved boards.\n\nExample: lab2048 table verify tables/3x3-256"
)

KINDS = ("sqlite", "parquet", "csv")
FolderArgument = Annotated[Path, typer.Argument(metavar="DIR", help="Folder written by `lab2048 solve --out`.")]


@app.command()
def verify(
    folder: FolderArgument,
    sample: Annotated[
        int,
        typer.Option("--sample", metavar="N", help="Afterstates to recompute (0 = all)."),
        AtLeast(0),
    ] = 100_000,
    as_json: JsonOption = False,
) -> None:
    """Verify a table: checksums, order, and the Bellman equation for a sample or all of it.

    Example: lab2048 table verify tables/3x3-256 --sample 0
    """
    from lab2048.kernels.group import SOLVER
    from lab2048.solver.endgame.compact_table import CompactTable, open_table, verify_compact
    from lab2048.solver.endgame.probe import table_folder
    from lab2048.solver.verify import verify as prove
    from lab2048.views.number import count

    opened = open_table(table_folder(folder))
    make_ready(SOLVER)
    if isinstance(opened, CompactTable):
        with working("recomputing positions"):
            compact = verify_compact(opened, n_sample=sample)
        if as_json:
            print_json("table-verify-1", {"table": str(folder), **vars(compact)})
        else:
            print(f"verified: {compact.checked:,} of {compact.afterstates:,} afterstates recomputed")
        return
    with progress_line() as show:
        n_done, n_all = 0, max(1, len(opened.layers))

        def told(tile_sum: int) -> None:
            nonlocal n_done
            n_done += 1
            show(f"tile sum {tile_sum}", min(1.0, n_done / n_all))

        found = prove(opened, n_sample=sample, progress=told)
    if as_json:
        print_json("table-verify-1", {"table": str(folder), **vars(found)})
        return
    print(
        f"verified: {count(found.layers, 'layer')}, {found.checked:,} of {found.afterstates:,} afterstates recomputed"
    )


def probe(
    folder: Annotated[
        Path,
        typer.Argument(
            metavar="DIR", help="Folder of a table, or a formation that `lab2048 endgame build` built, such as L3-256."
        ),
    ],
    board: Annotated[
        str, typer.Argument(metavar="BOARD", help="Board to look up, or - to read it from standard input.")
    ],
    as_json: JsonOption = False,
) -> None:
    """Show the exact value of every legal move, and the best and worst spawns after the best one.

    For the table of a formation, BOARD is a whole board on which the large tiles stand as in the formation, or in a
    rotated or mirrored copy of it.

    Example: lab2048 probe tables/3x3-256 "2 4 # / # 2 # / # # #"
    """
    from lab2048.rules import Board
    from lab2048.rules.move import move_name
    from lab2048.solver.endgame.compact_table import open_table
    from lab2048.solver.endgame.probe import Endgame, is_endgame, table_folder
    from lab2048.views.text import render, wants_codes

    opened = open_table(table_folder(folder))
    state = Board.from_text(read_board(board))
    if is_endgame(opened) and not state.shape.has_large:
        _probe_endgame(Endgame(opened), state, as_json=as_json)
        return
    moves = opened.move_values(state)
    if not moves:
        raise BoardError(f"no legal move on {state.to_text()}: expected a board with a legal move")
    best = opened.best(moves)
    spawns = [] if opened.problem.is_decided(best.after) else _spawns(opened, best)
    if as_json:
        result = {
            "board": state.to_text(),
            "objective": opened.problem.objective.value,
            "value": best.value,
            "best": move_name(best.move),
            "moves": [_move_json(move) for move in moves],
            "spawns": {"best": spawns[:3], "worst": spawns[::-1][:3]},
        }
        print_json("probe-1", result)
        return
    print(render(state, colour=wants_codes(sys.stdout)))
    _print_moves(moves, best)
    for name, some in (("best spawns", spawns[:3]), ("worst spawns", spawns[::-1][:3])):
        if some:
            told = ", ".join(f"{spawn['tile']} on cell {spawn['cell']}: {spawn['value']:.9g}" for spawn in some)
            print(f"{name} after {move_name(best.move)}: {told}")


def _probe_endgame(endgame: "Endgame", state: "Board", *, as_json: bool) -> None:
    """Show what the table of a formation knows about a board of the whole game."""
    from lab2048.rules.move import move_name
    from lab2048.views.text import render, wants_codes

    found, rules = endgame.probe(state), endgame.formation.rules
    if not found.moves:
        raise BoardError(f"every move on {state.to_text()} moves a large tile: expected one that keeps the formation")
    best, leaving = endgame.best(found.moves), [move_name(move) for move in found.leaving]
    if as_json:
        result: dict[str, Any] = {
            "board": state.to_text(),
            "objective": endgame.table.problem.objective.value,
            "value": best.value,
            "best": move_name(best.move),
            "moves": [_move_json(move) for move in found.moves],
            "spawns": {"best": [], "worst": []},
            "formation": rules.board_text,
            "goal": rules.goal,
            "position": found.position.to_text(),
            "leaving": leaving,
        }
        print_json("probe-1", result)
        return
    print(render(state, colour=wants_codes(sys.stdout)))
    print(f"{rules.board_text}, goal {rules.goal}, {endgame.formation.while_text}")
    _print_moves(found.moves, best)
    for name in leaving:
        print(f"  {name:<11} moves a large tile")


def _print_moves(moves: "Sequence[MoveValue]", best: "MoveValue") -> None:
    """Print the value of every move, the best first."""
    from lab2048.rules.move import move_name

    for move in sorted(moves, key=lambda move: -move.value):
        mark = "*" if move is best else " "
        loss = "" if move.loss is None else f"   missed {move.loss:.6g}"
        print(f"{mark} {move_name(move.move):<11} {move.value:>18,.9f}{loss}")


def _move_json(move: "MoveValue") -> dict[str, Any]:
    from lab2048.rules.move import move_name

    loss = {} if move.loss is None else {"loss": move.loss}
    name, after = move_name(move.move), move.after.to_text()
    return {"move": name, "value": move.value, **loss, "reward": move.reward, "after": after}


def _spawns(table: "Probing", move: "MoveValue") -> list[dict[str, Any]]:
    """Return every spawn after a move with the value of the state, best first."""
    found = []
    for spawn in table.problem.rules.spawns(move.after):
        state = move.after.put(spawn.cell, spawn.rank)
        value, _ = table.state_value(state)
        found.append(
            {
                "cell": spawn.cell,
                "tile": 2**spawn.rank,
                "probability": spawn.probability,
                "value": value,
                "board": state.to_text(),
            }
        )
    return sorted(found, key=lambda spawn: -float(spawn["value"]))


@app.command("list")
def list_tables(
    folder: Annotated[
        Path | None, typer.Argument(metavar="DIR", help="Folder of tables (default: those of the page).")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """List the tables in a folder, also unfinished and damaged ones, with their sizes.

    Example: lab2048 table list
    """
    from lab2048.records.database import data_folder
    from lab2048.solver.table_folder import is_table_folder, state_of
    from lab2048.views.number import size

    top = folder or data_folder() / "tables"
    paths = [path for path in (sorted(top.iterdir()) if top.is_dir() else ()) if is_table_folder(path)]
    found = {path: state_of(path) for path in paths}
    if as_json:
        tables = [
            {"table": str(path), "state": at.state, "reason": at.reason, "bytes": at.n_bytes}
            for path, at in found.items()
        ]
        print_json("table-list-1", {"folder": str(top), "tables": tables})
        return
    for path, at in found.items():
        print(f"{path}: {at.state}, {size(at.n_bytes)}{f' ({at.reason})' if at.reason else ''}")
    if not found:
        print(f"no tables in {top}")


@app.command("delete")
def delete(
    folders: Annotated[
        list[Path], typer.Argument(metavar="DIR", help="Folders of tables, also of unfinished or damaged ones.")
    ],
    as_json: JsonOption = False,
) -> None:
    """Delete tables, for good; other files in their folders stay.

    Example: lab2048 table delete tables/3x3-256
    """
    from lab2048.solver.table_folder import delete_table
    from lab2048.views.number import count, size

    chosen = list(dict.fromkeys(folders))
    n_bytes = sum(map(delete_table, chosen))
    if as_json:
        print_json("table-delete-1", {"deleted": [str(folder) for folder in chosen], "bytes": n_bytes})
    else:
        print(f"deleted {count(len(chosen), 'table')}, {size(n_bytes)}")


@app.command("export")
def export_table(
    folder: FolderArgument,
    to: Annotated[
        str | None,
        typer.Option("--to", metavar="KIND", help="sqlite, parquet or csv (default: by the name of FILE, or sqlite)."),
        OneOf(KINDS),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="FILE", help="Output file (default: DIR.KIND).")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite the file if it exists.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Export a table for other programs, one row per afterstate.

    Example: lab2048 table export tables/2x3 --out 2x3.csv
    """
    from lab2048.solver.export import export
    from lab2048.solver.table import Table

    opened = Table.open(folder)
    suffix = out.suffix[1:].lower() if out else ""
    kind = to or (suffix if suffix in KINDS else "sqlite")
    path = out or folder.with_name(f"{folder.resolve().name}.{kind}")
    with working(f"writing {path}"):
        n_rows = export(opened, kind, path, force=force)
    if as_json:
        print_json("export-table-1", {"table": str(folder), "file": str(path), "kind": kind, "rows": n_rows})
        return
    print(f"{n_rows:,} rows in {path}")

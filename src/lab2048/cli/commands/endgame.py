"""`lab2048 endgame`: tables of formations, where the large tiles stand and a few cells are left to play."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lab2048.cli.command import Commands
from lab2048.cli.commands.solve import (
    MemoryOption,
    SolveGoalOption,
    WorkersOption,
    show_estimate,
    show_result,
    solve_and_show,
)
from lab2048.cli.option_types import Readable
from lab2048.cli.options import ClusterOption, JsonOption
from lab2048.cli.output import print_json
from lab2048.errors import UsageError

if TYPE_CHECKING:
    from lab2048.solver.endgame.compact_table import CompactTable
    from lab2048.solver.endgame.formation import Formation

app = Commands(
    "List and build endgame tables: what is left to play when the large tiles stand.\n\n"
    "Example: lab2048 endgame build L3-256"
)


@app.command("list")
def list_formations(as_json: JsonOption = False) -> None:
    """List the formations with their goals, sizes and building times, and which of them are built.

    In a picture, A is a large tile that stays, F one that moves and may be anywhere, # another cell, and G one where
    the goal counts.

    Example: lab2048 endgame list
    """
    from lab2048.solver.endgame.formation import BYTES, families
    from lab2048.solver.endgame.probe import SHIPPED, endgames_folder
    from lab2048.solver.table import MANIFEST
    from lab2048.views.number import duration, number, size

    found: list[dict[str, Any]] = []
    for family, formation, goals in families():
        lines = []
        for goal, afterstates in goals.items():
            name = f"{family}-{goal}"
            folder = endgames_folder() / name
            row = {
                "name": name,
                "formation": formation.rules.board_text,
                "free_cells": formation.n_cells,
                "goal": goal,
                "afterstates": afterstates,
                "bytes": (n_bytes := BYTES * afterstates),
                "seconds": (seconds := afterstates / formation.rate),
                "table": str(folder) if (folder / MANIFEST).exists() else None,
                "shipped": (SHIPPED / name).exists(),
            }
            found.append(row)
            told = f"{number(afterstates)} positions, {size(n_bytes)}, {duration(seconds)}"
            state = ", built" if row["table"] else ", comes with lab2048" if row["shipped"] else ""
            lines.append(f"{name:<12} {told}{state}")
        if not as_json:
            print(f"{family}: {formation.n_cells} free cells")
            picture = formation.picture
            rows = max(len(picture), len(lines))
            picture += [" " * len(picture[0])] * (rows - len(picture))
            lines += [""] * (rows - len(lines))
            for drawn, line in zip(picture, lines, strict=True):
                print(f"  {drawn}   {line}".rstrip())
    if as_json:
        print_json("endgame-list-1", {"folder": str(endgames_folder()), "formations": found})
    else:
        print(f"sizes and times are estimates for one core; tables are built in {endgames_folder()}")


@app.command()
def build(
    name: Annotated[
        str | None, typer.Argument(metavar="FORMATION", help="A formation and its goal, such as L3-256 (see `list`).")
    ] = None,
    formation: Annotated[
        str | None,
        typer.Option(
            "--formation",
            metavar="MAP",
            help="Your own: A is a large tile that stays, F one that moves, # a cell, G one where the goal counts.",
        ),
        Readable("lab2048.rules.notation:read_map"),
    ] = None,
    goal: SolveGoalOption = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="DIR", help="Folder of the table (default: in your data folder)."),
    ] = None,
    memory: MemoryOption = "8G",
    workers: WorkersOption = 0,
    cluster: ClusterOption = None,
    only_estimate: Annotated[
        bool, typer.Option("--estimate", help="Only predict time, disk space and memory.")
    ] = False,
    as_json: JsonOption = False,
    as_jsonl: Annotated[
        bool, typer.Option("--jsonl", help="One JSON line per layer; the last line is the result.")
    ] = False,
) -> None:
    """Build the table of a formation; run the same command again to continue an interrupted build.

    Example: lab2048 endgame build --formation "AA#|AG#|###" --goal 32 -o mine
    """
    from lab2048.solver.endgame.formation import Formation
    from lab2048.solver.endgame.probe import SHIPPED, endgames_folder

    if (name is None) == (formation is None):
        raise UsageError("expected the name of a formation, such as L3-256, or your own with --formation and --goal")
    if formation is not None:
        if goal is None:
            raise UsageError("--formation needs a goal: expected a tile such as 256", field="goal", code="goal.missing")
        if out is None and not only_estimate:
            raise UsageError("--formation needs a folder for its table: expected --out DIR")
        chosen = Formation.from_text(formation, goal)
    else:
        assert name is not None
        if goal is not None:
            raise UsageError(f"{name} has its goal in its name: expected --goal only with --formation", field="goal")
        chosen = Formation.from_name(name)
        shipped = out is None and (SHIPPED / name).exists()
        out = SHIPPED / name if shipped else out or endgames_folder() / name
    options = {"objective": "win", "out": out, "memory": memory, "workers": workers, "scattered": chosen.n_free > 0}
    if only_estimate:
        show_estimate(chosen.rules, options, as_json=as_json)
    elif out is not None and (built := find_built(out, chosen)) is not None:
        show_built(built, as_json=as_json, as_jsonl=as_jsonl)
    else:
        options["cluster"] = cluster
        solve_and_show(chosen.rules, options, make_compact=True, as_json=as_json, as_jsonl=as_jsonl)


def find_built(folder: Path, formation: "Formation") -> "CompactTable | None":
    """Return the table of a formation if a folder has it; raise FileError if it has that of another one."""
    from lab2048.errors import FileError
    from lab2048.solver.endgame.compact_table import SCHEMA, CompactTable, delete_layers
    from lab2048.solver.table import MANIFEST, read_manifest
    from lab2048.solver.table import SCHEMA as LAYERED

    if not (folder / MANIFEST).exists() or read_manifest(folder, SCHEMA, LAYERED)["schema"] != SCHEMA:
        return None
    table = CompactTable.open(folder)
    if table.problem != formation.problem:
        raise FileError(
            f"{folder} holds the table of another formation: expected an empty folder", code="file.unwritable"
        )
    delete_layers(folder)  # a build may have been killed while it deleted them
    return table


def show_built(table: "CompactTable", *, as_json: bool, as_jsonl: bool) -> None:
    """Print what a table that is already built holds, as after building it."""
    from lab2048.solver.memory import peak_memory

    manifest = table.manifest
    result = {
        "rules": table.problem.rules.to_json(),
        "objective": table.problem.objective.value,
        "value": manifest["value"],
        "loss_probability": manifest["loss_probability"],
        **table.count.to_json(),
        "layers": manifest["layers"],
        "seconds": 0.0,
        "cpu_seconds": 0.0,
        "bytes": table.n_bytes,
        "peak_memory": peak_memory(),
        "table": str(table.folder),
    }
    show_result(result, as_json=as_json, as_jsonl=as_jsonl)

"""`lab2048 widget`: the game and a player in one HTML file."""

from pathlib import Path
from typing import Annotated

import typer

from lab2048.cli.options import ForceOption, JsonOption
from lab2048.cli.output import print_json
from lab2048.cli.progress import make_ready
from lab2048.errors import UsageError
from lab2048.extras import need


def widget(
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FILE", help="HTML file to write.")],
    player: Annotated[
        str | None,
        typer.Option(
            "--player",
            metavar="SPEC",
            help="A network of your own: ntuple:weights=FILE. Default: a small network that comes with lab2048.",
        ),
    ] = None,
    force: ForceOption = False,
    as_json: JsonOption = False,
) -> None:
    """Write the game and a player into one HTML file, for any website.

    The player runs in the browser.  The file needs no server and no other files.

    Example: lab2048 widget --out game.html
    """
    need("app")
    from lab2048.models.ntuple.file import read_header
    from lab2048.models.ntuple.shipped import decoder_group
    from lab2048.players.ntuple import NTuplePlayer
    from lab2048.players.registry import make_player
    from lab2048.records.atomic_file import check_target, replacing
    from lab2048.views.web.widget import NETWORK, make_widget

    check_target(out, force=force)
    chosen = None if player is None else make_player(player)
    if chosen is not None and not (isinstance(chosen, NTuplePlayer) and chosen.weights):
        raise UsageError(f"{player} cannot run in a browser: expected ntuple:weights=FILE", field="player")
    path = Path(chosen.weights) if chosen is not None and chosen.weights else None
    make_ready(decoder_group(read_header(path or NETWORK)))
    page = make_widget(path, "The player")
    with replacing(out, force=force) as file:
        file.write(page)
    if as_json:
        print_json("widget-1", {"file": str(out), "bytes": len(page.encode())})
        return
    print(f"{out} is written: {len(page.encode()) / 1e3:,.0f} kB, open it in a browser")

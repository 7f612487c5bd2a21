"""`lab2048 weights`: inspect and compress networks."""

import shutil
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lab2048.cli.command import Commands
from lab2048.cli.option_types import Above, AtLeast, Readable, Within
from lab2048.cli.options import GAMES, SEED, ForceOption, JsonOption
from lab2048.cli.output import print_json
from lab2048.cli.progress import make_ready, working
from lab2048.errors import FileError, TargetExistsError, UsageError

if TYPE_CHECKING:
    from lab2048.models.ntuple.file import Header
    from lab2048.models.ntuple.network import Network

app = Commands("Inspect networks, and make their files smaller.\n\nExample: lab2048 weights info my.safetensors")
FileArgument = Annotated[Path, typer.Argument(metavar="FILE", help="Network file written by lab2048 train.")]
OutOption = Annotated[Path, typer.Option("--out", "-o", metavar="FILE", help="Output file.")]


@app.command()
def info(
    file: FileArgument,
    svg: Annotated[
        Path | None,
        typer.Option("--svg", metavar="FILE", help="Also write a picture of the patterns and their copies."),
    ] = None,
    force: ForceOption = False,
    as_json: JsonOption = False,
) -> None:
    """Show the patterns, the training and the weight distribution of a network.

    Below each pattern stand its symmetric copies, which are looked up in the same table.

    Example: lab2048 weights info my.safetensors --svg patterns.svg
    """
    from lab2048.models.ntuple.file import complete, is_deep, load_network, read_header
    from lab2048.models.ntuple.statistics import describe
    from lab2048.records.atomic_file import replacing
    from lab2048.views.pattern_picture import pattern_lines, patterns_svg

    if is_deep(file):
        if svg is not None:
            raise UsageError(f"{file} is a deep network without patterns: expected an n-tuple network", field="svg")
        _deep_info(file, as_json=as_json)
        return
    header = read_header(file)
    design = header.design
    if svg is not None:
        with replacing(svg, force=force) as picture:
            picture.write(patterns_svg(design.rules.shape, design.patterns, is_shared=design.is_shared))
    _prepare(header)
    with working(f"reading {file}"):
        network = load_network(file, with_rates=True)
        complete(network)
        facts = describe(network) | {"bytes": file.stat().st_size}
    if as_json:
        print_json("weights-1", {"file": str(file), **facts})
        return
    n_compressed = header.shapes["squeezed"][0] if "squeezed" in header.shapes else None
    for line in _lines(facts, n_compressed, has_rates="rates" in header.shapes):
        print(line)
    print()
    width = shutil.get_terminal_size().columns
    for line in pattern_lines(design.rules.shape, design.patterns, is_shared=design.is_shared, width=width):
        print(line)


@app.command()
def curve(
    file: FileArgument,
    as_json: JsonOption = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="CSV, one line per point.")] = False,
) -> None:
    """Show the learning curve and the evaluations of a network.

    Example: lab2048 weights curve my.safetensors --csv
    """
    from lab2048.models.ntuple.file import read_training
    from lab2048.views.curve import curve_csv, curve_lines

    if as_json and as_csv:
        raise UsageError("--json and --csv: expected only one of them")
    training = read_training(file)
    if as_json:
        found = {"curve": training["curve"], "trials": training.get("trials", [])}
        print_json("curve-1", {"file": str(file), **found})
    elif as_csv:
        print(curve_csv(training), end="")
    else:
        for line in curve_lines(training):
            print(line)


@app.command("prune")
def prune_command(
    file: FileArgument,
    out: OutOption,
    least: Annotated[
        float,
        typer.Option("--least", metavar="N", help="Drop weights whose accumulated error is below this."),
        AtLeast(0),
    ] = 10_000,
    force: ForceOption = False,
    as_json: JsonOption = False,
) -> None:
    """Drop weights that were hardly ever updated.

    Example: lab2048 weights prune my.safetensors --out pruned.safetensors
    """
    from lab2048.models.ntuple.compress import prune

    _convert(file, out, lambda network: prune(network, least), force=force, as_json=as_json)


@app.command("quantize")
def quantize_command(
    file: FileArgument,
    out: OutOption,
    step: Annotated[
        float, typer.Option("--step", metavar="N", help="Round weights to multiples of this."), Above(0, 1e15)
    ] = 16,
    least: Annotated[
        float,
        typer.Option("--least", metavar="N", help="First drop weights whose accumulated error is below this."),
        AtLeast(0),
    ] = 0,
    force: ForceOption = False,
    as_json: JsonOption = False,
) -> None:
    """Round weights to multiples of a step and compress them: the file becomes many times smaller.

    Example: lab2048 weights quantize my.safetensors --out small.safetensors
    """
    from lab2048.models.ntuple.compress import prune, quantize

    _convert(
        file,
        out,
        lambda network: quantize(prune(network, least) if least else network, step),
        force=force,
        as_json=as_json,
    )


@app.command()
def calibrate(
    file: FileArgument,
    search: Annotated[
        str,
        typer.Option("--search", metavar="OPTIONS", help="Options of the player: depth=3, or ms=10."),
        Readable("lab2048.learning.calibration:read_search"),
    ] = "depth=3",
    games: Annotated[int, typer.Option("--games", "-n", metavar="N", help="Number of games."), GAMES] = 100,
    seed: Annotated[int, typer.Option("--seed", "-s", metavar="N", help="Random seed."), SEED] = 1,
    workers: Annotated[int, typer.Option("--workers", metavar="N", help="Threads."), Within(1, 256)] = 1,
    as_json: JsonOption = False,
) -> None:
    """Let the values that a player shows be what it scores: compare them in games, and write factors into the file.

    The network learned how much it scores without search; with search it scores more.  The moves stay the same.

    Example: lab2048 weights calibrate my.safetensors --search depth=3
    """
    from lab2048.learning.calibration import observe, read_search
    from lab2048.models.ntuple.calibration import Calibration
    from lab2048.models.ntuple.file import read_header, rewrite_facts

    header = read_header(file)
    player = replace(read_search(search), weights=str(file))
    player.check(header.design.rules)
    make_ready(*player.groups(header.design.rules))
    n_played = 0
    with working(f"playing {games} games") as tell:

        def played(_: int) -> None:
            nonlocal n_played
            n_played += 1
            tell(f"playing {games} games: {n_played} done")

        seen = observe(player, header.design.rules, games, seed, workers=workers, progress=played)
    found = Calibration.fit(player.search_name, seen, Calibration.from_facts(header.facts))
    rewrite_facts(file, {**header.facts, **found.to_facts()})
    points = found.factors[player.search_name]
    if as_json:
        facts = {"file": str(file), "search": player.search_name, "factors": list(points.items())}
        print_json("weights-calibrated-1", facts)
        return
    factors = points.values()
    print(f"{file} is calibrated for {search}: values are multiplied by {min(factors):.2f} to {max(factors):.2f}")


def _prepare(header: "Header") -> None:
    from lab2048.kernels.group import COMPRESS
    from lab2048.models.ntuple.shipped import decoder_group

    make_ready(COMPRESS, decoder_group(header))


def _convert(file: Path, out: Path, change: Any, *, force: bool, as_json: bool) -> None:
    from lab2048.models.ntuple.file import complete, load_network, read_header, save_network

    if out.exists() and not force:
        raise TargetExistsError(f"{out} exists already")
    if not out.parent.is_dir():
        raise FileError(
            f"there is no folder {out.parent}: create it, or choose another one with --out FILE", code="file.not_found"
        )
    _prepare(read_header(file))
    with working(f"reading {file}") as tell:
        network = load_network(file, with_rates=True)
        complete(network)
        tell(f"making {out}")
        result: Network = change(network)
        save_network(out, result)
    if as_json:
        sizes = {"bytes": out.stat().st_size, "bytes_before": file.stat().st_size}
        print_json("weights-changed-1", {"file": str(out), "from": str(file), **sizes})
        return
    print(f"{out} is written: {out.stat().st_size / 1e6:,.2f} MB, before {file.stat().st_size / 1e6:,.2f} MB")


def _deep_info(file: Path, *, as_json: bool) -> None:
    from lab2048.models.deep.header import describe_deep

    facts = describe_deep(file)
    if as_json:
        print_json("deep-1", {"file": str(file), **facts})
        return
    rows = [
        ("board", facts["board"]),
        ("network", f"{facts['kind']} {','.join(map(str, facts['widths']))}, cells encoded as {facts['reading']}"),
        (
            "output",
            {"value": "a value", "actions": "a value per move", "atoms": "a distribution per move"}[facts["head"]],
        ),
        ("weights", f"{facts['n_weights']:,}"),
        ("size", f"{facts['bytes'] / 1e6:,.2f} MB, with the state of the training"),
        *_training_rows(facts["training"]),
    ]
    for name, text in rows:
        print(f"{name:<14}{text}")


def _training_rows(training: Any) -> list[tuple[str, str]]:
    """Return the rows about the training."""
    if not training:
        return []
    seconds, moves, games = (training.get(name, 0) for name in ("seconds", "n_moves", "n_games"))
    config = training.get("config", {}).items()
    rows = [
        ("trained", f"{seconds / 60:,.1f} minutes, {moves:,} moves, {games:,} games"),
        ("options", ", ".join(f"{name} {value}" for name, value in config if value not in (None, ""))),
    ]
    if training.get("curve"):
        rows.append(("last games", f"mean score {training['curve'][-1]['mean']:,.0f}"))
    return rows


def _lines(facts: dict[str, Any], n_compressed: int | None, *, has_rates: bool) -> list[str]:
    """Write the facts; `n_compressed` is the size of compressed weights in bytes, without the rest of the file."""
    if n_compressed is None:
        numbers = "32-bit floats"
    else:
        bits = 8 * n_compressed / max(1, facts["n_used"])
        numbers = f"multiples of {facts['step']:g}, compressed to {bits:.2f} bits per nonzero weight"
    rows = [
        ("board", facts["board"]),
        ("patterns", facts["patterns"]),
        ("stages from", ", ".join(map(str, facts["stages"])) or "none"),
        ("weights", f"{facts['n_weights']:,}, of which {facts['n_used']:,} are not zero"),
        ("size", f"{facts['bytes'] / 1e6:,.2f} MB" + (", with the state of the training" if has_rates else "")),
        ("numbers", numbers),
        ("spread", ", ".join(f"{share} {value:,.1f}" for share, value in facts["spread"].items())),
    ]
    rows += _training_rows(facts["training"])
    if facts["errors"]:
        rows += [(f"least {least}", f"{n:,} weights, {share:.2%} of all errors") for least, n, share in facts["errors"]]
    return [f"{name:<14}{text}" for name, text in rows]

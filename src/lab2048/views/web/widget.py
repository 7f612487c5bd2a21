"""The widget: the game and a player in one HTML file, which needs no server.

Its scripts are those of the page.  A browser resolves no relative imports between scripts that are part of a document,
so every import is given a name, and an import map says which script has that name.
"""

import base64
import gzip
import json
import re
from pathlib import Path
from typing import Any

import numpy as np

from lab2048.errors import FileError, UsageError
from lab2048.models.ntuple.compress import quantize
from lab2048.models.ntuple.file import complete, load_network, read_header
from lab2048.models.ntuple.network import MAX_RADIX, Design, Network
from lab2048.models.ntuple.order import to_digits
from lab2048.rules import Rules
from lab2048.views.web.serialize.game import shape_data
from lab2048.views.web.static_files import STATIC

NETWORK = Path(__file__).parents[2] / "models" / "ntuple" / "widget.safetensors"
MAX_BYTES = 2_000_000
MAX_WEIGHTS = 4_000_000  # more never fit
MAX_STEPS = 2000.0  # of the largest weight: enough for the same moves
MAIN = "widget/main.js"
_IMPORT = re.compile(r'^((?:import|export) (?:[^"]* from )?)"(\.[^"]+)";', re.MULTILINE)


def make_widget(weights: Path | None, name: str) -> str:
    """Return the HTML file; raise a LabError if the network of the player is unsuitable or too large."""
    path = NETWORK if weights is None else weights
    design = read_header(path).design
    if design.is_downgrading:
        raise UsageError(f"{path} downgrades large tiles, which the widget cannot: expected a network without")
    if design.rules.shape.has_anchors:
        raise UsageError(f"{path} plays a board with anchors, which the widget cannot: expected a network without")
    if design.n_weights > MAX_WEIGHTS:
        raise FileError(f"{path} has {design.n_weights:,} weights: expected at most {MAX_WEIGHTS:,} for a widget")
    network = load_network(path)
    complete(network)
    page = _document(design.rules, name, _network_data(network))
    if (n_bytes := len(page.encode())) > MAX_BYTES:
        raise FileError(f"the widget would take {n_bytes / 1e6:.1f} MB: expected a smaller network, at most 2 MB")
    return page


def _document(rules: Rules, name: str, network: dict[str, Any]) -> str:
    data = {
        "shape": shape_data(rules.board).model_dump(mode="json"),
        "spawns": [{"rank": rank, "probability": probability} for rank, probability in rules.spawn_table],
        "n_start": rules.n_start,
        "goal": rules.goal_rank,
        "name": name,
        "network": network,
    }
    styles = "".join((STATIC / "css" / sheet).read_text("utf-8") for sheet in ("tokens.css", "board.css", "widget.css"))
    scripts = {name: _as_address(text) for name, text in _scripts(MAIN).items()}
    page = (STATIC / "widget.html").read_text("utf-8")
    for mark, text in (
        ("STYLES", styles),
        ("IMPORTS", json.dumps({"imports": scripts})),
        ("DATA", json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")),
        ("MAIN", f'import "{MAIN}";'),
    ):
        page = page.replace(f"{{{{{mark}}}}}", text)
    return page


def _scripts(main: str) -> dict[str, str]:
    """Return a script and all that it imports, by name, with imports by name."""
    found: dict[str, str] = {}
    missing = [main]
    while missing:
        name = missing.pop()
        if name in found:
            continue
        here = (STATIC / "js" / name).parent

        def named(match: re.Match[str], here: Path = here) -> str:
            other = (here / match[2]).resolve().relative_to((STATIC / "js").resolve()).as_posix()
            missing.append(other)
            return f'{match[1]}"{other}";'

        found[name] = _IMPORT.sub(named, (STATIC / "js" / name).read_text("utf-8"))
    return found


def _as_address(text: str) -> str:
    return "data:text/javascript;base64," + base64.b64encode(text.encode()).decode()


def _network_data(network: Network) -> dict[str, Any]:
    """Return a network as the script reads it (static/js/widget/network.js)."""
    if network.step is None:
        network = quantize(network, max(float(np.abs(network.weights).max()) / MAX_STEPS, 1e-6))
    design = network.design
    tables = [
        to_digits(weights, n_cells, has_sets=has_sets) if design.radix == MAX_RADIX else weights
        for begin, end, n_cells, has_sets in design.tables
        for weights in (network.weights[begin:end],)
    ]
    data = np.concatenate(tables).astype("<i2").tobytes()
    return {
        "radix": design.radix,
        "step": network.step,
        "stages": list(design.stages),
        "sizes": [len(table) for table in tables],
        "lookups": _lookups(design),
        "weights": base64.b64encode(gzip.compress(data, 9, mtime=0)).decode(),
    }


def _lookups(design: Design) -> list[dict[str, Any]]:
    """Return the table and the cells of every lookup, all symmetric copies of a pattern one after the other."""
    symmetries = design.rules.shape.symmetries if design.is_shared else design.rules.shape.symmetries[:1]
    return [
        {"table": p, "cells": [symmetry.cells[cell] for cell in pattern]}
        for p, pattern in enumerate(design.patterns)
        for symmetry in symmetries
    ]

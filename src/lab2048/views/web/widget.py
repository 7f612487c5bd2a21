"""The widget: the game and a player in one HTML file, which needs no server."""

import base64
import gzip
from pathlib import Path
from typing import Any

import numpy as np

from lab2048.errors import FileError, UsageError
from lab2048.models.ntuple.compress import quantize
from lab2048.models.ntuple.file import complete, load_network, read_header
from lab2048.models.ntuple.network import MAX_RADIX, Design, Network
from lab2048.models.ntuple.order import to_digits
from lab2048.rules import Rules
from lab2048.views.web.document import make_document
from lab2048.views.web.serialize.game import shape_data

NETWORK = Path(__file__).parents[2] / "models" / "ntuple" / "widget.safetensors"
MAX_BYTES = 2_000_000
MAX_WEIGHTS = 4_000_000  # more never fit
MAX_STEPS = 2000.0  # of the largest weight: enough for the same moves
MAIN = "widget/main.js"


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
    return make_document("widget.html", ("tokens.css", "board.css", "widget.css"), MAIN, data)


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

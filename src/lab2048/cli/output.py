"""Print results as JSON, with schema and program, or on a Rich console."""

import math
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    from rich.console import Console


def print_json(schema: str, data: Mapping[str, Any]) -> None:
    """Print one object on a line; docs/json.md describes every schema."""
    print(to_json(schema, data), flush=True)


def to_json(schema: str, data: Mapping[str, Any]) -> str:
    """Return the object as one line of JSON.

    >>> to_json("perft-1", {"count": 88, "rate": math.inf})  # doctest: +ELLIPSIS
    '{"schema": "lab2048/perft-1", "program": "lab2048 ...", "count": 88, "rate": null}'
    """
    import json

    from lab2048.records.provenance import program

    facts = {name: _finite(value) for name, value in data.items() if name not in ("schema", "program")}
    return json.dumps({"schema": f"lab2048/{schema}", "program": program(), **facts}, allow_nan=False)


def _finite(value: Any) -> Any:
    """Replace infinity and NaN, which JSON does not have, by null."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {name: _finite(each) for name, each in value.items()}
    return [_finite(each) for each in value] if isinstance(value, list | tuple) else value


def make_console(stream: TextIO | None = None, *, width: int | None = None) -> "Console":
    """Return a Rich console for tables; without colours it prints plain text."""
    from rich.console import Console

    from lab2048.views.text import wants_colour

    file = stream or sys.stdout
    return Console(file=file, highlight=False, width=width, color_system="auto" if wants_colour(file) else None)

"""Files that a spec names: networks, tables and evaluators; on another machine they may be elsewhere."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from lab2048.players.registry import split_spec

_PATHS = ("weights", "table", "endgames")  # options that are paths
ENDGAME_WORDS = ("no", "shipped", "auto")  # values of `endgames` that are no paths


def files_in(spec: str) -> dict[str, Path]:
    """Return the files and folders that a spec names, by the text that names them.

    >>> files_in("expectimax:depth=3")
    {}
    """
    return {text: path for text, path in _files_named(spec) if path.exists()}


def _files_named(spec: str) -> Iterator[tuple[str, Path]]:
    for key, value in split_spec(spec)[1]:
        text = _bare(value)
        if key == "inner":
            yield from _files_named(text)
        elif (path := _path(key, text)) is not None:
            yield text, path.absolute()


def _path(key: str, text: str) -> Path | None:
    if key == "endgames" and text in ENDGAME_WORDS:
        return None
    name = text.partition("#")[0]
    is_path = key in _PATHS or "/" in name or "\\" in name or bool(Path(name).suffix)
    return Path(name) if name and is_path and not name.startswith("{") else None


def uses_built_tables(spec: str) -> bool:
    """Return True if a player uses the endgame tables that are built on a machine, which differ between machines."""
    return any(
        uses_built_tables(_bare(value)) if key == "inner" else (key, value) == ("endgames", "auto")
        for key, value in split_spec(spec)[1]
    )


def with_files(spec: str, where: Mapping[str, str]) -> str:
    """Return the spec with other paths; `where` maps absolute paths.

    >>> with_files("shield:inner=(ntuple:weights=/a/w.safetensors,depth=1)", {"/a/w.safetensors": "/b/w.safetensors"})
    'shield:inner=(ntuple:weights=/b/w.safetensors,depth=1)'
    """
    if not any(str(path) in where for _, path in _files_named(spec)):
        return spec
    name, given = split_spec(spec)
    parts = []
    for key, value in given:
        text = _bare(value)
        if key == "inner":
            text = with_files(text, where)
        elif (path := _path(key, text)) is not None and (place := where.get(str(path.absolute()))) is not None:
            text = place + text[text.index("#") :] if "#" in text else place
        parts.append(f"{key}={f'({text})' if value.startswith('(') or ',' in text else text}")
    return name + (":" + ",".join(parts) if parts else "")


def _bare(value: str) -> str:
    return value[1:-1] if value.startswith("(") and value.endswith(")") else value

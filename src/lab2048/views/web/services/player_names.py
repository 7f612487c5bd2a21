"""Player specs from a browser: no path in them reaches the file system.

In these specs, `weights=NAME` and `table=NAME` name a network or a table in the data folder of the server, and
`weights=NAME@3` a checkpoint.  `Library.read` turns names into paths, `Library.write` turns paths into names.
"""

import os
import re
from pathlib import Path

from lab2048.errors import UsageError, unknown
from lab2048.players.registry import canonical_spec, make_player, names, options, player_class, split_spec
from lab2048.players.search.player import SearchPlayer
from lab2048.rules import Rules
from lab2048.views.web.serialize.schema import MAX_SPEC, NAME

# The largest values of options that are fast enough for the page.
LIMITS: dict[str, float] = {
    "depth": 10,
    "ms": 5000,
    "threads": 16,
    "rollouts": 20_000,
    "iterations": 200_000,
    "limit": 100_000,
}
FULL_DEPTH, LEAST_CUT = 4, 1e-4  # largest depth of searches without a cutoff, or with a lower one than this
_WORD = re.compile(r"[A-Za-z0-9_+-]*", re.ASCII)
_CHECKPOINT = NAME.removesuffix("$") + r"(@[0-9]{1,9})?$"
_ELSEWHERE = re.compile(r"(?<=[=(])(?:/|[A-Za-z]:[\\/])[^,()]*[\\/](?=[^,()\\/])")  # the folders of an absolute path
_INLINE = re.compile(r"\{[A-Za-z0-9_+\-.,=\s\"\[\]]*\}", re.ASCII)


class Library:
    """The networks and tables that a browser may name."""

    def __init__(self, folder: Path) -> None:
        """Look for them in the data folder of the server."""
        self.trainings, self.tables = folder / "trainings", folder / "tables"

    def network(self, name: str) -> Path:
        """Return the file of a training or of one of its checkpoints."""
        return self._find(self.trainings, name, ".safetensors", "training", _CHECKPOINT)

    def table(self, name: str) -> Path:
        return self._find(self.tables, name, "", "table")

    def _find(self, folder: Path, name: str, suffix: str, noun: str, pattern: str = NAME) -> Path:
        path = folder / f"{name}{suffix}"
        if not re.fullmatch(pattern, name) or not path.exists():
            raise UsageError(unknown(noun, name[:60], otherwise=f"expected the name of a {noun} on this server"))
        return path

    def read(self, spec: str) -> str:
        """Return the canonical spec, with paths, of a spec from a browser; raise UsageError if it is not allowed."""
        canonical = canonical_spec(self._inside(spec))
        check_limits(canonical)
        return canonical

    def _inside(self, spec: str) -> str:
        if len(spec) > MAX_SPEC or not spec.isprintable():
            raise UsageError(f"player of {len(spec)} letters: expected at most {MAX_SPEC}, printable", field="player")
        name, pairs = split_spec(spec)
        if player_class(name).is_interactive:
            raise UsageError(f"player {name} is a person: expected a player that chooses by itself", field="player")
        known = options(name)
        parts = []
        for key, value in pairs:
            if key in known:  # otherwise the registry reports it
                value = self._value(name, key, value.removeprefix("(").removesuffix(")"))
            parts.append(f"{key}={value}")
        return name + (":" + ",".join(parts) if parts else "")

    def _value(self, player: str, key: str, value: str) -> str:
        if key == "weights" and value:
            return f"({self.network(value)})"
        if key == "table" and value:
            return f"({self.table(value)})"
        if value.partition(":")[0] in names() and ":" in value:
            return f"({self._inside(value)})"
        if _INLINE.fullmatch(value):
            return f"({value})"
        if not _WORD.fullmatch(value) and not _is_number(value):
            raise UsageError(
                f"player {player}: {key}={value[:40]} is not allowed: expected a word or a number", field="player"
            )
        return value

    def write(self, spec: str) -> str:
        """Return a spec with names instead of paths; of other files it shows only the last part of the path.

        >>> Library(Path("/home/me/lab2048")).write("shield:inner=(ntuple:weights=/tmp/nets/a.safetensors,depth=2)")
        'shield:inner=(ntuple:weights=.../a.safetensors,depth=2)'
        """
        if "=" not in spec:
            return spec
        for folder, suffix in ((self.trainings, ".safetensors"), (self.tables, "")):
            for found in re.finditer(re.escape(f"{folder}{os.sep}") + r"([a-z0-9_@-]+)" + re.escape(suffix), spec):
                spec = spec.replace(f"({found[0]})", found[1]).replace(found[0], found[1])
        return _ELSEWHERE.sub(".../", spec)


def check_limits(spec: str) -> None:
    """Raise UsageError if a player is too slow for the page; its values are checked as the player reads them.

    >>> check_limits("shield:inner=(expectimax:depth=(11))")
    Traceback (most recent call last):
    lab2048.errors.UsageError: player expectimax: depth=11 is too slow for the page: expected at most 10
    """
    name, player = spec.partition(":")[0], make_player(spec)
    for key, field in options(name).items():
        value = getattr(player, key)
        if isinstance(value, str) and value.partition(":")[0] in names():
            check_limits(value)
        elif key in LIMITS and isinstance(value, int | float) and value != field.default and value > LIMITS[key]:
            raise UsageError(
                f"player {name}: {key}={value:g} is too slow for the page: expected at most {LIMITS[key]:g}",
                field="player",
            )
    cut = getattr(player, "cut", 0.0)  # None: depends on the depth
    if isinstance(player, SearchPlayer) and getattr(player, "ms", None) is None and cut is not None:
        settings = player.search_settings(Rules.from_text("4x4"))
        if cut < LEAST_CUT and (settings.depth > FULL_DEPTH or settings.deepen == "tiles"):
            raise UsageError(
                f"player {name}: depth={settings.depth},deepen={settings.deepen} without a cutoff is too slow for the "
                f"page: expected a depth of at most {FULL_DEPTH}, and not deepen=tiles",
                field="player",
            )


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return text.isascii()

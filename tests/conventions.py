"""Checks of the source that no linter knows: script/check runs them.

- A folder has at most 20 modules.
- A public name has no word that docs/glossary.md forbids (its last table).
- Registries agree: a name that one of them gives for another is known there.
"""

import ast
import re
import sys
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "lab2048"
GLOSSARY = ROOT / "docs" / "glossary.md"
TABLE = "## Forbidden identifiers"
MAX_MODULES = 20

# A word of an identifier: "n_slower", "RingBuffer", "TDLearning" are n slower, ring buffer, td learning.
WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")


class Forbidden(NamedTuple):
    """A row of the table: an identifier, what to say instead, and the names in which it means something else."""

    words: tuple[str, ...]
    instead: str
    exceptions: frozenset[str]


def read_forbidden(text: str) -> list[Forbidden]:
    """Read the rows `| identifier | say | except |` below the heading; identifiers are in backticks."""
    rows = []
    for line in text.partition(TABLE)[2].splitlines():
        columns = [column.strip() for column in line.split("|")[1:-1]]
        if len(columns) == 3 and columns[0].startswith("`"):
            exceptions = frozenset(re.findall(r"`([^`]+)`", columns[2]))
            rows += [Forbidden(split(name), columns[1], exceptions) for name in re.findall(r"`([^`]+)`", columns[0])]
    return rows


def split(name: str) -> tuple[str, ...]:
    """Return the words of an identifier in lower case, plurals as singulars."""
    words = [word.lower() for word in WORD.findall(name)]
    return tuple(word[:-1] if word.endswith("s") and not word.endswith("ss") else word for word in words)


def public_names(path: Path) -> Iterator[tuple[int, str]]:
    """Yield line and name of everything public: the module, its definitions, and parameters of functions."""
    yield 1, path.parent.name if path.stem == "__init__" else path.stem
    yield from _public_names(ast.parse(path.read_text()).body)


def _public_names(body: list[ast.stmt]) -> Iterator[tuple[int, str]]:
    for node in body:
        match node:
            case ast.ClassDef(name=name) if not name.startswith("_"):
                yield node.lineno, name
                yield from _public_names(node.body)
            case ast.FunctionDef(name=name, args=args) | ast.AsyncFunctionDef(name=name, args=args):
                if not name.startswith("_") or name == "__init__":
                    yield node.lineno, name
                    for each in [*args.posonlyargs, *args.args, *args.kwonlyargs]:
                        yield each.lineno, each.arg
            case ast.Assign(targets=targets):
                yield from ((node.lineno, each.id) for each in targets if isinstance(each, ast.Name))
            case ast.AnnAssign(target=ast.Name(id=name)):
                yield node.lineno, name
            case _:
                pass


def forbidden_names(source: Path, rows: list[Forbidden]) -> Iterator[str]:
    for path in sorted(source.rglob("*.py")):
        for line, name in public_names(path):
            words = split(name)
            for row in rows:
                n = len(row.words)
                if not name.startswith("_") and name not in row.exceptions and row.words in _runs(words, n):
                    yield f"{path.relative_to(source)}:{line}: {name}: say {row.instead}"


def _runs(words: tuple[str, ...], n: int) -> set[tuple[str, ...]]:
    return {words[i : i + n] for i in range(len(words) - n + 1)}


def large_folders(source: Path) -> Iterator[str]:
    for folder in sorted({path.parent for path in source.rglob("*.py")}):
        n_modules = sum(path.name != "__init__.py" for path in folder.glob("*.py"))
        if n_modules > MAX_MODULES:
            yield f"{folder.relative_to(source.parent)}: {n_modules} modules, at most {MAX_MODULES}: make sub-packages"


class Reference(NamedTuple):
    """Names that one registry gives for another, and the names that the other knows."""

    what: str
    given: Iterable[str]
    known: Collection[str]


def references() -> list[Reference]:
    from lab2048.cli.app import COMMANDS
    from lab2048.jobs.progress import KINDS as JOB_KINDS
    from lab2048.kernels.group import GROUPS
    from lab2048.learning.registry import METHODS
    from lab2048.models import SHIPPED
    from lab2048.players.registry import names, player_class
    from lab2048.studies.reading import load_study, study_names
    from lab2048.studies.run.trained_games import TRAINED

    studies = [load_study(name) for name in study_names()]
    rows = [row for study in studies for row in study.rows]
    return [
        Reference("player of a training method", (method.player for method in METHODS.values()), names()),
        Reference("kernels of a player", (g for n in names() for g in player_class(n).kernels), {*GROUPS, SHIPPED}),
        Reference("command of a kind of job", JOB_KINDS, COMMANDS),
        Reference("training method of a study", (r.training_spec.method for r in rows if r.training_spec), METHODS),
        Reference("player of a study", (r.player.partition(":")[0] for r in rows if r.player), {*names(), TRAINED}),
    ]


def disagreements(references: Iterable[Reference]) -> Iterator[str]:
    for reference in references:
        for name in sorted(set(reference.given) - set(reference.known)):
            yield f"{reference.what}: {name} is unknown there, known: {', '.join(sorted(reference.known))}"


def problems() -> list[str]:
    rows = read_forbidden(GLOSSARY.read_text())
    if not rows:
        return [f"{GLOSSARY.name} has no table {TABLE!r}"]
    return [*large_folders(SOURCE), *forbidden_names(SOURCE, rows), *disagreements(references())]


if __name__ == "__main__":
    sys.exit("\n".join(problems()) or 0)

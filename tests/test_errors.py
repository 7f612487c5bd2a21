"""Errors carry data: a code, a field and a hint; nothing decides by the words of a message."""

import ast
import pickle
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import lab2048
from lab2048 import errors
from lab2048.cli.hints import HINTS, OPTIONS, with_option
from lab2048.errors import LabError, OutOfRangeError, UnknownNameError, UsageError
from lab2048.views.web import errors as web_errors
from lab2048.views.web.errors import status_of

SOURCE = Path(lab2048.__file__).parent
CLASSES = {
    kind
    for module in (errors, web_errors)
    for kind in vars(module).values()
    if isinstance(kind, type) and issubclass(kind, LabError)
}
CODES = {
    "LabError": ("error", 1),
    "UsageError": ("usage", 2),
    "UnknownNameError": ("goal.unknown", 2),
    "OutOfRangeError": ("goal.out_of_range", 2),
    "MissingPackageError": ("package.missing", 2),
    "RequirementError": ("requirement.missed", 4),
    "BoardError": ("board", 3),
    "IllegalMoveError": ("move.illegal", 3),
    "FileError": ("file", 3),
    "TargetExistsError": ("file.exists", 3),
    "UnwritableError": ("file.unwritable", 3),
    "PlayerError": ("player.failed", 3),
    "StoreError": ("store", 3),
    "StoreNotFoundError": ("store.not_found", 3),
    "GameDeletedError": ("game.deleted", 3),
    "GameChangedError": ("game.changed", 3),
    "SessionEndedError": ("session.ended", 1),
    "RevisionError": ("game.revision", 1),
    "JobNotFoundError": ("job.not_found", 1),
    "StoppedError": ("stopped", 1),
    "JobConflictError": ("job.conflict", 1),
    "ApiError": ("request", 1),
    "NotFoundError": ("not_found", 1),
    "ConflictError": ("conflict", 1),
    "TooLargeError": ("too_large", 1),
    "NotReadyError": ("not_ready", 1),
}
STATUSES = {
    "UnwritableError": 503,
    "StoreError": 503,
    "StoreNotFoundError": 404,
    "GameDeletedError": 404,
    "GameChangedError": 409,
    "SessionEndedError": 409,
    "RevisionError": 409,
    "JobNotFoundError": 404,
    "StoppedError": 503,
    "JobConflictError": 409,
    "NotFoundError": 404,
    "ConflictError": 409,
    "TooLargeError": 413,
    "NotReadyError": 503,
}


def make(kind: type[LabError]) -> LabError:
    if issubclass(kind, UnknownNameError):
        return kind("goal", "blue", ["red"])
    return kind("goal", 1, "4 to 8") if issubclass(kind, OutOfRangeError) else kind("something was wrong")


@pytest.mark.parametrize("kind", sorted(CLASSES, key=lambda kind: kind.__name__), ids=lambda kind: kind.__name__)
def test_every_class_has_a_code_an_exit_code_and_a_status(kind: type[LabError]) -> None:
    with pytest.raises(kind) as caught:
        raise make(kind)
    assert (caught.value.code, caught.value.exit_code) == CODES[kind.__name__]
    assert status_of(caught.value) == STATUSES.get(kind.__name__, 400)
    data = caught.value.to_json()
    assert data == {
        "error": str(caught.value),
        "code": caught.value.code,
        "field": caught.value.field,
        "hint": caught.value.hint,
    }
    copy = pickle.loads(pickle.dumps(caught.value))
    assert (type(copy), str(copy), copy.to_json()) == (kind, str(caught.value), data)


def test_a_status_does_not_depend_on_words() -> None:
    assert status_of(errors.StoreError("there is no room")) == 503
    assert status_of(errors.StoreNotFoundError("nothing here")) == 404


def test_a_field_gives_a_code_and_a_hint_is_part_of_the_line() -> None:
    error = UsageError("goal 3 is not a tile", field="goal", hint="take a power of two")
    assert (error.code, error.field, error.message) == ("goal.invalid", "goal", "goal 3 is not a tile")
    assert str(error) == "goal 3 is not a tile; take a power of two"
    assert UsageError("no", code="goal.missing", field="goal").code == "goal.missing"


def test_the_command_line_names_the_option_that_helps() -> None:
    exists = errors.TargetExistsError("x exists already")
    assert with_option(exists) == "x exists already; choose another name, or replace it with --force"
    assert str(exists) == "x exists already; choose another name, or pass force=True to replace it"
    assert with_option(errors.StoreError("x is locked", code="store.locked")) == "x is locked (--store FILE)"
    assert with_option(errors.StoreError("the disk is full", code="store.full")) == "the disk is full"
    assert with_option(LabError("x")) == "x"


def messages(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """The texts inside the arguments of everything that is named an error."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id.endswith("Error"):
            for inner in ast.walk(node):
                if isinstance(inner, ast.Constant) and isinstance(inner.value, str):
                    yield inner.lineno, inner.value


@pytest.mark.parametrize(
    "path",
    sorted(path for path in SOURCE.rglob("*.py") if "cli" not in path.relative_to(SOURCE).parts),
    ids=lambda path: str(path.relative_to(SOURCE)),
)
def test_no_message_of_the_library_names_an_option(path: Path) -> None:
    """A word of a command is an argument of its own, `"--json"`; a message has words around the option."""
    for node in ast.walk(tree := ast.parse(path.read_text())):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            node.value.value = ""  # a docstring
    named = [(line, text) for line, text in messages(tree) if re.search(r"--[a-z]", text)]
    texts = [node for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    named += [(node.lineno, str(node.value)) for node in texts if re.search(r" --[a-z]", str(node.value))]
    assert not named


def test_every_hint_belongs_to_a_code_that_is_raised() -> None:
    known = {kind.code for kind in CLASSES}
    for path in SOURCE.rglob("*.py"):
        known |= set(re.findall(r'code="([a-z_.]+)"', path.read_text()))
    parents = {code.rpartition(".")[0] for code in known}
    assert set(OPTIONS) | set(HINTS) <= known | parents

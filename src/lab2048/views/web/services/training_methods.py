"""Methods of training as the page offers them: what each takes, the command that it is, and how much it writes.

The options of a method are the fields of its Config, as on the command line; nothing here needs torch.
"""

import math
from dataclasses import Field, dataclass, fields
from functools import lru_cache
from typing import Any

from lab2048.errors import UnknownNameError, UsageError
from lab2048.models.deep.torch_import import NEEDS_TORCH, has_torch
from lab2048.rules import Rules
from lab2048.views.web.services.command_line import exact, rules_options
from lab2048.views.web.services.player_names import Library

NTUPLE = "ntuple"
LARGE = 200_000_000  # bytes from which on a file is not written every minute


@dataclass(frozen=True)
class Method:
    """How a network learns, and what kind of network that is."""

    name: str
    title: str
    doc: str
    head: str = ""  # what a deep network gives

    @property
    def is_deep(self) -> bool:
        return self.name != NTUPLE

    @property
    def player(self) -> str:
        """Who plays with such a network."""
        return player_of(self.head) if self.is_deep else NTUPLE

    @property
    def why_not(self) -> str:
        """Why it cannot be used here; nothing if it can."""
        return NEEDS_TORCH if self.is_deep and not has_torch() else ""

    @property
    def config(self) -> Any:
        """The class of its configurations."""
        if not self.is_deep:
            from lab2048.learning.ntuple_config import Config

            return Config
        from lab2048.learning.deep import config

        return {
            "afterstate": config.AfterstateConfig,
            "c51": config.ActionConfig,
            "dqn": config.ActionConfig,
            "returns": config.ReturnsConfig,
            "distil": config.DistilConfig,
        }[self.name]


METHODS = {
    method.name: method
    for method in (
        Method(NTUPLE, "n-tuples", "tables of patterns that learn by temporal differences: the strongest and fastest"),
        Method("afterstate", "deep, afterstates", "a deep network that values boards after a move", "value"),
        Method("c51", "deep, C51", "a deep network that gives each move a distribution over returns", "atoms"),
        Method("dqn", "deep, double DQN", "a deep network that values moves", "actions"),
        Method("returns", "deep, whole games", "values of moves, learnt from what whole games came to", "actions"),
        Method("distil", "deep, distilled", "a deep network that learns to do what another player does", "actions"),
    )
}


def player_of(head: str) -> str:
    """Who plays with a deep network of this kind."""
    return "net" if head == "value" else "c51"


def find_method(name: str) -> Method:
    """A method that can be used here; raise UsageError if it cannot."""
    if name not in METHODS:
        raise UnknownNameError("method", name[:40], METHODS)
    if METHODS[name].why_not:
        raise UsageError(METHODS[name].why_not)
    return METHODS[name]


def option_fields(method: Method) -> list["Field[Any]"]:
    """The options of a method; the network of n-tuples is asked for apart."""
    return [each for each in fields(method.config) if method.is_deep or each.name != "network"]


def option_doc(method: Method, name: str) -> str:
    """What an option means."""
    found = {each.name: each.metadata.get("doc", "") for each in fields(method.config)}.get(name, "")
    return str(found) or _field_docs(method.config).get(name, "")


@lru_cache
def _field_docs(kind: type) -> dict[str, str]:
    """The line of text below each field in the source of a class."""
    import ast
    import inspect

    try:
        body = ast.parse(inspect.getsource(kind)).body[0]
    except (OSError, SyntaxError):
        return {}
    found, last = {}, ""
    for node in getattr(body, "body", []):
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            last = node.target.id
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and last:
            found[last] = str(node.value.value)
            last = ""
    return found


def read_wishes(method: Method, wishes: dict[str, str | float | bool], library: Library) -> dict[str, Any]:
    """Options as the configuration wants them; raise UsageError for one that it does not know."""
    kinds = {each.name: str(each.type) for each in option_fields(method)}
    found: dict[str, Any] = {}
    for name, value in wishes.items():
        if name not in kinds:
            raise UnknownNameError("option", name[:40], kinds)
        found[name] = _typed(kinds[name], name, value)
        if name == "teacher":
            found[name] = library.read(found[name])
    return found


def _typed(kind: str, name: str, value: str | float | bool) -> Any:
    """An option as the configuration wants it."""
    expected = (
        "true or false" if "bool" in kind else "text" if "str" in kind else "a whole number" if "int" in kind else ""
    ) or "a number"
    if "bool" in kind and isinstance(value, bool):
        return value
    if "str" in kind and isinstance(value, str):
        return value
    is_number = isinstance(value, float | int) and not isinstance(value, bool) and math.isfinite(value)
    if is_number and "float" in kind:
        return float(value)
    if is_number and "int" in kind and value == int(value):
        return int(value)
    raise UsageError(f"option {name} is {str(value)[:40]!r}: expected {expected}", field="option")


def option_words(method: Method, config: dict[str, Any]) -> list[str]:
    """The words that say options on the command line."""
    from lab2048.learning.ntuple_config import SAID

    words: list[str] = []
    for name, value in config.items():
        said = name.replace("_", "-") if method.is_deep else SAID.get(name, name)
        if isinstance(value, bool):
            words.append(f"--{said}" if value else f"--no-{said}")
        else:
            words += [f"--{said}", exact(value) if isinstance(value, float) else str(value)]
    return words


def rules_words(board: str, rules: Rules) -> list[str]:
    """The words that say rules, unless they are the classic ones."""
    words = rules_options(rules)
    return words if board != "4x4" or len(words) > 2 else []


def check_design(method: Method, rules: Rules, config: dict[str, Any], n_moves: int = 0) -> tuple[int, int]:
    """How many bytes the file of a training has after some moves and in the end; raise an error if it cannot be made.

    Of a deep network it is about so many: games that are under way are of any length.
    """
    if not method.is_deep:
        first, last = method.config.for_board(rules, **config).sizes(rules, n_moves)
        return first, last
    from lab2048.models.deep.design import DeepDesign

    wished = method.config(**config)
    atoms = {"n_atoms": wished.atoms, "low": wished.least, "high": wished.most} if method.head == "atoms" else {}
    design = DeepDesign(rules, wished.network, method.head, wished.widths_read(), wished.reading, **atoms)
    n_weights = sum(math.prod(shape) for shape in design.shapes().values())
    copies = 6 if method.name in ("c51", "dqn") else 5  # as they play and as they learn, Adam's two sums, their mean
    n_kept = getattr(wished, "replay", 0) or wished.crowd * (256 if method.name == "returns" else 0)
    step = rules.shape.n_cells + 7  # board, move, reward and two flags
    first, full = 4 * copies * n_weights + 40 * wished.crowd, step * n_kept
    return (first + full, first + full) if method.name == "returns" else (first, first + full)


def minutes_between(method: Method, minutes: float, n_bytes: int) -> float:
    """How often a network is written: some ten times in a training of minutes, a large one seldom."""
    if not method.is_deep:
        return 5 if n_bytes > LARGE else 1
    return float(f"{min(5.0, max(0.1, minutes / 10)):.2g}")

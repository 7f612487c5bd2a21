"""The directive `library-reference`: every public name of lab2048, from the docstrings.

Names come from `lab2048.__all__`, so that a new one appears by itself.
"""

from collections import defaultdict
from typing import Any

from docutils import nodes
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util.docutils import SphinxDirective

import lab2048

# The section of a name, by the module that defines it.
SECTIONS = {
    "lab2048.rules": "Boards and rules",
    "lab2048.library.game": "Games",
    "lab2048.library.player": "Players",
    "lab2048.players": "Players",
    "lab2048.library.match": "Matches",
    "lab2048.library.solve": "Exact solutions",
    "lab2048.library.solution": "Exact solutions",
    "lab2048.library.regret": "Exact solutions",
    "lab2048.library.review": "Reviews",
    "lab2048.arena.review": "Reviews",
    "lab2048.library.train": "Training and tuning",
    "lab2048.library.network": "Training and tuning",
    "lab2048.library.tune": "Training and tuning",
    "lab2048.library.study": "Studies",
    "lab2048.studies": "Studies",
    "lab2048.library.store": "Saved games",
    "lab2048.errors": "Errors",
}
REST = "More"


def section_of(name: str) -> str:
    home = getattr(lab2048, name).__module__
    return next((title for start, title in SECTIONS.items() if f"{home}.".startswith(f"{start}.")), REST)


class LibraryReference(SphinxDirective):
    """A section for each subject, with its functions before its classes."""

    def run(self) -> list[nodes.Node]:
        sections: dict[str, list[str]] = defaultdict(list)
        for name in sorted(lab2048.__all__, key=lambda name: (isinstance(getattr(lab2048, name), type), name)):
            sections[section_of(name)].append(name)
        lines = []
        for title in dict.fromkeys([*SECTIONS.values(), REST]):
            if title in sections:
                lines += [f"## {title}\n", "```{eval-rst}", *map(automatic, sections[title]), "```\n"]
        return self.parse_text_to_nodes("\n".join(lines), allow_section_headings=True)


def automatic(name: str) -> str:
    """Return the directive that documents a name."""
    found = getattr(lab2048, name)
    if not isinstance(found, type):
        return f".. autofunction:: lab2048.{name}"
    kind = "exception" if issubclass(found, BaseException) else "class"
    is_ours = all(f"{each.__module__}.".startswith("lab2048.") for each in found.__mro__[:-1])
    inherited = "   :inherited-members:\n" if is_ours else ""  # not the members of int, Enum and Exception
    return f".. auto{kind}:: lab2048.{name}\n   :members:\n   :undoc-members:\n{inherited}"


def resolve(app: Sphinx, env: BuildEnvironment, node: pending_xref, content: nodes.Element) -> nodes.Element | None:
    """Link a class that is written with its module, as signatures have it, to its public name."""
    name = str(node.get("reftarget", "")).rpartition(".")[2]
    if node.get("refdomain") != "py" or name not in lab2048.__all__ or node.get("is_resolving"):
        return None
    node["is_resolving"] = True
    domain = env.get_domain("py")
    return domain.resolve_xref(env, node["refdoc"], app.builder, "obj", f"lab2048.{name}", node, content)


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_directive("library-reference", LibraryReference)
    app.connect("missing-reference", resolve)
    return {"parallel_read_safe": True}

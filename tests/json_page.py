"""docs/json.md as a schema: the tables that people read are what outputs are held against."""

import re
from pathlib import Path
from typing import Any

PAGE = Path(__file__).parents[1] / "docs" / "json.md"
Node = dict[str, Any]  # names to nodes; "" holds the type of a leaf


def read_page() -> dict[str, Node]:
    """Every schema of the page as a tree of its fields."""
    schemas: dict[str, Node] = {}
    for part in re.split(r"^## ", PAGE.read_text(), flags=re.MULTILINE)[1:]:
        name = part.partition("\n")[0].strip()
        schemas[name] = tree = {}
        for path, kind in re.findall(r"^\| `([^`]+)` \| ([^|]+) \|", part, re.MULTILINE):
            node = tree
            for step in path.replace("[]", ".[]").split("."):
                node = node.setdefault(step, {})
            node[""] = kind.strip()
    return schemas


def commands() -> dict[str, list[str]]:
    """The commands that the page names for each schema."""
    found = {}
    for part in re.split(r"^## ", PAGE.read_text(), flags=re.MULTILINE)[1:]:
        head = part.partition("| field")[0]
        found[part.partition("\n")[0].strip()] = re.findall(r"`(lab2048 [^`]+)`", head)
    return found


def faults(data: Any, schemas: dict[str, Node]) -> list[str]:
    """What is wrong with an output: fields that the page lacks, that are missing, or of another type."""
    name = data["schema"]
    if name not in schemas:
        return [f"{name} is not on the page"]
    tree = {**schemas[name], "schema": {"": "string"}, "program": {"": "string"}}
    return list(_faults(name, data, tree, schemas))


def _faults(at: str, data: Any, node: Node, schemas: dict[str, Node]) -> list[str]:
    if "" in node:
        kind = node[""].partition(",")[0]
        if data is None and kind.endswith(" or null"):
            return []
        return _leaf(at, data, kind.removesuffix(" or null"), schemas)
    if "[]" in node:
        if not isinstance(data, list):
            return [f"{at}: expected a list, found {data!r}"]
        return [fault for each in data for fault in _faults(f"{at}[]", each, node["[]"], schemas)]
    if not isinstance(data, dict):
        return [f"{at}: expected an object, found {data!r}"]
    if "*" in node:
        return [fault for each in data.values() for fault in _faults(f"{at}.*", each, node["*"], schemas)]
    found = [f"{at}.{name} is not on the page" for name in data if name not in node]
    found += [f"{at}.{name} is missing" for name in node if name not in data and not _is_optional(node[name])]
    for name in data.keys() & node.keys():
        found += _faults(f"{at}.{name}", data[name], node[name], schemas)
    return found


def _is_optional(node: Node) -> bool:
    if "" in node:
        return "optional" in node[""]
    return all(_is_optional(child) for child in node.values())


def _leaf(at: str, data: Any, kind: str, schemas: dict[str, Node]) -> list[str]:
    if kind == "rules":
        return _faults(at, data, schemas["rules"], schemas)
    fits = {
        "string": isinstance(data, str),
        "integer": isinstance(data, int) and not isinstance(data, bool),
        "number": isinstance(data, int | float) and not isinstance(data, bool),
        "boolean": isinstance(data, bool),
        "object": isinstance(data, dict),
        "any": True,
        "interval": isinstance(data, list)
        and len(data) == 2
        and all(end is None or isinstance(end, int | float) for end in data),
    }
    return [] if fits[kind] else [f"{at}: expected {kind}, found {data!r}"]

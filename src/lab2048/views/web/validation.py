"""Mistakes in a request in our own words: what was wrong, and what was expected.

Routes say by their types what they take, and pydantic finds what does not fit; its words are for programmers.
"""

from collections.abc import Mapping
from typing import Any

from lab2048.views.web.serialize.schema import NAME

MAX_SHOWN = 40  # letters of what was sent

# What a field of a type takes; by the beginning of pydantic's name for the mistake.
_KINDS = {
    "int": "a whole number",
    "float": "a number",
    "finite_number": "a finite number",
    "bool": "true or false",
    "string": "text",
    "list": "a list",
    "dict": "an object",
    "model": "an object",
}
_BOUNDS = {
    "greater_than_equal": ("ge", "at least"),
    "greater_than": ("gt", "more than"),
    "less_than_equal": ("le", "at most"),
    "less_than": ("lt", "less than"),
}


def in_words(mistake: Mapping[str, Any]) -> str:
    """One line for a mistake that pydantic has found.

    >>> in_words({"type": "less_than_equal", "loc": ("body", "games"), "input": 1000000, "ctx": {"le": 100000}})
    'games 1000000 is out of range: expected at most 100000'
    >>> in_words({"type": "missing", "loc": ("body", "rules", "board"), "input": {}})
    'board is missing: expected a value for it'
    """
    kind, about = str(mistake["type"]), mistake.get("ctx") or {}
    place = _place(mistake["loc"])
    said = f"{place}{_shown(mistake.get('input'))}"
    if kind in _BOUNDS:
        name, words = _BOUNDS[kind]
        return f"{said} is out of range: expected {words} {_plain(about[name])}"
    if kind == "missing":
        return f"{place} is missing: expected a value for it"
    if kind == "extra_forbidden":
        return f"{place} is unknown here: expected it to be left out"
    if kind == "json_invalid":
        return "the request is not JSON: expected an object, as docs/api.md has it"
    if kind == "string_pattern_mismatch":
        is_name = about.get("pattern") == NAME
        letters = "a name of at most 40 small letters, digits, - and _, the first a letter or digit"
        return f"{said} cannot be taken: expected {letters if is_name else 'text of another form'}"
    if kind in ("string_too_long", "string_too_short", "too_long", "too_short"):
        return _length(kind, place, about, mistake.get("input"))
    if kind == "literal_error":
        return f"{said} is unknown: expected {str(about.get('expected', '')).replace(chr(39), '')}"
    if mistake.get("input") is None and kind != "none_required":
        return f"{place} is empty: expected {_expected(kind)}"
    return f"{said} is not understood: expected {_expected(kind)}"


def _expected(kind: str) -> str:
    return next((words for name, words in _KINDS.items() if kind.startswith(name)), "something else")


def _place(parts: tuple[str | int, ...]) -> str:
    """The field that is wrong: its own name, and which one of a list."""
    names = [part for part in parts[1:] if isinstance(part, str)]
    # Of a field that takes several types pydantic names the one that it tried last.
    names = [name for name in names if name not in ("str", "float", "bool", "int")]
    place = names[-1] if names else "the request"
    return f"{place} {parts[-1] + 1}" if isinstance(parts[-1], int) and names else place


def _shown(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return ""
    text = str(value) if not isinstance(value, str) else repr(value[:MAX_SHOWN]) + ("..." if value[MAX_SHOWN:] else "")
    return f" {text[: MAX_SHOWN + 6]}"


def _plain(bound: Any) -> str:
    return f"{bound:g}" if isinstance(bound, float) and abs(bound) < 1e6 else str(bound).removesuffix(".0")


def _length(kind: str, place: str, about: Mapping[str, Any], value: Any) -> str:
    is_text = kind.startswith("string")
    bound = about.get("max_length" if kind.endswith("long") else "min_length")
    words = "at most" if kind.endswith("long") else "at least"
    n = about.get("actual_length") or (len(value) if isinstance(value, str | list | dict) else None)
    many = "" if n is None else f" of {n} letters" if is_text else f": {n} of them"
    return f"{place}{many}: expected {words} {bound}{' letters' if is_text else ''}"

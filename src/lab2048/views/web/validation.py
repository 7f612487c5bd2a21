"""Errors for requests that pydantic rejects: its messages are for programmers, these are for users."""

from collections.abc import Mapping
from typing import Any

from lab2048.errors import UsageError, unknown
from lab2048.views.web.serialize.schema import NAME

MAX_SHOWN = 40  # letters of the rejected value

# What a field of a type takes, by the prefix of pydantic's error type.
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


def to_error(mistake: Mapping[str, Any]) -> UsageError:
    """Convert an error of pydantic to a LabError.

    >>> found = to_error({"type": "less_than_equal", "loc": ("body", "games"), "input": 1000000, "ctx": {"le": 100000}})
    >>> str(found), found.code, found.field
    ('games 1000000 is out of range: expected at most 100000', 'games.out_of_range', 'games')
    >>> to_error({"type": "missing", "loc": ("body", "rules", "board"), "input": {}}).code
    'board.missing'
    """
    field = _field(mistake["loc"])
    kind, message = _describe(mistake, _location(mistake["loc"], field))
    return UsageError(message, code=f"{field or 'request'}.{kind}", field=field)


def _describe(mistake: Mapping[str, Any], location: str) -> tuple[str, str]:
    """Return the end of the error code, and a message."""
    kind, about = str(mistake["type"]), mistake.get("ctx") or {}
    said = f"{location}{_shown(mistake.get('input'))}"
    if kind in _BOUNDS:
        name, words = _BOUNDS[kind]
        return "out_of_range", f"{said} is out of range: expected {words} {_plain(about[name])}"
    if kind == "missing":
        return "missing", f"{location} is missing: expected a value for it"
    if kind == "extra_forbidden":
        return "unknown", unknown("field", location, otherwise="expected no such field")
    if kind == "json_invalid":
        return "invalid", "the request is not JSON: expected an object, as in docs/api.md"
    if kind == "string_pattern_mismatch":
        is_name = about.get("pattern") == NAME
        letters = "a name of at most 40 lowercase letters, digits, - and _, starting with a letter or digit"
        return "invalid", f"{said} is not accepted: expected {letters if is_name else 'text of another form'}"
    if kind in ("string_too_long", "string_too_short", "too_long", "too_short"):
        return "out_of_range", _length(kind, location, about, mistake.get("input"))
    if kind in ("literal_error", "enum"):
        return "unknown", f"unknown {said}: expected {str(about.get('expected', '')).replace(chr(39), '')}"
    if mistake.get("input") is None and kind != "none_required":
        return "missing", f"{location} is empty: expected {_expected(kind)}"
    return "invalid", f"{said} is not understood: expected {_expected(kind)}"


def _expected(kind: str) -> str:
    return next((words for name, words in _KINDS.items() if kind.startswith(name)), "something else")


def _field(parts: tuple[str | int, ...]) -> str | None:
    """Return the name of the field that is wrong, None if it is the request as a whole."""
    names = [part for part in parts[1:] if isinstance(part, str)]
    # For a field that takes several types pydantic appends the one that it tried last.
    names = [name for name in names if name not in ("str", "float", "bool", "int")]
    return names[-1] if names else None


def _location(parts: tuple[str | int, ...], field: str | None) -> str:
    """Return the field as a message names it, with its number if it is one of a list."""
    return f"{field} {parts[-1] + 1}" if isinstance(parts[-1], int) and field else field or "the request"


def _shown(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return ""
    text = str(value) if not isinstance(value, str) else repr(value[:MAX_SHOWN]) + ("..." if value[MAX_SHOWN:] else "")
    return f" {text[: MAX_SHOWN + 6]}"


def _plain(bound: Any) -> str:
    return f"{bound:g}" if isinstance(bound, float) and abs(bound) < 1e6 else str(bound).removesuffix(".0")


def _length(kind: str, location: str, about: Mapping[str, Any], value: Any) -> str:
    is_text = kind.startswith("string")
    bound = about.get("max_length" if kind.endswith("long") else "min_length")
    words = "at most" if kind.endswith("long") else "at least"
    n = about.get("actual_length") or (len(value) if isinstance(value, str | list | dict) else None)
    many = "" if n is None else f" of {n} letters" if is_text else f": {n} of them"
    return f"{location}{many}: expected {words} {bound}{' letters' if is_text else ''}"

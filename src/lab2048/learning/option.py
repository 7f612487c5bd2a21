"""What a training can be asked for: fields of a Config that know their range and say what they mean.

The command line makes its options of them, so that an option is written in one place.
"""

from dataclasses import field, fields
from typing import Any

from lab2048.errors import UsageError, nearest


def wish(
    default: Any,
    doc: str,
    *,
    low: float | None = None,
    high: float | None = None,
    known: tuple[str, ...] | None = None,
    is_fixed: bool = False,
) -> Any:
    """Declare a field of a Config; a fixed one cannot change when a training goes on."""
    about = {"doc": doc, "low": low, "high": high, "known": known, "is_fixed": is_fixed}
    return field(default=default, metadata=about)


def check_wishes(config: Any) -> None:
    """Raise UsageError for the first field that is out of its range."""
    for each in fields(config):
        check_wish(each, getattr(config, each.name))


def check_wish(field: Any, value: Any) -> None:
    """Raise UsageError if a field of a Config does not take a value."""
    about, name = field.metadata, field.name.replace("_", "-")
    if about.get("known") and value not in about["known"]:
        raise UsageError(f"{name} {value} is unknown: {nearest(str(value), about['known'])}")
    low, high = about.get("low"), about.get("high")
    if low is not None and high is not None and not low <= value <= high:
        raise UsageError(f"{name} {value:g} is out of range: expected {low:g} to {high:g}")


def check_same(config: Any, wishes: dict[str, Any]) -> None:
    """Raise UsageError if a training that goes on is asked for what it cannot change."""
    for each in fields(config):
        before, wished = getattr(config, each.name), wishes.get(each.name)
        if each.metadata.get("is_fixed") and wished is not None and wished != before:
            name = each.name.replace("_", "-")
            raise UsageError(f"{name} {wished}: the network was trained with {before}; leave it out, or begin another")

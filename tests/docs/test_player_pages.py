"""The pages of docs/players against the registry: every option is there, with the default that it has."""

import dataclasses
import re
from pathlib import Path
from typing import Any

import pytest

from lab2048.players.registry import _OURS, options, player_class

PAGES = Path(__file__).parents[2] / "docs" / "players"
SIMPLE = "baselines"  # the page of those that need no page each


def listed(text: str) -> dict[str, str | None]:
    """Return the listed options (- `name=default`: ...) with their defaults; None if the page gives none."""
    part = text.partition("\n## Options\n")[2].partition("\n## ")[0] or text
    options = (match[1].partition("=") for match in re.finditer(r"^- `(\w+(?:=[^`]*)?)`: ", part, re.MULTILINE))
    return {name: value if equals else None for name, equals, value in options}


def section(name: str) -> str:
    """The page of a player, or its part of the page of the simple ones."""
    page = PAGES / f"{name}.md"
    if page.exists():
        return page.read_text()
    parts = re.split(r"^## `", (PAGES / f"{SIMPLE}.md").read_text(), flags=re.MULTILINE)
    return next(part for part in parts if part.startswith(f"{name}`"))


def is_same(told: str | None, field: dataclasses.Field[Any]) -> bool:
    default = field.default
    if default in (None, ""):
        return told is None or told.isupper()  # table=DIR is no default, but what to write
    if told is None:
        return True
    if isinstance(default, bool):
        return told == str(default).lower()
    return float(told) == default if isinstance(default, int | float) else told == default


@pytest.mark.parametrize("name", _OURS)
def test_the_page_has_every_option_and_its_default(name: str) -> None:
    told, known = listed(section(name)), options(name)
    assert set(told) == set(known)
    for key, field in known.items():
        assert is_same(told[key], field), f"{name}: {key}={field.default}, the page says {told[key]}"


@pytest.mark.parametrize("name", _OURS)
def test_every_player_and_option_has_a_line_of_explanation(name: str) -> None:
    doc = (player_class(name).__doc__ or "").strip().splitlines()[0]
    assert doc.endswith(".")
    for key, field in options(name).items():
        assert 5 < len(field.metadata["doc"]) < 130, key
        assert "\n" not in field.metadata["doc"]


def test_no_page_is_about_nobody() -> None:
    known = {*_OURS, SIMPLE, "evaluators"}
    assert {page.stem for page in PAGES.glob("*.md")} <= known

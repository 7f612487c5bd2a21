"""Writes docs/training.md from the registry of training methods: python tests/training_page.py."""

from pathlib import Path

from lab2048.learning.config import Option
from lab2048.learning.registry import METHODS, Method

PAGE = Path(__file__).parents[1] / "docs" / "training.md"
HEAD = """# Training methods

`lab2048 train METHOD` trains a network. The library, the page, the full-screen terminal and studies
(`method = "..."`) have the same methods and options. `python tests/training_page.py` generates this page from
`src/lab2048/learning/registry.py`.

| method | what it does | played by |
|---|---|---|
"""


def write_page() -> str:
    """Return the text of the page."""
    parts = [HEAD, *map(_method_row, METHODS.values())]
    for method in METHODS.values():
        parts.append(f"\n## {method.name}\n\n| option | default | range | meaning |\n|---|---|---|---|\n")
        parts += [_row(option) for option in method.config.options()]
    return "".join(parts)


def _method_row(method: Method) -> str:
    player = f"[`{method.player}`](players/{method.player}.md)"
    return f"| [`{method.name}`](#{method.name}) | {method.doc} | {player} |\n"


def _row(option: Option) -> str:
    flag = f"--{option.flag}" if option.kind is not bool else f"--{option.flag}`, `--no-{option.flag}"
    default = {True: "yes", False: "no", None: ""}.get(option.default) if option.kind is bool else option.default
    shown = f"{default:g}" if isinstance(default, int | float) else default or ""
    spread = ", ".join(f"`{choice}`" for choice in option.choices)
    if option.low is not None:
        spread = f"{option.low:g} to {option.high:g}"
    fixed = "; cannot change on resume" if option.is_fixed else ""
    return f"| `{flag}` | {shown} | {spread} | {option.doc}{fixed} |\n"


if __name__ == "__main__":
    PAGE.write_text(write_page())

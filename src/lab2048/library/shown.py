"""What a result looks like: text for a terminal, HTML for a notebook."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Any, Self


@dataclass(frozen=True, repr=False)
class Shown:
    """A text that `print` and an interpreter show as it is, and a notebook as HTML."""

    text: str
    html: str

    @classmethod
    def of_rich(cls, renderable: Any, title: str, rows: Sequence[Sequence[str]]) -> Self:
        """Show something that Rich can print; `rows`, the header first, are the same as an HTML table."""
        from rich.console import Console

        console = Console(width=200, no_color=True, force_terminal=False, force_jupyter=False)
        with console.capture() as capture:
            console.print(renderable)
        text = "\n".join(line.rstrip() for line in capture.get().splitlines())
        return cls(text, html_table(title, rows))

    def __repr__(self) -> str:
        return self.text

    def __str__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        return self.html


def html_table(title: str, rows: Sequence[Sequence[str]]) -> str:
    """Return an HTML table; the first row is the header, the first column names the rows."""
    header, *body = rows
    head = "".join(f"<th>{escape(cell)}</th>" for cell in header)
    lines = "".join(
        f"<tr><th>{escape(row[0])}</th>{''.join(f'<td>{escape(cell)}</td>' for cell in row[1:])}</tr>" for row in body
    )
    return f"<table><caption>{escape(title)}</caption><thead><tr>{head}</tr></thead><tbody>{lines}</tbody></table>"

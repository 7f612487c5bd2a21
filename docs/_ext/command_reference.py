"""The directive `command-reference`: every command of lab2048, from the commands themselves."""

import inspect
import re
from collections.abc import Iterator
from typing import Any

import typer
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

_EXAMPLE = re.compile(r"^Example: ")
EVERYWHERE = ("help", "color", "debug")  # options of all commands, which the page names once


class CommandReference(SphinxDirective):
    """A section for each command: usage, description, example, arguments and options."""

    def run(self) -> list[nodes.Node]:
        from lab2048.cli.app import make_app
        from lab2048.cli.command_tree import children, walk

        lines, heading = [], ""
        for name, top in children(typer.main.get_command(make_app())).items():
            if top.rich_help_panel != heading:
                heading = top.rich_help_panel
                lines.append(f"## {heading}\n")
            for path, command in walk(top, (name,)):
                lines += section(path, command)
        return self.parse_text_to_nodes("\n".join(lines), allow_section_headings=True)


def section(path: tuple[str, ...], command: Any) -> Iterator[str]:
    """Return the lines of Markdown about a command."""
    yield f"{'#' * (len(path) + 2)} {' '.join(path)}\n"
    if not getattr(command, "commands", None):
        arguments = [piece for each in command.params for piece in each.get_usage_pieces(None)]
        yield f"```text\n{' '.join(['lab2048', *path, '[OPTIONS]', *arguments])}\n```\n"
    for paragraph in inspect.cleandoc(command.help or "").split("\n\n"):
        if example := _EXAMPLE.match(paragraph):
            words = inspect.cleandoc(paragraph[example.end() :])
            yield f"```console\n$ {words}\n```\n"
        elif paragraph.strip():
            yield f"{escape(paragraph.strip())}\n"
    for parameter in command.params:
        if not getattr(parameter, "hidden", False) and parameter.name not in EVERYWHERE:
            yield f"{names_of(parameter)}\n: {describe(parameter)}\n"


def names_of(parameter: Any) -> str:
    if parameter.param_type_name == "argument":
        return f"`{parameter.metavar}`"
    takes = "" if parameter.is_flag or not parameter.metavar else f" {parameter.metavar}"
    names = sorted(filter(str.strip, parameter.opts), key=len, reverse=True)
    off = filter(str.strip, parameter.secondary_opts)
    return ", ".join([f"`{names[0]}{takes}`", *(f"`{name}`" for name in [*names[1:], *off])])


def describe(parameter: Any) -> str:
    words = [escape(" ".join((parameter.help or "").split()))]
    if parameter.required:
        words.append("Required.")
    elif isinstance(parameter.default, int | float | str) and not isinstance(parameter.default, bool):
        words += [f"Default: `{parameter.default}`."] if parameter.default != "" else []
    if isinstance(variable := getattr(parameter, "envvar", None), str):
        words.append(f"Environment variable: `{variable}`.")
    return " ".join(filter(None, words)) or "See above."


def escape(text: str) -> str:
    """Escape what Markdown would read as markup, outside of `code`."""
    parts = re.split(r"(`[^`]*`)", text)
    return "".join(part if part.startswith("`") else re.sub(r"([\\*_<\[\]#|])", r"\\\1", part) for part in parts)


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_directive("command-reference", CommandReference)
    return {"parallel_read_safe": True}

"""Help that starts with an example, and Typer's errors in plain words."""

import re

from typer.exceptions import TyperException

from lab2048.cli.command_tree import Command, children, walk
from lab2048.errors import nearest

_NO_COMMAND = re.compile(r"No such command '(?P<name>.*?)'(?=\.)")  # what Typer adds may be far from it
_EXTRA = re.compile(r"Got unexpected extra arguments?\S* \((?P<words>.*)\)")
_EXAMPLE = re.compile(r"^Examples?:.*(?:\n(?!\n).*)*", re.MULTILINE)


def lead_with_examples(root: Command) -> None:
    """Move the example of every command to the start of its help."""
    for _, command in walk(root):
        text = command.help or ""
        found = _EXAMPLE.search(text) or _EXAMPLE.search(command.epilog or "")
        if found is None or text.startswith(found[0]):
            continue
        rest = text.replace(found[0], "").strip()
        if command.epilog and found[0] in command.epilog:
            command.epilog = command.epilog.replace(found[0], "").strip() or None
        # The list of commands shows the first sentence, and that is no example.
        command.short_help = command.short_help or rest.partition("\n\n")[0].replace("\n", " ")
        command.help = f"{found[0]}\n\n{rest}"


def name_arguments(root: Command) -> None:
    """Show arguments in help as other programs do: BOARD, [PLAYER], PLAYER..."""
    for _, command in walk(root):
        for parameter in command.params:
            if parameter.param_type_name == "argument":
                parameter.metavar = (parameter.metavar or parameter.name.upper()).strip("[].")
                shown = parameter.metavar + "..." * (parameter.nargs == -1)
                usage = shown if parameter.required else f"[{shown}]"
                parameter._usage_display_name = lambda usage=usage: usage
                parameter.display_type_rich = lambda ctx: ""  # noqa: ARG005


def example_of(command: Command) -> str:
    """Return the example at the start of the help of a command."""
    found = _EXAMPLE.match(command.help or "")
    return found[0].partition(":")[2].strip() if found else ""


def plainly(error: TyperException) -> str:
    """Return what is wrong with the command line, and what was expected: the nearest known word, or all of them."""
    context, message = getattr(error, "ctx", None), error.format_message()
    option = getattr(error, "option_name", None)
    if context is not None and option is not None and hasattr(error, "possibilities"):
        shown = [parameter for parameter in context.command.params if not getattr(parameter, "hidden", False)]
        names = [name for parameter in shown for name in parameter.opts if name.startswith("--")]
        close = [name for name in names if name.startswith(option)]
        return f"No such option: {option}: {f'did you mean {close[0]}?' if len(close) == 1 else nearest(option, names)}"
    if context is not None and message.startswith("Missing command"):
        return f"{context.command_path} needs to know what to do: expected {', '.join(children(context.command))}"
    if context is not None and (found := _NO_COMMAND.match(message)):
        return f"{found[0]}: {nearest(found['name'], children(context.command))}"
    if context is not None and hasattr(error, "param_type") and (example := example_of(context.command)):
        return f"{message.rstrip('.')}: expected as in {example}"
    if context is not None and (extra := _EXTRA.match(message)):
        example = example_of(context.command)
        return f"unexpected {extra['words']!r}{f': expected as in {example}' if example else ''}"
    return message.rstrip(".")

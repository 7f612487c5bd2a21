"""Help that leads with an example, and mistakes in plain words."""

import re
from collections.abc import Sequence
from typing import Any

from typer.exceptions import TyperException

from lab2048.cli.command_tree import Command, children, walk
from lab2048.errors import nearest

# What Typer says of a value that does not fit, and what we say.
_WANTED = {
    "valid integer": "a whole number",
    "valid number": "a number",
    "valid boolean": "true or false",
}
_NO_COMMAND = re.compile(r"No such command '(?P<name>.*?)'(?=\.)")  # what Typer adds may be far from it
_EXTRA = re.compile(r"Got unexpected extra arguments?\S* \((?P<words>.*)\)")
_EXAMPLE = re.compile(r"^Examples?:.*(?:\n(?!\n).*)*", re.MULTILINE)


def lead_with_examples(root: Command) -> None:
    """Put the example of every command, wherever its text has it, before the rest of its help."""
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
    """Have help write arguments as other programs do: BOARD, [PLAYER], PLAYER..., and not what Python calls them."""
    for _, command in walk(root):
        for parameter in command.params:
            if parameter.param_type_name == "argument":
                parameter.metavar = (parameter.metavar or parameter.name.upper()).strip("[].")
                shown = parameter.metavar + "..." * (parameter.nargs == -1)
                usage = shown if parameter.required else f"[{shown}]"
                parameter._usage_display_name = lambda usage=usage: usage
                parameter.display_type_rich = lambda ctx: ""  # noqa: ARG005


def example_of(command: Command) -> str:
    """The example of a command, once it leads."""
    found = _EXAMPLE.match(command.help or "")
    return found[0].partition(":")[2].strip() if found else ""


def plainly(error: TyperException, words: Sequence[str] = ()) -> str:
    """What a mistake in some words is, and what was expected: the nearest known word, or all of them."""
    context, message = getattr(error, "ctx", None), error.format_message()
    option = getattr(error, "option_name", None)
    if context is not None and option is not None and message.startswith("No such option"):
        shown = [parameter for parameter in context.command.params if not getattr(parameter, "hidden", False)]
        names = [name for parameter in shown for name in parameter.opts if name.startswith("--")]
        close = [name for name in names if name.startswith(option)]
        return f"No such option: {option}: {f'did you mean {close[0]}?' if len(close) == 1 else nearest(option, names)}"
    if context is not None and message.startswith("Missing command"):
        return f"{context.command_path} needs to know what to do: expected {', '.join(children(context.command))}"
    if context is not None and (found := _NO_COMMAND.match(message)):
        return f"{found[0]}: {nearest(found['name'], children(context.command))}"
    if context is not None and message.startswith("Missing") and (example := example_of(context.command)):
        return f"{message.rstrip('.')}: expected as in {example}"
    for sign, wanted in _WANTED.items():
        if sign in message:
            parameter = getattr(error, "param", None)
            name = max(parameter.opts, key=len) if parameter and parameter.param_type_name == "option" else ""
            name = name or getattr(parameter, "metavar", "") or "a value"
            value = _value_of(parameter, words)
            return f"{name}{f' {value!r}' if value else ''} is not understood: expected {wanted}"
    if context is not None and (extra := _EXTRA.match(message)):
        example = example_of(context.command)
        return f"unexpected {extra['words']!r}{f': expected as in {example}' if example else ''}"
    return message.rstrip(".")


def _value_of(parameter: Any, words: Sequence[str]) -> str:
    """What was typed for an option, if that can be found."""
    for option in getattr(parameter, "opts", ()):
        for word, following in zip(words, [*words[1:], ""], strict=False):
            if word == option:
                return following
            if word.startswith(f"{option}=" if option.startswith("--") else option) and option.startswith("-"):
                return word.removeprefix(option).removeprefix("=")
    return ""

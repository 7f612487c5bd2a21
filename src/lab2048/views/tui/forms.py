"""The entries of the menu as data: their form fields, and the command line that does the same."""

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, replace

from lab2048.errors import UsageError
from lab2048.learning.registry import names
from lab2048.rules import Rules


@dataclass(frozen=True, slots=True)
class Field:
    """A form field; if empty, the command uses its default."""

    name: str
    default: str
    doc: str
    option: str = ""  # option of the command; empty: positional arguments
    is_flag: bool = False  # yes adds the option


@dataclass(frozen=True, slots=True)
class CommandForm:
    """A command of the menu and its form."""

    name: str
    key: str
    doc: str
    command: tuple[str, ...]
    fields: tuple[Field, ...] = ()

    def words(self, values: Mapping[str, str]) -> list[str]:
        """Return the command line without the program's name.

        >>> match = next(form for form in COMMAND_FORMS if form.name == "match")
        >>> match.words({"players": "random first", "games": "20"})
        ['match', 'random', 'first', '--games', '20']
        """
        words = list(self.command)
        for field in self.fields:
            value = values.get(field.name, "").strip()
            if not value:
                continue
            if field.is_flag:
                words += [field.option] * _is_yes(value)
            elif field.option:
                words += [field.option, value]
            else:
                words += shlex.split(value)
        return words

    def resume_words(self, words: list[str]) -> list[str]:
        """Return the command line that resumes a job; empty if it cannot be resumed.

        >>> forms = {form.name: form for form in COMMAND_FORMS}
        >>> forms["match"].resume_words(["match", "random"]), forms["solve"].resume_words(["solve", "2x2"])
        (['match', 'random', '--resume'], [])
        """
        if any(field.option == "--resume" for field in self.fields):
            return words if "--resume" in words else [*words, "--resume"]
        return words if "--out" in words else []


def rules_of(values: Mapping[str, str]) -> Rules:
    """Read the rules from the fields; raise a LabError if they are not playable."""
    text = {field.name: values.get(field.name, "").strip() for field in RULES}
    start = read_number(values, "start", -1)
    return Rules.from_text(
        text["board"] or "4x4",
        goal=read_number(values, "goal", 2048),
        spawn=text["spawn"] or "2:0.9,4:0.1",
        start=None if start < 0 else start,
        spawner=text["spawner"] or "fair",
        stop_at_goal=_is_yes(text["stop"]),
    )


def _is_yes(text: str) -> bool:
    return text.lower() in ("y", "yes", "1", "true")


def read_number(values: Mapping[str, str], name: str, default: int) -> int:
    """Read a whole number from a field; return `default` if it is empty."""
    text = values.get(name, "").strip()
    if not text:
        return default
    if not text.isascii() or not text.isdigit():
        raise UsageError(f"{name} {text!r} is not a number: expected digits")
    return int(text)


_BOARD = Field("board", "4x4", "4x4, 3x5, hex2, a map: ##x|#2#|###", "--rules")
_GOAL = Field("goal", "2048", "the tile that wins", "--goal")
_SPAWN = Field("spawn", "", "new tiles; empty: 2:0.9,4:0.1", "--spawn")
_START = Field("start", "", "first tiles; empty: 2, or the map's", "--start")
_SPAWNER = Field("spawner", "", "fair (when empty), first or worst", "--spawner")
_STOP = Field("stop", "no", "yes: the game ends at the goal", "--stop-at-goal", is_flag=True)
_SEED = Field("seed", "", "random seed; empty: a new one", "--seed")
RULES = (_BOARD, _GOAL, _STOP, _SPAWN, _START, _SPAWNER)  # the options of every command that plays
_QUIET_RULES = (_BOARD, replace(_GOAL, default="", doc="the tile that wins; empty: 2048"), *RULES[2:])

METHODS = names()

COMMAND_FORMS = (
    CommandForm("play", "p", "play a game, with hints, undo and autoplay", ("play",), (*RULES, _SEED)),
    CommandForm(
        "watch",
        "w",
        "watch a player; take over at any move",
        ("watch",),
        (
            Field("player", "", "expectimax:ms=20; empty: the best"),
            *_QUIET_RULES,
            Field("speed", "10", "moves per second; 0 = unlimited", "--speed"),
            _SEED,
        ),
    ),
    CommandForm("games", "g", "list, replay and continue saved games", ("games", "list")),
    CommandForm("practice", "e", "practise endgames with exact success rates", ("tui",)),
    CommandForm(
        "match",
        "m",
        "compare players on the same seeds",
        ("match",),
        (
            Field("players", "greedy expectimax", "one or more, separated by spaces"),
            *_QUIET_RULES,
            Field("games", "20", "games per player", "--games"),
            Field("seed", "1", "seed of the match", "--seed"),
            Field("workers", "", "parallel games; empty: one per core", "--workers"),
            Field("resume", "no", "yes: continue this match", "--resume", is_flag=True),
        ),
    ),
    CommandForm(
        "train",
        "t",
        "train a network by self-play",
        ("train",),
        (
            Field("method", METHODS[0], f"or {'/'.join(METHODS[1:])}"),
            *_QUIET_RULES,
            Field("network", "", "empty: by board and minutes; best, 4x6", "--network"),
            Field("minutes", "5", "minutes of training", "--minutes"),
            Field("threads", "", "empty: one per core", "--threads"),
            Field("out", "network.safetensors", "output file", "--out"),
            Field("resume", "no", "yes: continue the file", "--resume", is_flag=True),
        ),
    ),
    CommandForm(
        "solve",
        "s",
        "solve a small board exactly",
        ("solve",),
        (
            Field("board", "2x3", "2x4, 3x3, hex1, a map of 16 cells"),
            Field("goal", "64", "goal tile; empty: expected score", "--goal"),
            _SPAWN,
            _START,
            Field("out", "", "output folder; empty: none", "--out"),
            Field("memory", "1G", "memory limit", "--memory"),
        ),
    ),
)

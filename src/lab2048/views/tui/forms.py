"""The entries of the menu as data: their form fields, and the command line that does the same."""

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, replace

from lab2048.errors import UsageError
from lab2048.learning.registry import names
from lab2048.rules import Rules


@dataclass(frozen=True, slots=True)
class Field:
    """Something to fill in; empty means the default of the command."""

    name: str
    default: str
    doc: str
    option: str = ""  # how the command takes it; none: as words of their own
    is_flag: bool = False  # yes or nothing


@dataclass(frozen=True, slots=True)
class Plan:
    """A line of the menu."""

    name: str
    key: str
    doc: str
    command: tuple[str, ...]
    fields: tuple[Field, ...] = ()

    def words(self, values: Mapping[str, str]) -> list[str]:
        """Return the command line without the program's name.

        >>> [plan for plan in PLANS if plan.name == "match"][0].words({"players": "random first", "games": "20"})
        ['match', 'random', 'first', '--games', '20']
        """
        words = list(self.command)
        for field in self.fields:
            value = values.get(field.name, "").strip()
            if not value:
                continue
            if field.is_flag:
                words += [field.option] if value.lower() in ("y", "yes", "1", "true") else []
            elif field.option:
                words += [field.option, value]
            else:
                words += shlex.split(value)
        return words

    def resume_words(self, words: list[str]) -> list[str]:
        """Return the command line that resumes a job; empty if nothing of it is kept.

        >>> plans = {plan.name: plan for plan in PLANS}
        >>> plans["match"].resume_words(["match", "random"]), plans["solve"].resume_words(["solve", "2x2"])
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
    )


def read_number(values: Mapping[str, str], name: str, default: int) -> int:
    """Read a whole number from a field; return `default` if it is empty."""
    text = values.get(name, "").strip()
    if not text:
        return default
    if not text.isascii() or not text.isdigit():
        raise UsageError(f"{name} {text!r} is no number: expected digits")
    return int(text)


def command_line(words: list[str]) -> str:
    """Return a command as a user would type it."""
    return shlex.join(["lab2048", *words])


_BOARD = Field("board", "4x4", "4x4, 3x5, hex2, a map: ##x|#2#|###", "--rules")
_GOAL = Field("goal", "2048", "the tile that wins", "--goal")
_SPAWN = Field("spawn", "", "new tiles; empty: 2:0.9,4:0.1", "--spawn")
_START = Field("start", "", "first tiles; empty: 2, or the map's", "--start")
_SPAWNER = Field("spawner", "", "fair (when empty), first or worst", "--spawner")
_SEED = Field("seed", "", "of the dice; empty: a fresh one", "--seed")
RULES = (_BOARD, _GOAL, _SPAWN, _START, _SPAWNER)  # as every command that plays takes them
_QUIET_RULES = (_BOARD, replace(_GOAL, default="", doc="the tile that wins; empty: 2048"), *RULES[2:])

METHODS = names()

PLANS = (
    Plan("play", "p", "the game, with hints, undo, and a player who takes over", ("play",), (*RULES, _SEED)),
    Plan(
        "watch",
        "w",
        "a player at work; take over at any move",
        ("watch",),
        (
            Field("player", "", "expectimax:ms=20; empty: the best"),
            *_QUIET_RULES,
            Field("speed", "10", "moves a second; 0: as fast as it can", "--speed"),
            _SEED,
        ),
    ),
    Plan("games", "g", "every game is kept: look, replay, go on", ("games", "list")),
    Plan(
        "match",
        "m",
        "players on the same seeds, compared",
        ("match",),
        (
            Field("players", "greedy expectimax", "one or more, spaces between them"),
            *_QUIET_RULES,
            Field("games", "20", "for each player", "--games"),
            Field("seed", "1", "of the match: the same dice for all", "--seed"),
            Field("workers", "", "games at once; empty: one a core", "--workers"),
            Field("resume", "no", "yes: go on with this match", "--resume", is_flag=True),
        ),
    ),
    Plan(
        "train",
        "t",
        "a network that learns by playing",
        ("train",),
        (
            Field("method", METHODS[0], f"or {'/'.join(METHODS[1:])}"),
            *_QUIET_RULES,
            Field("network", "", "best (up to 3 GB) if empty; 4x6, rows", "--network"),
            Field("minutes", "5", "minutes of training", "--minutes"),
            Field("threads", "", "empty: one per core", "--threads"),
            Field("out", "network.safetensors", "output file", "--out"),
            Field("resume", "no", "yes: continue the file", "--resume", is_flag=True),
        ),
    ),
    Plan(
        "solve",
        "s",
        "the exact value of a small board",
        ("solve",),
        (
            Field("board", "2x3", "2x4, 3x3, hex1, a map of 16 cells"),
            Field("goal", "64", "that wins; empty: the expected score", "--goal"),
            _SPAWN,
            _START,
            Field("out", "", "folder of the table; empty: none", "--out"),
            Field("memory", "1G", "to take at most", "--memory"),
        ),
    ),
)

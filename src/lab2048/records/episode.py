"""Episodes: recorded games.

Spawns are a function of the seed, so rules, seed and moves determine the whole game.  A game that was played
elsewhere has its spawns recorded instead.  Score, highest tile and the rest can be recomputed; they are stored for
checking and sorting.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, Self

from lab2048.errors import BoardError, FileError
from lab2048.rules import Game, Rules, Turn
from lab2048.rules.dice import check_seed
from lab2048.rules.game import GivenSpawn, replay

SCHEMA = "lab2048/episode-1"
SPAWNS_SCHEMA = "lab2048/episode-2"  # of a game with recorded spawns
MAX_MOVES = 10_000_000  # per game; keeps every score within 64 bits, see lab2048.rules.notation
MAX_SECONDS = 1e10  # three centuries

# A spawn is written as two letters: the cell and the rank.
_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_"

_KINDS: dict[str, tuple[type, ...]] = {
    "seed": (int,),
    "player": (str,),
    "moves": (str,),
    "score": (int,),
    "max_tile": (int,),
    "moves_to_goal": (int, type(None)),
    "seconds": (int, float),
}

# (move number from 1, player that takes over there); the first player is not listed.
Movers = tuple[tuple[int, str], ...]


@dataclass(frozen=True)
class Episode:
    """One recorded game."""

    rules: Rules
    seed: int
    player: str  # of the first moves
    moves: str  # one letter per move, see lab2048.rules.move
    score: int
    max_tile: int
    moves_to_goal: int | None  # moves until the goal was reached; None if it was not
    seconds: float  # total thinking time of the players
    movers: Movers = ()
    spawns: str = ""  # those that do not follow from the seed, from the first tile on; see `read_spawns`

    @classmethod
    def from_game(cls, game: Game, player: str, seconds: float, movers: Movers = ()) -> Self:
        """Make the record of a game."""
        return cls(
            rules=game.rules,
            seed=game.seed,
            player=player,
            moves=game.moves_text(),
            score=game.score,
            max_tile=game.board.max_tile,
            moves_to_goal=game.moves_to_goal,
            seconds=seconds,
            movers=movers,
            spawns=write_spawns(game.given[: game.rules.n_start + len(game.turns)]),
        )

    @property
    def schema(self) -> str:
        return SPAWNS_SCHEMA if self.spawns else SCHEMA

    @property
    def is_won(self) -> bool:
        return self.moves_to_goal is not None

    @cached_property
    def checksum(self) -> str:
        """Return a digest of everything except the time."""
        facts = [self.seed, self.player, self.moves, self.score, self.max_tile, self.moves_to_goal, self.movers]
        facts += [self.spawns] * bool(self.spawns)
        text = f"[{self.rules.json_text}, {json.dumps(facts)[1:]}"
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def begin(self) -> Game:
        """Return the game before its first move; raise FileError if its first board breaks the rules."""
        try:
            return Game(self.rules, self.seed, given=read_spawns(self.spawns))
        except BoardError as error:
            raise FileError(f"the first board is impossible: {error}", code="game.invalid") from None

    def replay(self) -> Iterator[Turn]:
        """Replay the game turn by turn; raise FileError, with the move number, at the first mismatch.

        When the iterator ends, score, highest tile and moves to the goal have been verified.  Turns are
        not stored, so games of any length from untrusted sources can be checked in little memory.
        """
        start = self.begin()
        board, score, to_goal = start.board, start.score, start.moves_to_goal
        try:
            for turn in replay(self.rules, self.seed, self.moves, start.given):
                board, score, to_goal = turn.board, turn.score, turn.moves_to_goal
                yield turn
        except BoardError as error:
            raise FileError(f"the game does not replay: {error}", code="game.invalid") from None
        for name, found in (("score", score), ("max_tile", board.max_tile), ("moves_to_goal", to_goal)):
            recorded = getattr(self, name)
            if recorded != found:
                end = f"after move {len(self.moves)}, the last, {name} is {found}"
                raise FileError(f"the game does not replay: {end}, but recorded as {recorded}", code="game.invalid")

    def prove(self) -> Game:
        """Return the game with all its turns; raise FileError unless it replays as recorded."""
        game = self.begin()
        game.turns.extend(self.replay())
        return game

    def to_json(self) -> dict[str, Any]:
        """Return JSON data; `from_json` is the inverse."""
        data = {field.name: getattr(self, field.name) for field in fields(self)}
        if not self.spawns:
            del data["spawns"]
        return {"schema": self.schema, **data, "rules": self.rules.to_json(), "checksum": self.checksum}

    @classmethod
    def from_json(cls, data: Any) -> Self:
        """Parse the data that `to_json` returns; raise FileError for anything else or a wrong checksum."""
        if not isinstance(data, dict) or data.get("schema") not in (SCHEMA, SPAWNS_SCHEMA):
            raise FileError(f"not an episode: expected an object with the schema {SCHEMA} or {SPAWNS_SCHEMA}")
        if (data["schema"] == SPAWNS_SCHEMA) != bool(data.get("spawns")):
            raise FileError(f"an episode with spawns has the schema {SPAWNS_SCHEMA}, and one without has {SCHEMA}")
        return cls.from_facts(Rules.from_json(data.get("rules")), data)

    @classmethod
    def from_facts(cls, rules: Rules, data: Mapping[str, Any]) -> Self:
        """Make an episode from untrusted fields; raise LabError if a field or the checksum is wrong."""
        check_kinds(data, _KINDS)
        facts = {name: data[name] for name in _KINDS}
        if len(facts["moves"]) > MAX_MOVES:
            raise FileError(f"the game has {len(facts['moves'])} moves: expected at most {MAX_MOVES}")
        check_seconds(facts["seconds"])
        check_seed(facts["seed"])
        n_moves, spawns = len(facts["moves"]), data.get("spawns", "")
        check_spawns(spawns, rules.n_start, n_moves)
        episode = cls(rules, **facts, movers=read_movers(data.get("movers"), facts["player"], n_moves), spawns=spawns)
        if (told := data.get("checksum")) != episode.checksum:
            what = "the checksum is missing" if told is None else f"checksum {str(told)[:20]!r} is wrong"
            raise FileError(
                f"{what}: expected {episode.checksum}",
                code="file.damaged",
            )
        return episode


def write_spawns(given: Sequence[GivenSpawn]) -> str:
    """Return spawns as text; `read_spawns` is the inverse.

    >>> write_spawns([(3, 1), (15, 2)])
    '31f2'
    """
    return "".join(_DIGITS[cell] + _DIGITS[rank] for cell, rank in given)


def read_spawns(text: str) -> list[GivenSpawn]:
    """Read spawns that `check_spawns` accepts.

    >>> read_spawns("31f2")
    [(3, 1), (15, 2)]
    """
    numbers = [_DIGITS.index(letter) for letter in text]
    return list(zip(numbers[::2], numbers[1::2], strict=True))


def check_spawns(text: Any, n_start: int, n_moves: int) -> None:
    """Raise FileError unless the text has the first spawns of a game with so many moves, or all, or is empty."""
    if not isinstance(text, str) or len(text) % 2 or len(text) > 2 * (n_start + n_moves):
        raise FileError(f"spawns is {str(text)[:40]!r}: expected two letters per spawn, at most {n_start + n_moves}")
    for letter in sorted(set(text) - set(_DIGITS)):
        raise FileError(f"spawns has {letter!r}: expected letters, digits, - and _")


def check_kinds(data: Mapping[str, Any], kinds: Mapping[str, tuple[type, ...]]) -> None:
    """Raise FileError unless each field is present and has one of its types."""
    for name, kind in kinds.items():
        if name not in data or type(data[name]) not in kind:
            raise FileError(f"{name} is {str(data.get(name))[:40]!r}: expected {kind[0].__name__}")


def check_seconds(seconds: float) -> None:
    """Raise FileError unless `seconds` is in the valid range."""
    if not 0 <= seconds <= MAX_SECONDS:  # also true for infinity and NaN
        raise FileError(f"seconds is out of range: expected 0 to {MAX_SECONDS:.0e}")


def names_of(player: str, movers: Movers, n_moves: int) -> list[str]:
    """Return the player of each move, given the first player and the takeovers.

    >>> names_of("human", ((3, "random"), (4, "human")), 4)
    ['human', 'human', 'random', 'human']
    """
    names = [player] * n_moves
    for number, name in movers:
        names[number - 1 :] = [name] * (n_moves - number + 1)
    return names[:n_moves]


def read_movers(data: Any, player: str, n_moves: int) -> Movers:
    """Parse the field `movers`: increasing move numbers, and a different player each time."""
    expected = "expected pairs of a move and the player who takes over there, in order"
    if not isinstance(data, list):
        raise FileError(f"movers is {str(data)[:40]!r}: {expected}")
    last, movers = 1, []
    for pair in data:
        match pair:
            case [int(number), str(name)] if type(number) is int and last < number <= n_moves and name != player:
                movers.append((number, name))
                last, player = number, name
            case _:
                raise FileError(f"movers has {str(pair)[:40]!r}: {expected}")
    return tuple(movers)

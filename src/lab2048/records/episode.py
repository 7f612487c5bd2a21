"""Episodes: games that were played, as little as proves them.

Dice are a function of the seed, so rules, seed and moves are the whole game; score,
highest tile and the rest can be recomputed, and are kept so that they can be
checked and sorted by.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import pairwise
from typing import Any, Self

from lab2048.errors import BoardError, FileError
from lab2048.rules import Game, Rules, Turn
from lab2048.rules.dice import check_seed
from lab2048.rules.game import replay

SCHEMA = "lab2048/episode-1"
MAX_MOVES = 10_000_000  # of one game; with it no score leaves 64 bits, see lab2048.rules.notation
MAX_SECONDS = 1e10  # three centuries

_KINDS: dict[str, tuple[type, ...]] = {
    "seed": (int,),
    "player": (str,),
    "moves": (str,),
    "score": (int,),
    "max_tile": (int,),
    "moves_to_goal": (int, type(None)),
    "seconds": (int, float),
}

# Who took over, and from which move on, counted from 1; whoever made the first moves is not named here.
Movers = tuple[tuple[int, str], ...]


@dataclass(frozen=True)
class Episode:
    """One game that was played."""

    rules: Rules
    seed: int
    player: str  # who began
    moves: str  # a letter a move, see lab2048.rules.move
    score: int
    max_tile: int
    moves_to_goal: int | None  # moves until the goal stood on the board; None if it never did
    seconds: float  # what the players took to choose, in all
    movers: Movers = ()

    @classmethod
    def from_game(cls, game: Game, player: str, seconds: float, movers: Movers = ()) -> Self:
        """What is worth keeping of a game."""
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
        )

    @property
    def is_won(self) -> bool:
        return self.moves_to_goal is not None

    @property
    def checksum(self) -> str:
        """Changes with any change of the game; the time it took is not part of it."""
        facts = [self.seed, self.player, self.moves, self.score, self.max_tile, self.moves_to_goal, self.movers]
        text = f"[{self.rules.json_text}, {json.dumps(facts)[1:]}"
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def replay(self) -> Iterator[Turn]:
        """Play it again turn by turn; raise FileError, with the number of the move, at the first thing that is not so.

        The game is proved when the iterator ends: score, highest tile and the way to the
        goal have then come out as recorded.  Turns are not remembered: a record of any
        length needs little memory, and this is how games from strangers are checked.
        """
        start = Game(self.rules, self.seed)
        board, score, to_goal = start.board, start.score, start.moves_to_goal
        try:
            for turn in replay(self.rules, self.seed, self.moves):
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
        """The game with all its turns; raise FileError unless all comes out as recorded."""
        game = Game(self.rules, self.seed)
        game.turns.extend(self.replay())
        return game

    def to_json(self) -> dict[str, Any]:
        """The episode as plain data; `from_json` is the inverse."""
        data = {field.name: getattr(self, field.name) for field in fields(self)}
        return {"schema": SCHEMA, **data, "rules": self.rules.to_json(), "checksum": self.checksum}

    @classmethod
    def from_json(cls, data: Any) -> Self:
        """Read what `to_json` wrote; anything else is refused, and so is a wrong checksum."""
        if not isinstance(data, dict) or data.get("schema") != SCHEMA:
            raise FileError(f"this is no episode: expected an object with the schema {SCHEMA}")
        return cls.from_facts(Rules.from_json(data.get("rules")), data)

    @classmethod
    def from_facts(cls, rules: Rules, data: Mapping[str, Any]) -> Self:
        """The episode that strangers describe, its rules apart; raise LabError if a field or the checksum is wrong."""
        check_kinds(data, _KINDS)
        facts = {name: data[name] for name in _KINDS}
        if len(facts["moves"]) > MAX_MOVES:
            raise FileError(f"the game has {len(facts['moves'])} moves: expected at most {MAX_MOVES}")
        check_seconds(facts["seconds"])
        check_seed(facts["seed"])
        episode = cls(rules, **facts, movers=read_movers(data.get("movers"), facts["player"], len(facts["moves"])))
        if episode.checksum != data.get("checksum"):
            raise FileError(
                f"checksum {str(data.get('checksum'))[:20]!r} is wrong: expected {episode.checksum}",
                code="file.damaged",
            )
        return episode


def check_kinds(data: Mapping[str, Any], kinds: Mapping[str, tuple[type, ...]]) -> None:
    """Raise FileError unless each field is there and of one of its kinds."""
    for name, kind in kinds.items():
        if name not in data or type(data[name]) not in kind:
            raise FileError(f"{name} is {str(data.get(name))[:40]!r}: expected {kind[0].__name__}")


def check_seconds(seconds: float) -> None:
    """Raise FileError unless this is a time that a game can take."""
    if not 0 <= seconds <= MAX_SECONDS:  # so it is for infinity and for what is no number
        raise FileError(f"seconds is out of range: expected 0 to {MAX_SECONDS:.0e}")


def movers_of(names: Sequence[str]) -> Movers:
    """Who took over and when, given who made each move.

    >>> movers_of(["human", "human", "random", "human"])
    ((3, 'random'), (4, 'human'))
    """
    return tuple((number, name) for number, (before, name) in enumerate(pairwise(names), 2) if name != before)


def names_of(player: str, movers: Movers, n_moves: int) -> list[str]:
    """Who made each move, given who began and who took over.

    >>> names_of("human", ((3, "random"), (4, "human")), 4)
    ['human', 'human', 'random', 'human']
    """
    names = [player] * n_moves
    for number, name in movers:
        names[number - 1 :] = [name] * (n_moves - number + 1)
    return names[:n_moves]


def read_movers(data: Any, player: str, n_moves: int) -> Movers:
    """Read the field `movers`: each move later than the one before, each player another than the one before."""
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

"""Episodes: games that were played, as little as proves them.

Dice are a function of the seed, so rules, seed and moves are the whole game; score,
highest tile and the rest can be recomputed, and are kept so that they can be
checked and sorted by.
"""

import hashlib
import json
from dataclasses import dataclass, fields
from typing import Any, Self

from lab2048.errors import BoardError, FileError
from lab2048.rules import Game, Rules
from lab2048.rules.dice import check_seed

SCHEMA = "lab2048/episode-1"


@dataclass(frozen=True)
class Episode:
    """One game that was played."""

    rules: Rules
    seed: int
    player: str
    moves: str  # a letter a move, see lab2048.rules.move
    score: int
    max_tile: int
    moves_to_goal: int | None  # moves until the goal stood on the board; None if it never did
    seconds: float  # what the player took to choose, in all

    @classmethod
    def from_game(cls, game: Game, player: str, seconds: float) -> Self:
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
        )

    @property
    def is_won(self) -> bool:
        return self.moves_to_goal is not None

    @property
    def checksum(self) -> str:
        """Changes with any change of the game; the time it took is not part of it."""
        parts = [
            self.rules.to_json(),
            self.seed,
            self.player,
            self.moves,
            self.score,
            self.max_tile,
            self.moves_to_goal,
        ]
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:16]

    def prove(self) -> Game:
        """Play it again move by move; raise FileError unless all comes out as recorded."""
        game = Game(self.rules, self.seed)
        try:
            game.replay(self.moves)
        except BoardError as error:
            raise FileError(f"the game does not replay: {error}") from None
        again = Episode.from_game(game, self.player, self.seconds)
        for name in ("score", "max_tile", "moves_to_goal"):
            recorded, found = getattr(self, name), getattr(again, name)
            if recorded != found:
                raise FileError(f"the game does not replay: {name} is recorded as {recorded}, but it is {found}")
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
        kinds: dict[str, tuple[type, ...]] = {
            "seed": (int,),
            "player": (str,),
            "moves": (str,),
            "score": (int,),
            "max_tile": (int,),
            "moves_to_goal": (int, type(None)),
            "seconds": (int, float),
        }
        for name, kind in kinds.items():
            if name not in data or type(data[name]) not in kind:
                raise FileError(f"{name} is {str(data.get(name))[:40]!r}: expected {kind[0].__name__}")
        episode = cls(Rules.from_json(data.get("rules")), **{name: data[name] for name in kinds})
        check_seed(episode.seed)
        if episode.checksum != data.get("checksum"):
            raise FileError(f"checksum {str(data.get('checksum'))[:20]} is wrong: expected {episode.checksum}")
        return episode

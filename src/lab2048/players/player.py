"""What a player is: something that is shown a board and chooses a move."""

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from lab2048.rules import Board, Rules

if TYPE_CHECKING:
    from lab2048.kernels.games.play import Games

# Plays whole games in compiled slices: given games and a budget of moves, returns how many it made.
GamesKernel = Callable[["Games", int], int]


@dataclass(frozen=True, slots=True)
class Decision:
    """A move, and what the player thinks of every legal move.

    What a value measures is the player's own affair (its `measure`), but a larger
    one is better and the chosen move's is among the largest; unless a rule overrode the
    player's own choice: then `overridden` is that choice, and its value is.
    """

    move: int
    values: Mapping[int, float]
    nodes: int = 0  # boards looked at
    depth: int = 0  # own moves looked ahead
    errors: Mapping[int, float] = field(default_factory=dict)  # standard errors of the values, if they are estimates
    overridden: int | None = None  # the move that would have been made but for a rule, as players/shield.py has
    confidence: float | None = None  # share of trained weights behind the values; None if no network judged
    replaced: int | None = None  # the safe move that a reverse shield replaced, whoever had proposed it


def option(default: Any, doc: str, choices: Iterable[str] = ()) -> Any:
    """Declare an option of a player: a dataclass field with a line of explanation.

    `choices` are the words that it takes, for those who ask what there is; the player itself refuses others.
    """
    return dataclasses.field(default=default, metadata={"doc": doc, "choices": tuple(choices)})


@dataclass
class Player(ABC):
    """Chooses moves.  The fields of a subclass are its options.

    A decision depends only on the rules, the seed and the boards shown since `start`,
    so that a game can be played again.  A player may be shown any board at any time:
    a game can be taken over half-way, and moves can be undone.
    """

    measure: ClassVar[str] = "value"  # what the values of a decision are, for people
    unit: ClassVar[str] = "value"  # the same for programs: "score" (points still to come), "chance" (0 to 1) or "value"
    is_interactive: ClassVar[bool] = False  # True if a person has to answer
    kernels: ClassVar[tuple[str, ...]] = ("play",)  # groups to compile before it plays: lab2048.arena.compile
    releases_lock: ClassVar[bool] = False  # True if `choose` is compiled, so that several can choose at once on threads

    @property
    def groups(self) -> tuple[str, ...]:
        """What has to be made ready for it, groups of kernels; a player that asks another one needs that one's too."""
        return self.kernels

    @property
    def is_repeatable(self) -> bool:
        """False if a clock takes part in its choices: then a game cannot be played again."""
        return True

    def check(self, rules: Rules) -> None:  # noqa: B027
        """Raise an error if options or files would keep it from playing by these rules.

        It is asked before anything is compiled, so that nobody waits to hear of a slip; so it must compile nothing.
        """

    def start(self, rules: Rules, seed: int) -> None:  # noqa: B027
        """Prepare for a game; the player's own chance, if it needs any, comes from the seed."""

    @abstractmethod
    def choose(self, board: Board) -> Decision:
        """Choose among the legal moves of a board; there is at least one."""

    def games_kernel(self, rules: Rules) -> GamesKernel | None:  # noqa: ARG002
        """The compiled loop that plays this player's games without Python, if it has one."""
        return None

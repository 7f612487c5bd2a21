"""The base class of players, and the decisions that they return."""

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from lab2048.kernels.group import GAMES
from lab2048.rules import Board, Rules
from lab2048.rules.move import move_name

if TYPE_CHECKING:
    from lab2048.kernels.games.play import Games

# Plays whole games in compiled slices: takes games and a budget of moves, returns how many it made.
GamesKernel = Callable[["Games", int], int]


@dataclass(frozen=True, slots=True)
class Decision:
    """A move, and the value of every legal move.

    The player's `measure` says what its values are.  A larger value is better, and the chosen move has the
    largest one.  If a rule overrode the player's choice, `overridden` is that choice and has the largest value.

    >>> import lab2048 as lab
    >>> decision = lab.player("greedy").ask("2 2 4 / # # #")
    >>> decision.move, decision.values[decision.move] == max(decision.values.values())
    (Move.LEFT, True)
    """

    move: int
    values: Mapping[int, float]
    nodes: int = 0  #: boards evaluated
    depth: int = 0  #: search depth in own moves
    errors: Mapping[int, float] = field(default_factory=dict)  #: standard errors of the values, if they are estimates
    overridden: int | None = None  #: the choice that a shield or an endgame table replaced
    confidence: float | None = None  #: share of trained weights behind the values; None without a network
    #: True if the confidence was too low, so that values come from a search without the network
    is_guess: bool = False
    replaced: int | None = None  #: the safe move that the reverse shield replaced, if it did
    endgame: "SuccessRate | None" = None  #: what an endgame table knows about the move

    def __str__(self) -> str:
        """Return the moves and their values, the best first: "down 1,204, left 1,180"."""
        return ", ".join(f"{name} {value}" for name, value in self._lines())

    def _repr_html_(self) -> str:
        rows = (f"<tr><th>{name}</th><td>{value}</td></tr>" for name, value in self._lines())
        return f"<table><tbody>{''.join(rows)}</tbody></table>"

    def _lines(self) -> list[tuple[str, str]]:
        best_first = sorted(self.values, key=lambda move: (move != self.move, -self.values[move]))
        names = {move: move_name(move) if isinstance(move, IntEnum) else str(move) for move in best_first}
        return [(names[move], f"{self.values[move]:,.6g}") for move in best_first]


@dataclass(frozen=True, slots=True)
class SuccessRate:
    """How likely the next large tile is, by an endgame table.

    >>> SuccessRate(0.8731, 512, "AAAA|AAG#|####|####").text
    '87.3% to make the next 512, exact while the large tiles stay'
    >>> SuccessRate(0.8731, 64, "FFFF|FFFF|####|####", "as long as the large tiles do not merge").text
    '87.3% to make the next 64, exact as long as the large tiles do not merge'
    """

    rate: float
    goal: int
    formation: str  #: the map, with A for large tiles that stay and F for large tiles that move
    condition: str = "while the large tiles stay"  #: how long the rate is exact

    @property
    def text(self) -> str:
        """Return the rate in words, with more digits where it is nearly certain or nearly hopeless."""
        per_cent = 100 * self.rate
        digits = 1 if 0.05 <= per_cent < 99.95 or self.rate in (0.0, 1.0) else 4
        return f"{per_cent:.{digits}f}% to make the next {self.goal}, exact {self.condition}"

    def to_json(self) -> dict[str, Any]:
        """Return JSON data."""
        return {"rate": self.rate, "goal": self.goal, "formation": self.formation, "text": self.text}


class Note(Protocol):
    """Why a player made a move, for views."""

    @property
    def text(self) -> str:
        """Return a few sentences."""

    def to_json(self) -> dict[str, Any]:
        """Return the same as data, with the sentences as `text`."""


def option(default: Any, doc: str, choices: Iterable[str] = ()) -> Any:
    """Declare an option of a player: a dataclass field with a one-line description.

    `choices` are the accepted words, for help and completion; the player itself must refuse others.

    >>> import dataclasses, lab2048 as lab
    >>> @dataclasses.dataclass
    ... class Room(lab.Player):
    ...     weight: float = lab.option(10.0, "value of an empty cell")
    ...
    ...     def choose(self, board):
    ...         values = {move: self.weight * slide.board.n_empty for move, slide in board.slides()}
    ...         return lab.Decision(max(values, key=values.get), values)
    >>> lab.player(Room(weight=3.0)).ask("2 2 / 4 8").move
    Move.RIGHT
    """
    return dataclasses.field(default=default, metadata={"doc": doc, "choices": tuple(choices)})


@dataclass
class Player(ABC):
    """The base class of players.  The dataclass fields of a subclass are its options.

    A decision depends only on the rules, the seed and the boards shown since `start`, so that games are
    reproducible.  Any board may be shown at any time: games are taken over half-way, and moves are undone.

    >>> import lab2048 as lab
    >>> class Roomy(lab.Player):
    ...     def choose(self, board):
    ...         values = {move: float(slide.board.n_empty) for move, slide in board.slides()}
    ...         return lab.Decision(max(values, key=values.get), values)
    >>> lab.match(Roomy, rules="2x2", games=5).mean() > 0
    True
    """

    measure: ClassVar[str] = "value"  #: what the values of a decision are, for people
    #: the same for programs: "score" (points still to come), "chance" (0 to 1) or "value"
    unit: ClassVar[str] = "value"
    is_interactive: ClassVar[bool] = False  #: True if a person chooses the moves
    kernels: ClassVar[tuple[str, ...]] = ()  #: groups to compile before it plays (lab2048.kernels.group)
    #: True if it can play where some moves may change nothing (`Rules.null_moves`), which is not 2048
    knows_null_moves: ClassVar[bool] = False
    #: True if `choose` releases the GIL, so that several players can run on threads
    releases_lock: ClassVar[bool] = False

    def __init_subclass__(cls) -> None:
        """Drop an inherited `games_kernel` if `choose` is replaced: it would make other choices."""
        super().__init_subclass__()
        if "choose" in vars(cls) and "games_kernel" not in vars(cls):
            cls.games_kernel = Player.games_kernel  # type: ignore[method-assign]

    def groups(self, rules: Rules, *, games: bool = False) -> tuple[str, ...]:  # noqa: ARG002
        """Return the groups of kernels that it calls, including those of players that this one asks.

        With `games`, add those of `games_kernel`.

        >>> import lab2048 as lab
        >>> class First(lab.Player):
        ...     def choose(self, board):
        ...         return lab.Decision(board.legal_moves()[0], {})
        >>> First().groups(lab.Rules.from_text("4x4"))
        ()
        """
        has_loop = type(self).games_kernel is not Player.games_kernel
        return (*self.kernels, GAMES) if games and has_loop else self.kernels

    @property
    def is_repeatable(self) -> bool:
        """Return False if choices depend on time, so that games are not reproducible."""
        return True

    def check(self, rules: Rules) -> None:  # noqa: B027
        """Raise LabError if the player cannot play by these rules, because of its options or files.

        It is called before anything is compiled, so that mistakes are reported at once; it must compile nothing.

        >>> import lab2048 as lab
        >>> class Small(lab.Player):
        ...     def check(self, rules):
        ...         if rules.shape.n_cells > 9:
        ...             raise lab.LabError("small: expected at most 9 cells")
        ...
        ...     def choose(self, board):
        ...         return lab.Decision(board.legal_moves()[0], {})
        >>> lab.match(Small, rules="4x4", games=5)
        Traceback (most recent call last):
        lab2048.errors.LabError: small: expected at most 9 cells
        """

    def start(self, rules: Rules, seed: int) -> None:  # noqa: B027
        """Prepare for a game; randomness, if the player needs any, comes from the seed.

        >>> import lab2048 as lab, random
        >>> class Dice(lab.Player):
        ...     def start(self, rules, seed):
        ...         self.random = random.Random(seed)
        ...
        ...     def choose(self, board):
        ...         return lab.Decision(self.random.choice(board.legal_moves()), {})
        >>> lab.Game("2x2", seed=1).play(Dice(), moves=3).score == lab.Game("2x2", seed=1).play(Dice(), moves=3).score
        True
        """

    @abstractmethod
    def choose(self, board: Board) -> Decision:
        """Choose a legal move of a board; there is at least one.

        >>> import lab2048 as lab
        >>> class Upward(lab.Player):
        ...     def choose(self, board):
        ...         return lab.Decision(min(board.legal_moves()), {})
        >>> lab.player(Upward()).ask("# # / 2 2").move
        Move.UP
        """

    def note(self, board: Board, decision: Decision) -> Note | None:  # noqa: ARG002
        """Explain a decision that `choose` has just made on this board; None if there is nothing to say.

        >>> import lab2048 as lab
        >>> class Cautious(lab.Player):
        ...     def choose(self, board):
        ...         return lab.Decision(board.legal_moves()[0], {})
        >>> Cautious().note(lab.Board.from_text("2 2 / 4 8"), lab.Decision(1, {})) is None
        True
        """
        return None

    def games_kernel(self, rules: Rules) -> GamesKernel | None:  # noqa: ARG002
        """Return a compiled loop that plays whole games as this player does, or None.

        >>> from lab2048.players import make_player
        >>> make_player("human").games_kernel(Rules.from_text("4x4")) is None
        True
        """
        return None

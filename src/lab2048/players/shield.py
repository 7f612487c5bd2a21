"""`shield`: restrict any player to the safe moves of a strategy (Sauren 2022)."""

import dataclasses
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from lab2048.errors import OutOfRangeError, UnknownNameError, UsageError
from lab2048.kernels.group import ROLLOUT
from lab2048.kernels.rollout import rollout as kernels
from lab2048.players.player import Decision, Player, option
from lab2048.players.registry import make_player, spec_of
from lab2048.players.shield_note import ConsideredMove, ShieldNote, move_names
from lab2048.players.strategy import Strategy, read_strategy
from lab2048.rules import Board, Game, Rules, dice
from lab2048.rules.move import Move, move_name
from lab2048.rules.plan import make_plan

_KINDS = ("reverse", "safe")


@dataclass
class ShieldPlayer(Player):
    """Restricts another player to two safe directions, except where an unsafe move promises more than it risks."""

    kernels: ClassVar[tuple[str, ...]] = (ROLLOUT,)
    measure: ClassVar[str] = "as for the inner player"

    inner: str = option("random", "player that proposes moves, in parentheses if its spec has commas")
    strategy: str = option("left-down", "the two safe moves; the second is the side where the highest tiles stay")
    kind: str = option("reverse", "safe: only safe moves if there are any; reverse: also use the reverse shield")
    warm_up: int = option(50, "moves of a game before the reverse shield acts")
    peek: bool = option(False, "cheat: compare boards after their true spawns, which players cannot know")

    def __post_init__(self) -> None:
        """Check the options, and make the inner player."""
        read_strategy(self.strategy)
        if self.kind not in _KINDS:
            raise UnknownNameError("kind", self.kind, _KINDS)
        if self.warm_up < 0:
            raise OutOfRangeError("warm_up", self.warm_up, "0 or more")
        if self.peek and self.kind != "reverse":
            raise UsageError(
                f"peek=true has no effect with kind={self.kind}: expected kind=reverse, which compares boards",
                field="peek",
            )
        self._inner = make_player(self.inner)
        if self._inner.is_interactive:
            raise UsageError(
                f"inner={self.inner} cannot be shielded: expected a player that chooses by itself", field="inner"
            )
        self.inner = spec_of(self.inner.strip().partition(":")[0], self._inner)
        self._rules: Rules | None = None

    @property
    def is_repeatable(self) -> bool:
        """Return whether the inner player is repeatable."""
        return self._inner.is_repeatable

    def groups(self, rules: Rules, *, games: bool = False) -> tuple[str, ...]:  # noqa: ARG002
        """Return the groups of the inner player and its own."""
        return tuple({*self.kernels, *self._inner.groups(rules)})

    def check(self, rules: Rules) -> None:
        """Check the strategy on this shape, and the inner player."""
        Strategy.from_text(self.strategy, rules.shape)
        self._inner.check(rules)

    def start(self, rules: Rules, seed: int) -> None:
        """Start the inner player, and prepare the strategy."""
        self._inner.start(rules, seed)
        if self._rules != rules:
            self._strategy = Strategy.from_text(self.strategy, rules.shape)
            self._rules, self._plan = rules, make_plan(rules)
            self._mean_spawn: float = sum(p * (1 << rank) for rank, p in rules.spawn_table)
            self._boards = np.zeros((1, len(rules.shape.moves), rules.shape.n_cells), np.uint8)
            self._rewards = np.zeros(len(rules.shape.moves), np.int64)
        if self.peek:
            self._dice = dice.stream_key(seed, dice.SPAWN)
            self._turns = {Game(rules, seed).first_board.ranks: 0}

    def choose(self, board: Board) -> Decision:
        """Return the inner player's move if it is safe, else its best safe one, else the reverse shield's."""
        if self._rules is None or self._rules.shape != board.shape:
            raise UsageError("the player has not been started: expected start(rules, seed) before choose")
        decision = self._inner.choose(board)
        kernels.afterstates(self._plan, np.array(board.ranks, np.uint8), self._boards[0], self._rewards)
        legal = (self._rewards >= 0)[None, :]
        move = safe = self._play_safe(decision, self._strategy.safe_moves(legal)[0])
        if self.kind == "reverse":
            if self.peek:
                self._spawn(board, legal[0])
            if self._n_moves(board) >= self.warm_up:
                move = int(self._strategy.reverse_shield(np.array([move]), legal, self._boards)[0])
        proposed = decision.move if decision.overridden is None else decision.overridden
        overridden, replaced = (None if move == other else other for other in (proposed, safe))
        return dataclasses.replace(decision, move=move, overridden=overridden, replaced=replaced)

    def note(self, board: Board, decision: Decision) -> ShieldNote:
        """Say what is safe, what the inner player proposed, and what mask and shield made of it."""
        assert self._rules is not None
        kernels.afterstates(self._plan, np.array(board.ranks, np.uint8), self._boards[0], self._rewards)
        legal = (self._rewards >= 0)[None, :]
        if self.peek:
            self._spawn(board, legal[0])
        strategy, safe = self._strategy, self._strategy.safe_moves(legal)[0]
        masked = decision.move if decision.replaced is None else decision.replaced
        proposed = decision.move if decision.overridden is None else decision.overridden
        moves = [int(move) for move in strategy.precedence if legal[0, move]]
        boards = self._boards[0, moves]
        columns = zip(
            move_names(moves), safe[moves].tolist(), strategy.state_scores(boards).tolist(),
            strategy.horizontal_scores(boards).tolist(), strategy.empty_lines(boards).tolist(),
            strategy.mergeable_values(boards).tolist(), strategy.are_locked(boards).tolist(), strict=True,
        )  # fmt: skip
        back = move_name(strategy.back)
        if self.kind != "reverse":
            waits = "There is only a mask, no shield."
        elif self._n_moves(board) < self.warm_up:
            waits = f"The shield waits for move {self.warm_up}."
        elif masked not in (strategy.along, strategy.wall):
            waits = "The shield has nothing to replace: no move of the strategy is possible."
        else:
            waits = (
                ""
                if legal[0, strategy.back]
                else f"The shield keeps {move_name(Move(masked))}: {back} is not possible."
            )
        allowed = move_names(move for move in strategy.precedence if safe[move])
        proposal, after_mask, made = move_names((proposed, masked, decision.move))
        considered = tuple(ConsideredMove(*column) for column in columns)
        inner = self.inner.partition(":")[0]
        return ShieldNote(inner, proposal, allowed, after_mask, made, back, int(strategy.wall), considered, waits)

    def _play_safe(self, decision: Decision, allowed: NDArray[np.bool_]) -> int:
        """Return the inner player's move if it is allowed, else the allowed move with its highest value."""
        if allowed[decision.move]:
            return decision.move
        safest_first = [int(move) for move in self._strategy.precedence if allowed[move]]
        return max(safest_first, key=lambda move: decision.values[move])

    def _n_moves(self, board: Board) -> int:
        """Estimate the number of moves played from the tile sum, to which every spawn adds.

        It works for any board: games are taken over half-way, and moves are undone.
        """
        assert self._rules is not None
        return max(0, round(board.tile_sum / self._mean_spawn) - self._rules.n_start)

    def _spawn(self, board: Board, legal: NDArray[np.bool_]) -> None:
        """Add the true next tile to the afterstate of each legal move.

        The dice need the number of the turn.  It is known for the first board and for the successors of every
        board seen; for any other board it is estimated, and the tile may be wrong.
        """
        assert self._rules is not None
        turn = self._turns.get(board.ranks, self._n_moves(board))
        word = dice.draw(self._dice, self._rules.n_start + turn)
        for move in np.flatnonzero(legal):
            after = Board(board.shape, tuple(self._boards[0, move].tolist()))
            spawned = after.put(*self._rules.spawn(after, word))
            self._boards[0, move] = spawned.ranks
            self._turns[spawned.ranks] = turn + 1

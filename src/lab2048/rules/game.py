"""A game in progress: rules, seed and the moves so far, with undo and redo."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from lab2048.errors import BoardError, IllegalMoveError
from lab2048.rules import dice
from lab2048.rules.board import Board
from lab2048.rules.move import AnyMove
from lab2048.rules.rules import Rules, Spawner

GivenSpawn = tuple[int, int]  # cell, rank


@dataclass(frozen=True, slots=True)
class Turn:
    """One move with its reward and the tile that spawned."""

    number: int  # from 1
    move: AnyMove
    after: Board
    reward: int
    spawn: tuple[int, int]  # cell, rank
    board: Board
    score: int  # with this reward
    moves_to_goal: int | None  # moves until the goal stood on the board; None if it has not yet

    @property
    def reaches_goal(self) -> bool:
        """Return True if this turn reached the goal for the first time."""
        return self.moves_to_goal == self.number


@dataclass
class Game:
    """A game: `play` makes moves, `undo` and `redo` go back and forth.

    Spawns follow from the seed, unless they are given: those of a game that was played elsewhere are recorded.

    >>> game = Game(Rules.from_text("4x4"), seed=1)
    >>> turn = game.play(game.board.legal_moves()[0])
    >>> game.undo(), game.play(turn.move) == turn
    (True, True)
    """

    rules: Rules
    seed: int
    turns: list[Turn] = field(default_factory=list)  #: the moves so far, with all that followed
    undone: list[Turn] = field(default_factory=list)  #: the moves that `redo` makes again, the next one last
    given: list[GivenSpawn] = field(default_factory=list)  #: the first spawns, if they do not follow from the seed

    def __post_init__(self) -> None:
        """Spawn the first tiles."""
        self._key = dice.stream_key(dice.check_seed(self.seed), dice.SPAWN)
        if self.given and self.rules.spawner is not Spawner.FAIR:
            raise BoardError(f"spawns are given, but the spawner is {self.rules.spawner.value}: expected fair")
        self.first_board = self.rules.board
        self.first_spawns: list[GivenSpawn] = []
        for number in range(self.rules.n_start):
            spawn = self._spawn(self.first_board, number, self.given[number] if number < len(self.given) else None)
            self.first_spawns.append(spawn)
            self.first_board = self.first_board.put(*spawn)

    @property
    def board(self) -> Board:
        """The board now."""
        return self.turns[-1].board if self.turns else self.first_board

    @property
    def score(self) -> int:
        """The score so far."""
        return self.turns[-1].score if self.turns else 0

    @property
    def is_over(self) -> bool:
        """True if no move is possible, or the rules end the game at the goal and it is reached."""
        return not self.legal_moves()

    def legal_moves(self) -> tuple[AnyMove, ...]:
        """Return the moves that can be made now; none if the game is over."""
        return () if self._has_stopped else self.rules.legal_moves(self.board)

    @property
    def _has_stopped(self) -> bool:
        return self.rules.stop_at_goal and self.moves_to_goal is not None

    @property
    def moves_to_goal(self) -> int | None:
        """Return the number of moves until the goal was reached, or None."""
        if self.turns:
            return self.turns[-1].moves_to_goal
        return 0 if self.rules.is_won(self.first_board) else None

    def play(self, move: int) -> Turn:
        """Make a move: slide, then spawn; a move other than the undone one discards the moves to redo."""
        if self.undone and self.undone[-1].move == move:
            self.turns.append(self.undone.pop())
            return self.turns[-1]
        number = self._number
        is_given = not self.undone and number < len(self.given)
        turn = self._play(move, self.given[number] if is_given else None)
        if not is_given:
            del self.given[number:]
        return turn

    def play_recorded(self, move: int, spawn: GivenSpawn) -> Turn:
        """Make a move after which a given tile spawned: its cell and rank, instead of those of the seed.

        All spawns before it count as given, too.  Raises BoardError if the cell is not empty, or if no such tile can
        spawn.

        >>> game = Game(Rules.from_text("2#|##"), seed=1)
        >>> game.play_recorded(1, (2, 1)).board
        Board('#2|2#')
        """
        number = self._number
        turn = self._play(move, spawn)
        if len(self.given) < number:
            self.given = [*self.first_spawns, *(turn.spawn for turn in self.turns)]
        else:
            self.given[number:] = [spawn]
        return turn

    @property
    def _number(self) -> int:
        """Return the number of the next spawn, counted from 0 with the first tiles."""
        return self.rules.n_start + (self.turns[-1].number if self.turns else 0)

    def _spawn(self, after: Board, number: int, given: GivenSpawn | None) -> GivenSpawn:
        """Return the given spawn if it is one of these rules, else that of the seed."""
        if given is None:
            return self.rules.spawn(after, dice.draw(self._key, number))
        cell, rank = given
        if rank not in (known for known, _ in self.rules.spawn_table):
            raise BoardError(
                f"a {2**rank} spawned: expected one of {', '.join(str(2**r) for r, _ in self.rules.spawn_table)}"
            )
        if not 0 <= cell < self.rules.shape.n_cells:
            raise BoardError(f"there is no cell {cell}: expected 0 to {self.rules.shape.n_cells - 1}")
        return cell, rank

    def _play(self, move: int, given: GivenSpawn | None) -> Turn:
        if self._has_stopped:
            raise IllegalMoveError(f"the game has ended: {self.rules.goal} is reached")
        after, reward = self.rules.slide(self.board, move)
        number = self.turns[-1].number + 1 if self.turns else 1
        spawn = self._spawn(after, self._number, given)
        board = after.put(*spawn)
        to_goal = self.moves_to_goal
        if to_goal is None and self.rules.is_won(board):
            to_goal = number
        turn = Turn(number, self.rules.shape.moves[move], after, reward, spawn, board, self.score + reward, to_goal)
        self.undone.clear()
        self.turns.append(turn)
        return turn

    def undo(self) -> bool:
        """Undo the last move; return False if there is none."""
        if self.turns:
            self.undone.append(self.turns.pop())
            return True
        return False

    def redo(self) -> bool:
        """Redo the last undone move; return False if there is none."""
        if self.undone:
            self.turns.append(self.undone.pop())
            return True
        return False

    def moves_text(self) -> str:
        """Return the moves as text, one letter per move."""
        alphabet = self.rules.shape.letters
        return "".join(alphabet[turn.move] for turn in self.turns)

    def replay(self, moves: str) -> None:
        """Play recorded moves; the error for an illegal or unknown move has its number."""
        for _ in self._follow(moves):
            pass

    def _follow(self, moves: str) -> Iterator[Turn]:
        alphabet = self.rules.shape.letters
        for number, letter in enumerate(moves, 1):
            if letter not in alphabet:
                raise BoardError(f"move {number} is {letter!r}: expected one of {alphabet}")
            try:
                turn = self.play(alphabet.index(letter))
            except BoardError as error:
                raise BoardError(f"move {number} is illegal: {error}") from None
            yield turn


def replay(rules: Rules, seed: int, moves: str, given: Sequence[GivenSpawn] = ()) -> Iterator[Turn]:
    """Replay a recorded game lazily, turn by turn, so that long games need little memory.

    The first spawns may be given.  Raise an error that names the number of the move if a move is illegal or unknown.

    >>> [turn.score for turn in replay(Rules.from_text("1x2"), 1, "d")]
    [4]
    """
    game = Game(rules, seed, given=list(given))
    for turn in game._follow(moves):
        yield turn
        del game.turns[:-1]  # only the last turn is needed to continue

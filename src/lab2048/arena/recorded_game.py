"""A game in play and its record: the moves as text, who made them, how long it took, and where it is saved."""

import contextlib
from dataclasses import dataclass, field
from typing import Self

from lab2048.errors import GameChangedError, GameDeletedError, StoreError
from lab2048.records.entry import StoredGame
from lab2048.records.episode import Episode, names_of, write_spawns
from lab2048.records.store import Store
from lab2048.rules import Game, Turn

MAX_PAUSE = 60.0  # seconds; a longer pause between two changes counts as this


@dataclass
class RecordedGame:
    """One game of a session; the session serialises all access.

    The record is kept up to date with each move, so that saving a move takes the same time in a long game.
    """

    game: Game
    player: str  # who is to make the first move, until someone has
    mark: float  # the time of the last change
    seconds: float = 0.0
    moves: str = ""  # a letter per turn
    names: list[str] = field(default_factory=list)  # who made each turn, including undone turns
    movers: list[tuple[int, str]] = field(default_factory=list)  # who made the turns from which number on
    stored: StoredGame | None = None
    is_changed: bool = False  # since it was last saved
    is_compact: bool = True  # nothing was appended since the moves in the store were compressed
    is_deleted: bool = False

    @classmethod
    def of(cls, game: Game, episode: Episode, mark: float) -> Self:
        """Take over the record of a game that is replayed, perhaps in part, in `game`."""
        n, n_all = len(game.turns), len(episode.moves)
        record = cls(game, episode.player, mark, episode.seconds * n / max(1, n_all) if n < n_all else episode.seconds)
        record.names = names_of(episode.player, episode.movers, n_all)[:n]
        for turn in game.turns:
            record.append(turn)
        return record

    def play(self, move: int, by: str) -> Turn:
        """Make a move; raise IllegalMoveError if it changes nothing."""
        turn = self.game.play(move)
        self.names[turn.number - 1 : turn.number] = [by]
        del self.names[turn.number + len(self.game.undone) :]
        self.append(turn)
        return turn

    def append(self, turn: Turn) -> None:
        """Add the last turn of the game to the record."""
        self.moves += self.game.rules.shape.letters[turn.move]
        name = self.names[turn.number - 1]
        if not self.movers or self.movers[-1][1] != name:
            self.movers.append((turn.number, name))

    def truncate(self) -> None:
        """Remove turns from the record that the game has undone."""
        n = len(self.game.turns)
        self.moves = self.moves[:n]
        while self.movers and self.movers[-1][0] > n:
            self.movers.pop()

    def touch(self, now: float) -> None:
        """Note that the game has changed."""
        self.seconds += min(now - self.mark, MAX_PAUSE)
        self.mark = now
        self.is_changed = True

    def episode(self) -> Episode:
        game = self.game
        return Episode(
            rules=game.rules,
            seed=game.seed,
            player=self.movers[0][1] if self.movers else self.player,
            moves=self.moves,
            score=game.score,
            max_tile=game.board.max_tile,
            moves_to_goal=game.moves_to_goal,
            seconds=self.seconds,
            movers=tuple(self.movers[1:]),
            spawns=write_spawns(game.given[: game.rules.n_start + len(game.turns)]),
        )

    def save(self, store: Store, run: int) -> None:
        """Save the game, at first as a new game of `run`; raise StoreError if that fails.

        A game that another program has changed in the store is saved as a new one.
        """
        episode = self.episode()
        try:
            if self.stored is None:
                self.stored = store.add(run, episode)
            else:
                self.stored = store.save(self.stored, episode)
                self.is_compact = False
        except GameChangedError:
            self.stored = store.add(run, episode)
        except GameDeletedError:
            self.is_deleted = True
            raise
        self.is_changed = False

    def compact(self, store: Store | None) -> None:
        """Compress the moves of a saved game that is put away; if that fails they are safe as they are."""
        if store and self.stored and not (self.is_changed or self.is_deleted or self.is_compact):
            with contextlib.suppress(StoreError):
                store.compact(self.stored)
                self.is_compact = True

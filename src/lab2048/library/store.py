"""The store of games."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from lab2048.arena.recorded_game import RecordedGame
from lab2048.errors import FileError, UsageError, reason_of
from lab2048.library.arguments import PlayerLike, read_board, read_spec, read_whole
from lab2048.library.game import Game
from lab2048.records.entry import Entry
from lab2048.records.store import Store
from lab2048.rules import Board

if TYPE_CHECKING:
    import pandas


def open_store(path: "str | Path | None" = None) -> "GameStore":
    """Open the store of saved games: your own, or a file, which is created if it does not exist.

    >>> import lab2048 as lab, tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder, lab.open_store(pathlib.Path(folder) / "games.sqlite") as store:
    ...     id = store.save(lab.Game("3x3", seed=1).play("greedy"))
    ...     [(game.player, game.score) for game in store.games(best=10)]
    [('greedy', 508)]
    """
    return GameStore(Store.open(Path(path) if path is not None else None))


class GameStore:
    """The saved games; use it in a `with` statement, or `close` it.

    >>> import lab2048 as lab, tempfile, pathlib
    >>> with lab.open_store(pathlib.Path(tempfile.mkdtemp()) / "games.sqlite") as store:
    ...     id = store.save(lab.Game("2x2", seed=1).play("first"))
    ...     print(len(store), store.load(id).score == store.games(newest=1)[0].score)
    ...     store.delete(id)
    ...     print(len(store))
    1 True
    0
    """

    def __init__(self, store: Store) -> None:
        """Use `lab2048.open_store`."""
        self._store = store

    @property
    def path(self) -> Path:
        return self._store.path

    def games(
        self,
        *,
        player: PlayerLike = None,
        rules: "str | Board | None" = None,
        best: int | None = None,
        newest: int | None = None,
        min_score: int | None = None,
    ) -> list[Entry]:
        """Return the saved games, newest first, or the `best` by score.

        `player` is the player of the first move ("human" for a person); `rules` is a board such as "3x3".

        >>> import lab2048 as lab, tempfile, pathlib
        >>> with lab.open_store(pathlib.Path(tempfile.mkdtemp()) / "games.sqlite") as store:
        ...     store.games(player="greedy", best=10)
        []
        """
        if best is not None and newest is not None:
            raise UsageError("best and newest: expected only one of them", field="best")
        board = read_board(rules).to_text() if rules is not None else None
        name = player if player is None or player == "human" else read_spec(player)
        limit = best if best is not None else newest
        return self._store.entries(board=board, player=name, min_score=min_score, best=best is not None, limit=limit)

    def load(self, id: int) -> Game:  # noqa: A002
        """Load a game by its id, at its last move; use `undo` to go back.

        >>> import lab2048 as lab, tempfile, pathlib
        >>> with lab.open_store(pathlib.Path(tempfile.mkdtemp()) / "games.sqlite") as store:
        ...     id = store.save(lab.Game("2x2", seed=1).play("first", moves=3))
        ...     store.load(id)
        Game('2x2', seed=1): 3 moves, score 8
        """
        episode = self._store.get(read_whole("id", id)).episode
        game = Game(episode.rules, episode.seed, given=episode.begin().given)
        game.replay(episode.moves)
        game._record = RecordedGame.of(game, episode, time.monotonic())
        return game

    def save(self, game: Game) -> int:
        """Save a game; return its id.

        >>> import lab2048 as lab, tempfile, pathlib
        >>> with lab.open_store(pathlib.Path(tempfile.mkdtemp()) / "games.sqlite") as store:
        ...     store.save(lab.Game("2x2", seed=1).play("first"))
        1
        """
        if not isinstance(game, Game):
            raise UsageError(f"{game!r} cannot be saved: expected a lab2048.Game", field="game")
        episode = game.to_episode()
        run = self._store.begin_run("play", episode.rules, episode.player, episode.seed)
        id_ = self._store.add(run, episode).id
        self._store.sync()
        return id_

    def delete(self, id: int) -> None:  # noqa: A002
        """Delete a game.

        >>> import lab2048 as lab, tempfile, pathlib
        >>> with lab.open_store(pathlib.Path(tempfile.mkdtemp()) / "games.sqlite") as store:
        ...     id = store.save(lab.Game("2x2", seed=1).play("first"))
        ...     store.delete(id)
        ...     len(store)
        0
        """
        self._store.remove(read_whole("id", id))

    def to_pandas(self, **chosen: Any) -> "pandas.DataFrame":
        """Return a data frame with a row per game; takes the arguments of `games`.

        >>> import lab2048 as lab, tempfile, pathlib
        >>> with lab.open_store(pathlib.Path(tempfile.mkdtemp()) / "games.sqlite") as store:
        ...     id = store.save(lab.Game("2x2", seed=1).play("first"))
        ...     store.to_pandas(player="first")[["player", "score"]].values.tolist()
        [['first', 16]]
        """
        from lab2048.extras import load

        frame: pandas.DataFrame = load("pandas").DataFrame([game._asdict() for game in self.games(**chosen)])
        return frame

    def export_lines(self) -> Iterator[str]:
        """Yield every game as a line of JSON, as `lab2048 games export` writes it.

        >>> import lab2048 as lab, tempfile, pathlib
        >>> with lab.open_store(pathlib.Path(tempfile.mkdtemp()) / "games.sqlite") as store:
        ...     id = store.save(lab.Game("2x2", seed=1).play("first"))
        ...     len(list(store.export_lines()))
        1
        """
        from lab2048.records.exchange import write_line

        for id_ in self._store.ids():
            yield write_line(self._store.get(id_))

    def import_file(
        self, path: "str | Path", on_reject: Callable[[int, str], None] = lambda *_: None
    ) -> tuple[int, int, int]:
        r"""Import games from a file of JSON lines; return the number of new, already stored and rejected games.

        >>> import lab2048 as lab, tempfile, pathlib
        >>> folder = pathlib.Path(tempfile.mkdtemp())
        >>> with lab.open_store(folder / "games.sqlite") as store:
        ...     id = store.save(lab.Game("2x2", seed=1).play("first"))
        ...     size = (folder / "games.jsonl").write_text("\n".join(store.export_lines()))
        >>> with lab.open_store(folder / "others.sqlite") as store:
        ...     store.import_file(folder / "games.jsonl"), store.import_file(folder / "games.jsonl")
        ((1, 0, 0), (0, 1, 0))
        """
        from lab2048.records import exchange
        from lab2048.records.input_file import open_file

        counts = exchange.ImportCounts()
        try:
            with open_file(Path(path), accept_pipes=True) as stream:
                exchange.import_lines(self._store, stream, counts, refuse=on_reject)
        except OSError as error:
            raise FileError(f"{path} cannot be read: {reason_of(error)}", code="file.unreadable") from None
        return counts.imported, counts.already, counts.refused

    def __len__(self) -> int:
        return len(self._store.ids())

    def close(self) -> None:
        """Close the store; closing twice is harmless.

        >>> import lab2048 as lab, tempfile, pathlib
        >>> store = lab.open_store(pathlib.Path(tempfile.mkdtemp()) / "games.sqlite")
        >>> store.close()
        """
        self._store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"GameStore({str(self.path)!r})"

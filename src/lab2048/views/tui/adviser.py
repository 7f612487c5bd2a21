"""A player that is asked from a screen: it thinks on a thread of its own, and the screen goes on meanwhile."""

import asyncio
import queue
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from lab2048.errors import LabError, UsageError
from lab2048.rules import Board, Rules

if TYPE_CHECKING:  # players bring Numba along, and the first frame does not wait for that
    from lab2048.arena.compile import Preparing
    from lab2048.players import Decision, Player

    Question = tuple[Board, asyncio.AbstractEventLoop, "asyncio.Future[Decision]"]


def check_spec(spec: str) -> str:
    """The canonical form of a player's spec; refuse one that cannot choose by itself."""
    from lab2048.players import canonical_spec
    from lab2048.players.registry import player_class

    canonical = canonical_spec(spec)
    if player_class(canonical.partition(":")[0]).is_interactive:
        raise UsageError(f"player {canonical} is you: expected a player that chooses by itself")
    return canonical


class Adviser:
    """Answers what a player would do, one question after the other.

    The player is made, and what it needs compiled, when the first question comes; `doing` says
    how far that is.  Questions that nobody waits for any more are skipped.
    """

    def __init__(self, spec: str, rules: Rules, seed: int) -> None:
        """Name a player; nothing is loaded yet."""
        self.spec, self.rules, self.seed = spec, rules, seed
        self._preparing: Preparing | str = ""
        self._player: Player | None = None
        self._questions: queue.SimpleQueue[Question | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None

    @property
    def measure(self) -> str:
        """What the player's values are, as far as is known yet."""
        return self._player.measure if self._player else "value"

    @property
    def doing(self) -> str:
        """What is made ready for the player or waited for now, and how far that is; nothing if it thinks or rests."""
        return str(self._preparing)

    async def ask(self, board: Board) -> "Decision":
        """What the player would do; a LabError if it fails."""
        if self._thread is None:
            # A thread that does not keep the program from ending, however long the player thinks.
            self._thread = threading.Thread(target=self._work, daemon=True, name=f"adviser {self.spec}")
            self._thread.start()
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[Decision] = loop.create_future()
        self._questions.put((board, loop, answer))
        return await answer

    def close(self) -> None:
        """Ask no more; the thread ends when the question at hand is answered."""
        self._questions.put(None)

    def _work(self) -> None:
        while (question := self._questions.get()) is not None:
            board, loop, answer = question
            if answer.cancelled():
                continue
            try:
                decision = self._decide(board)
            except Exception as error:
                failure = error if isinstance(error, LabError) else LabError(f"{type(error).__name__}: {error}")
                _reply(loop, answer, lambda answer=answer, failure=failure: answer.set_exception(failure))  # type: ignore[misc]
            else:
                _reply(loop, answer, lambda answer=answer, decision=decision: answer.set_result(decision))  # type: ignore[misc]

    def _decide(self, board: Board) -> "Decision":
        from lab2048.arena.compile import prepare
        from lab2048.arena.episode import ask
        from lab2048.players import make_player

        if self._player is None:
            player = make_player(check_spec(self.spec))
            try:
                prepare(self._begin, *player.groups, begun=self._begin)
                player.start(self.rules, self.seed)
            finally:
                self._preparing = ""
            self._player = player
        return ask(self._player, self.spec, board)

    def _begin(self, preparing: "Preparing | str") -> None:
        self._preparing = preparing


def _reply(loop: asyncio.AbstractEventLoop, answer: "asyncio.Future[Decision]", reply: Callable[[], None]) -> None:
    """Hand an answer to the screen's thread, if anyone still waits for it."""

    def give() -> None:
        if not answer.done():
            reply()

    try:
        loop.call_soon_threadsafe(give)
    except RuntimeError:
        return  # the screen is gone

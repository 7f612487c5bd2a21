"""The players of the page: questions never wait for the compiler, and have a time limit."""

from collections.abc import Callable
from concurrent.futures import CancelledError, Future
from concurrent.futures import TimeoutError as FutureTimeoutError

from lab2048.arena.background_compile import BackgroundCompiler
from lab2048.arena.compile import groups_of
from lab2048.arena.player_service import PlayerService
from lab2048.players import Decision, default_spec
from lab2048.rules import Board, Game, Rules
from lab2048.views.web.errors import ApiError, NotReadyError

MAX_SECONDS = 30.0  # for one answer
DELAY = 2.0  # seconds before preparation begins, unless a player is wanted earlier: the page itself loads first


class Players(PlayerService):
    """A player service that refuses questions while kernels are being compiled."""

    def __init__(self, on_change: Callable[[], None]) -> None:
        """`on_change` is called when the state of `preparation` has changed."""
        super().__init__()
        self.preparation = BackgroundCompiler(self._ask_default, on_change)
        self._is_closed = False

    def prepare(self) -> None:
        """Start compiling everything in the background."""
        self.preparation.start(DELAY)

    def close(self) -> None:
        """Stop every search, now and in future."""
        self._is_closed = True
        self.preparation.close()
        super().close()

    def check_ready(self, spec: str, rules: Rules | None = None) -> None:
        """Raise NotReadyError while the kernels of a player for boards of these rules (4x4) are being compiled."""
        if self.preparation.failure:
            raise ApiError(f"players cannot be asked: {self.preparation.failure}")
        self.check_groups(*groups_of([spec], rules))

    def is_ready(self, *groups: str) -> bool:
        """Return True if groups of kernels are compiled, or will never be: then a question says why."""
        return bool(self.preparation.failure) or self.preparation.has(groups)

    def check_groups(self, *groups: str) -> None:
        """Raise NotReadyError while groups of kernels are being compiled."""
        if not self.preparation.has(groups):
            raise NotReadyError(f"{self.preparation.doing}: try again in a moment")

    def decide(
        self, spec: str, rules: Rules, board: Board, seed: int = 1, *, gone: "Future[None] | None" = None
    ) -> Decision:
        """Return a player's decision; raise NotReadyError if it takes too long.

        The search is also stopped when `gone` is done: nobody waits for its result any more.
        """
        self.check_ready(spec, rules)
        answer = self.player(spec, rules, seed).ask(board)
        if gone is not None:
            gone.add_done_callback(lambda _: answer.cancel())
        if self._is_closed:
            answer.cancel()
        try:
            return answer.result(MAX_SECONDS)
        except FutureTimeoutError:
            answer.cancel()
            raise NotReadyError(f"no answer within {MAX_SECONDS:g} s: expected a faster player") from None
        except CancelledError:
            raise NotReadyError("the question was cancelled: ask again") from None

    def _ask_default(self) -> None:
        """Ask the default player of the classic board once, so that its network is in memory."""
        rules = Rules.from_text("4x4")
        self.player(default_spec(rules), rules, 1).choose(Game(rules, 1).board)

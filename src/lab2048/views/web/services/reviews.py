"""The reviews of the page: one game at a time in the background, quickly first, then with the whole reviewer.

What is reviewed is kept in the store, so a review goes on where it stopped, also after the server was restarted.
"""

import threading
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from lab2048.arena.review.review import Review
from lab2048.arena.review.reviewer import Reviewer, make_reviewer
from lab2048.arena.review.work import find_review, review_stored
from lab2048.errors import LabError, StoppedError
from lab2048.records.episode import Episode
from lab2048.records.store import Store
from lab2048.rules import Game, Rules
from lab2048.stop_flag import StopFlag, looking_at

MAX_KEPT = 4  # reviews in memory; the store has them all
MAX_REVIEWERS = 2  # with their tables
QUICK = {"ntuple": "ntuple:depth=1,trust=0"}  # reviewer for the first graph, by the one that is asked for
LONG = 500  # moves from which a quick review comes first
PATIENCE = 1.0  # seconds for which a review waits for questions before its next part


@dataclass
class Reviewing:
    """The review of a game: in progress, done, stopped or failed."""

    game: int
    reviewer: str
    n_moves: int
    checksum: str  # of the game
    state: str = "running"
    n_done: int = 0
    error: str = ""
    review: Review | None = None  # the quick one until the other is done
    stop: StopFlag = field(default_factory=StopFlag)

    @property
    def version(self) -> str:
        """Return a text that changes with the review."""
        return f"{self.checksum} {self.review.reviewer}" if self.review else ""


class ReviewerLock:
    """Lets one thread at a time use the reviewers; a review lets questions in between two of its parts."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._is_busy = False
        self._n_waiting = 0  # questions

    @contextmanager
    def question(self) -> Iterator[None]:
        """Use the reviewers for one question."""
        with self._changed:
            self._n_waiting += 1
            try:
                self._changed.wait_for(lambda: not self._is_busy)
            finally:
                self._n_waiting -= 1
            self._is_busy = True
        try:
            yield
        finally:
            self._leave()

    @contextmanager
    def review(self) -> Iterator[None]:
        """Use the reviewers for a review, which calls `give_way` after each part."""
        self._enter()
        try:
            yield
        finally:
            self._leave()

    def give_way(self) -> None:
        """Let the questions that wait go first."""
        with self._changed:
            if self._n_waiting:
                self._is_busy = False
                self._changed.notify_all()
                self._enter()

    def _enter(self) -> None:
        with self._changed:
            self._changed.wait_for(lambda: not self._is_busy and not self._n_waiting, PATIENCE)
            self._changed.wait_for(lambda: not self._is_busy)
            self._is_busy = True

    def _leave(self) -> None:
        with self._changed:
            self._is_busy = False
            self._changed.notify_all()


class Reviews:
    """Reviews games, one at a time."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._lock = threading.Lock()
        self.using = ReviewerLock()
        self._known: OrderedDict[tuple[int, str], Reviewing] = OrderedDict()
        self._reviewers: OrderedDict[tuple[str, str], Reviewer] = OrderedDict()
        self._is_closed = False

    def find(self, id_: int, spec: str, episode: Episode, game: Game) -> Reviewing | None:
        """Return the review of a game as it stands, in memory or in the store; None if there is none."""
        with self._lock:
            found = self._known.get((id_, spec))
        if found and found.checksum == episode.checksum:
            return found
        kept = find_review(self._store, id_, episode, game, spec)
        if kept is None:
            return None
        n = len(kept.ledger.entries)
        return self._remember(Reviewing(id_, spec, n, episode.checksum, "done", n, review=kept))

    def begin(self, id_: int, spec: str, episode: Episode, game: Game) -> Reviewing:
        """Start the review of a game, or continue it; return it as it stands."""
        found = self.find(id_, spec, episode, game)
        if found and found.state in ("running", "done"):
            return found
        found = self._remember(Reviewing(id_, spec, len(episode.moves), episode.checksum))
        worker = threading.Thread(target=self._run, args=(found, episode, game), name="review", daemon=True)
        worker.start()
        return found

    def stop(self, id_: int, spec: str) -> None:
        """Stop a review; what is reviewed stays in the store."""
        with self._lock:
            found = self._known.get((id_, spec))
        if found and found.state == "running":
            found.stop.set()
            found.state = "stopped"

    def close(self) -> None:
        """Stop all reviews."""
        self._is_closed = True
        with self._lock:
            for each in self._known.values():
                each.stop.set()

    def reviewer(self, spec: str, rules: Rules) -> Reviewer:
        """Return a reviewer, to be used under the lock `using`."""
        key = (spec, rules.json_text)
        with self._lock:
            if key in self._reviewers:
                self._reviewers.move_to_end(key)
                return self._reviewers[key]
        made = make_reviewer(spec, rules)
        with self._lock:
            self._reviewers[key] = made
            while len(self._reviewers) > MAX_REVIEWERS:
                self._reviewers.popitem(last=False)
        return made

    def _remember(self, reviewing: Reviewing) -> Reviewing:
        with self._lock:
            self._known[reviewing.game, reviewing.reviewer] = reviewing
            self._known.move_to_end((reviewing.game, reviewing.reviewer))
            for key in [key for key, each in self._known.items() if each.state != "running"][:-MAX_KEPT]:
                del self._known[key]
        return reviewing

    def _run(self, reviewing: Reviewing, episode: Episode, game: Game) -> None:
        def go_on(n_done: int) -> None:
            reviewing.n_done = n_done
            reviewing.stop.check()
            self.using.give_way()

        try:
            with looking_at(reviewing.stop):
                specs = [reviewing.reviewer]
                if reviewing.reviewer in QUICK and len(episode.moves) >= LONG:
                    specs.insert(0, QUICK[reviewing.reviewer])
                for spec in specs:
                    with self.using.review():
                        reviewer = self.reviewer(spec, game.rules)
                        found = review_stored(self._store, reviewing.game, episode, game, reviewer, go_on)
                    reviewing.review = found
            reviewing.n_done, reviewing.state = reviewing.n_moves, "done"
        except StoppedError:
            reviewing.state = "stopped"
        except Exception as error:  # after any error the review must not appear to be running
            reviewing.error = str(error) if isinstance(error, LabError) else f"{type(error).__name__}: {error}"
            reviewing.state = "failed"

"""What the tests of sessions share."""

from lab2048.arena.session import Session
from lab2048.records.episode import Episode
from lab2048.records.store import Store
from lab2048.rules import Rules

RULES = Rules.from_text("4x4")


class Clock:
    """Time that passes only when a test says so."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


def make_moves(session: Session, n: int, by: str = "human") -> None:
    for _ in range(n):
        session.play(session.game.board.legal_moves()[0], by=by)


def kept(store: Store) -> list[Episode]:
    return [store.get(id_).episode for id_ in store.ids()]

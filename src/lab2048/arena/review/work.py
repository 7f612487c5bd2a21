"""The work of reviewing a stored game: in parts, kept in the store, and continued where it stopped."""

import time
from collections.abc import Callable
from itertools import islice

from lab2048.arena.review.kept import digest, from_bytes, to_bytes
from lab2048.arena.review.review import Review, finish_review, make_review, reviewed_turns, value_turns
from lab2048.arena.review.reviewer import PART, Reviewer, Valuation
from lab2048.errors import FileError
from lab2048.records.episode import Episode
from lab2048.records.review_table import KeptReview
from lab2048.records.store import Store
from lab2048.rules import Game

KEEP_SECONDS = 5.0  # so much of a review may be lost when the program is killed


def find_review(store: Store, id_: int, episode: Episode, game: Game, reviewer: str) -> Review | None:
    """Return the review of a stored game if it is complete."""
    kept = _find(store, id_, episode, reviewer)
    if kept is None or "last_value" not in kept.figures:
        return None
    unit = str(kept.figures["unit"])
    if kept.n_moves != len(reviewed_turns(game, unit)):
        return None
    try:
        valuations = from_bytes(kept.data, kept.n_moves, len(game.rules.shape.moves))
    except FileError:
        return None
    return finish_review(game, reviewer, unit, valuations, float(kept.figures["last_value"]))


def review_stored(
    store: Store,
    id_: int,
    episode: Episode,
    game: Game,
    reviewer: Reviewer,
    progress: Callable[[int], object] = lambda _: None,
) -> Review:
    """Review a stored game, from where an earlier review stopped.

    `progress` is called with the number of valued moves, and may raise an error to stop: what was valued is kept.
    """
    if found := find_review(store, id_, episode, game, reviewer.spec):
        return found
    valuations = _known(store, id_, episode, game, reviewer)
    parts, kept_at = value_turns(game, reviewer, len(valuations)), time.monotonic()
    progress(len(valuations))
    try:
        while part := list(islice(parts, PART)):
            valuations += part
            if time.monotonic() - kept_at > KEEP_SECONDS:
                _keep(store, id_, episode, reviewer, valuations, {"unit": reviewer.unit})
                kept_at = time.monotonic()
            progress(len(valuations))
    except BaseException:
        _keep(store, id_, episode, reviewer, valuations, {"unit": reviewer.unit})
        raise
    review = make_review(game, reviewer, valuations)
    last_value = review.ledger.final_value - (game.score if reviewer.unit == "score" else 0)
    _keep(store, id_, episode, reviewer, valuations, {**review.figures(), "last_value": last_value})
    return review


def _find(store: Store, id_: int, episode: Episode, reviewer: str) -> KeptReview | None:
    """Return a kept review whose moves the game still begins with."""
    for kept in store.reviews_of(id_):
        if kept.reviewer == reviewer and kept.n_moves <= len(episode.moves):
            return kept if kept.digest == digest(episode, kept.n_moves) else None
    return None


def _known(store: Store, id_: int, episode: Episode, game: Game, reviewer: Reviewer) -> list[Valuation]:
    kept = _find(store, id_, episode, reviewer.spec)
    n_turns = len(reviewed_turns(game, reviewer.unit))
    if kept is None or kept.figures.get("unit") != reviewer.unit or kept.n_moves > n_turns:
        return []
    try:
        return from_bytes(kept.data, kept.n_moves, len(game.rules.shape.moves))
    except FileError:
        return []


def _keep(
    store: Store,
    id_: int,
    episode: Episode,
    reviewer: Reviewer,
    valuations: list[Valuation],
    figures: dict[str, object],
) -> None:
    n, data = len(valuations), to_bytes(valuations, len(reviewer.rules.shape.moves))
    store.keep_review(id_, KeptReview(reviewer.spec, n, digest(episode, n), figures, data))

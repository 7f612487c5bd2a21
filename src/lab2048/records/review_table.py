"""Reviews in the store: what a reviewer found about a game, perhaps for its first moves only."""

import json
from typing import Any, NamedTuple

from lab2048.errors import StoreError
from lab2048.records.input_file import parse_json
from lab2048.records.provenance import now
from lab2048.records.store_file import StoreFile


class KeptReview(NamedTuple):
    """A review as it is kept."""

    reviewer: str
    n_moves: int
    digest: str  # of these moves
    figures: dict[str, Any]
    data: bytes  # the values of every move


class ReviewTable(StoreFile):
    """The table `reviews` of a store."""

    def keep_review(self, game: int, review: KeptReview) -> None:
        """Keep a review of a game; it replaces an earlier one by the same reviewer."""
        statement = """
            INSERT OR REPLACE INTO reviews (episode, reviewer, created, n_moves, digest, figures, data)
            SELECT id, ?, ?, ?, ?, ?, ? FROM episodes WHERE id = ?
        """
        figures = json.dumps(review.figures, allow_nan=False)
        row = (review.reviewer, now(), review.n_moves, review.digest, figures, review.data, game)
        with self._change(is_durable=False) as database:
            database.execute(statement, row)

    def reviews_of(self, game: int) -> list[KeptReview]:
        """Return the reviews of a game, the newest first."""
        question = """
            SELECT reviewer, n_moves, digest, figures, data FROM reviews
            WHERE episode = ? ORDER BY created DESC, reviewer
        """
        with self._read() as database:
            rows = database.execute(question, (game,)).fetchall()
        found = []
        for reviewer, n_moves, digest, figures, data in rows:
            try:
                facts = parse_json(figures)
            except (ValueError, TypeError) as error:
                raise StoreError(f"the review of game {game} in {self.path} is damaged: {error}") from None
            found.append(KeptReview(str(reviewer), int(n_moves), str(digest), facts, bytes(data)))
        return found

    def forget_reviews(self, game: int) -> int:
        """Delete the reviews of a game; return how many there were."""
        with self._change(is_durable=False) as database:
            return database.execute("DELETE FROM reviews WHERE episode = ?", (game,)).rowcount

"""A review as one HTML file, which needs no server: its scripts are those of the page."""

from typing import Any

from lab2048.arena.review.review import Review
from lab2048.views.web.document import make_document
from lab2048.views.web.serialize.game import shape_data
from lab2048.views.web.serialize.review import review_data

MAIN = "review/file.js"
SHEETS = ("tokens.css", "board.css", "shell.css", "play.css", "pages.css")


def make_page(review: Review, title: str) -> str:
    """Return the HTML file of a review."""
    game = review.game
    data: dict[str, Any] = {
        "title": title,
        "shape": shape_data(game.rules.board).model_dump(mode="json"),
        "first": list(game.first_board.ranks),
        "turns": [[int(turn.move), turn.reward, *turn.spawn] for turn in game.turns],
        "review": review_data(review).model_dump(mode="json"),
    }
    return make_document("review.html", SHEETS, MAIN, data)

"""Trainings as text."""

from collections.abc import Iterator

from lab2048.learning.ntuple import Progress
from lab2048.views.number import number


def training_lines(progress: Progress) -> Iterator[str]:
    """How a training stands, in three lines."""
    minutes, seconds = divmod(int(progress.seconds), 60)
    moves, pace = progress.n_moves / 1e6, progress.pace / 1e6
    yield f"{minutes}:{seconds:02}  {moves:,.1f} million moves, {pace:.2f} million a second, {progress.n_games:,} games"
    reached = "  ".join(f"{tile} {rate:.1%}" for tile, rate in progress.rates.items() if rate > 0) or "no 2048 yet"
    mean, best = number(progress.mean), number(progress.best)
    yield f"last {progress.n_last} games: mean score {mean} (best ever {best})  {reached}"
    yield f"learning rate {progress.learning_rate:.4f}, mean error {progress.error:,.1f}"

"""Progress of trainings as text."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from lab2048.views.number import number, percent, size

if TYPE_CHECKING:
    from lab2048.learning.deep.training import DeepProgress
    from lab2048.learning.ntuple import Progress


def training_lines(progress: "Progress") -> Iterator[str]:
    """Return the progress of an n-tuple training in three lines."""
    minutes, seconds = divmod(int(progress.seconds), 60)
    moves, pace = progress.n_moves / 1e6, progress.pace / 1e6
    speed = f"{moves:,.1f} million moves, {pace:.2f} million per second"
    yield f"{minutes}:{seconds:02}  {speed}, {progress.n_games:,} games"
    reached = "  ".join(f"{tile} {rate:.1%}" for tile, rate in progress.rates.items() if rate > 0) or "no 2048 yet"
    mean, best = number(progress.mean), number(progress.best)
    yield f"last {progress.n_last} games: mean score {mean} (best ever {best})  {reached}"
    learning = f"learning rate {progress.learning_rate:.4f}, mean error {progress.error:,.1f}"
    yield f"{learning}; checkpoint {size(progress.n_bytes)}"


def deep_lines(progress: "DeepProgress") -> Iterator[str]:
    """Return the progress of a deep training."""
    minutes, seconds = divmod(int(progress.seconds), 60)
    yield (
        f"{minutes}:{seconds:02}  {progress.n_moves:,} moves, {progress.pace:,.0f} per second; "
        f"{progress.n_steps:,} gradient steps, {progress.step_pace:,.0f} per second; {progress.n_games:,} games"
    )
    reached = "  ".join(f"{tile} {percent(rate)}" for tile, rate in progress.rates.items() if rate > 0)
    mean, best = number(progress.mean), number(progress.best)
    yield f"last {progress.n_last} games: mean score {mean} (best ever {best})  {reached}"
    yield (
        f"mean return {number(progress.total)}, {number(progress.length)} moves, tile sum "
        f"{number(progress.tile_sum)}, loss {progress.loss:.4g}"
        + "".join(f", {name} {percent(share)}" for name, share in progress.more.items())
    )
    yield "adjacent pairs per game: " + "  ".join(f"{tile} {count:.3g}" for tile, count in progress.pairs.items())
    if progress.trial is not None:
        yield trial_line(progress.trial)


def trial_line(trial: dict[str, Any]) -> str:
    """Return the last evaluation as a line."""
    mean, low, high = (number(trial[name]) for name in ("mean", "mean_low", "mean_high"))
    rates = "  ".join(f"{tile} {percent(rate[0])}" for tile, rate in list(trial["rates"].items())[-4:])
    return f"evaluation of {trial['n']} games after {trial['n_games']:,}: mean {mean} ({low} to {high})  {rates}"

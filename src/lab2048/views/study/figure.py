"""Figures of a study as words: values in their units, intervals, sample sizes."""

from lab2048.studies.comparison import Line
from lab2048.studies.measure import Measured, Unit
from lab2048.studies.model import TrainingSpec
from lab2048.views.number import duration, number, percent


def write_value(value: float, unit: Unit, *, is_exact: bool = False) -> str:
    """A value in its unit; an exact one with all its digits.

    >>> write_value(0.15, Unit.RATE), write_value(0.011337880083, Unit.RATE, is_exact=True)
    ('15%', '1.1337880083%')
    >>> write_value(3932100, Unit.NUMBER), write_value(0.002, Unit.SECONDS), write_value(2.5, Unit.TIMES)
    ('3,932,100', '2 ms', '2.5 x')
    """
    match unit:
        case Unit.RATE:
            return f"{100 * value:.12g}%" if is_exact else percent(value)
        case Unit.SECONDS:
            return duration(value)
        case Unit.TIMES:
            return f"{value:.3g} x"
        case _:
            return f"{value:,.10g}" if is_exact and value != int(value) else number(value)


def write_ours(line: Line) -> tuple[str, str, str]:
    """What was measured: value, interval and sample size."""
    if line.ours is None:
        return "-", "-", "-"
    unit, ours, k = line.figure.measure.meaning.unit, line.ours, len(line.each)
    alike = len({each.n for each in line.each}) == 1
    of_all = f"{k} x {ours.n // k}" if alike else f"{ours.n} in {k}"
    n = of_all if k and ours.n > k else str(ours.n) if ours.n else "-"
    return write_value(ours.value, unit, is_exact=ours.n == 0), _interval(ours, unit), n


def write_each(line: Line) -> str:
    """What was measured, training by training."""
    unit = line.figure.measure.meaning.unit
    return "; ".join(write_value(each.value, unit) for each in line.each)


def _interval(ours: Measured, unit: Unit) -> str:
    if ours.n == 0:
        return "exact"
    if not ours.has_interval:
        return "measured once"
    low = max(ours.low, 0.0)  # nothing that is measured can be less, though few games may not know that
    high = min(ours.high, 1.0) if unit is Unit.RATE else ours.high
    return f"{write_value(low, unit)} to {write_value(high, unit)}"


def write_published(line: Line) -> str:
    """What ours is set beside, and where that stands."""
    if line.figure.against:
        theirs = f" {write_value(line.theirs.value, line.figure.measure.meaning.unit)}" if line.theirs else ""
        return f"{line.figure.against}{theirs}"
    if line.figure.published is None:
        return "-"
    return line.figure.published.text


def write_training_spec(training_spec: TrainingSpec, size: str) -> str:
    """How much is learnt."""
    minutes = training_spec.minutes.get(size)
    return f"{minutes} minutes" if minutes else f"{training_spec.games.get(size, 0):,} games"

"""Format numbers for people."""

import math
from collections.abc import Iterable


def number(value: float) -> str:
    """Format a number with thousands separators; small ones with three digits.

    >>> number(1096.7), number(12.34), number(0.123456)
    ('1,097', '12.3', '0.123')
    """
    if abs(value) >= 100 or value == int(value):
        return f"{value:,.0f}"
    return f"{value:.3g}"


def count(n: int, noun: str) -> str:
    """Format a number with its noun, singular or plural.

    >>> count(1, "move"), count(1200, "move")
    ('1 move', '1,200 moves')
    """
    return f"{n:,} {noun}{'' if n == 1 else 's'}"


def apart(values: Iterable[float], width: int = 20, least: int = 0) -> list[str]:
    """Format numbers with enough decimals to tell them apart, at least `least`, within the width.

    >>> apart([0.9392636924, 0.9392511873, 0.5])
    ['0.93926', '0.93925', '0.50000']
    >>> apart([1472916.2, 1468519.4]), apart([0.25, 0.25], least=2), apart([2e12, 1.0], 10)
    (['1,472,916', '1,468,519'], ['0.25', '0.25'], ['2e+12', '1'])
    """
    found = list(values)
    largest = max((abs(value) for value in found if math.isfinite(value)), default=0.0)
    # Three digits of the largest number, as in `number`, or more.
    first = max(least, 0 if largest >= 100 or all(v == int(v) for v in found if math.isfinite(v)) else 2)
    short = texts = [f"{value:.3g}" for value in found]
    for decimals in range(first, 16):
        tried = [f"{value:,.{decimals}f}" for value in found]
        if max(map(len, tried), default=0) > width:
            break
        texts = tried
        if len(set(tried)) == len(set(found)):
            break
    return short if len(set(short)) > len(set(texts)) else texts


def percent(rate: float) -> str:
    """Format a rate in per cent with two significant digits of its distance to 0 or 1.

    >>> percent(0.5), percent(0.00123), percent(1.0), percent(0.9996)
    ('50%', '0.12%', '100%', '99.960%')
    """
    rare = min(rate, 1 - rate)
    decimals = 0 if rare >= 0.1 or rare <= 0 else 1 - math.floor(math.log10(100 * rare))
    return f"{100 * rate:.{min(decimals, 6)}f}%"


def duration(seconds: float) -> str:
    """Format a time in a suitable unit.

    >>> duration(0.0000061), duration(0.25), duration(90), duration(3601)
    ('6.1 µs', '250 ms', '90 s', '3,601 s')
    """
    if seconds >= 1000:
        return f"{seconds:,.0f} s"
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= scale:
            return f"{seconds / scale:.3g} {unit}"
    return f"{seconds * 1e9:.0f} ns"


def wait(seconds: float) -> str:
    """Format a waiting time.

    >>> wait(0.2), wait(99), wait(1200), wait(34782), wait(1e6), wait(1.3e8)
    ('0 s', '99 s', '20 min', '9.7 h', '12 days', '4.1 years')
    """
    if seconds < 100:
        return f"{max(0.0, seconds):.0f} s"
    if seconds < 6000:
        return f"{seconds / 60:.0f} min"
    days = seconds / 86_400
    if days < 3:
        return f"{seconds / 3600:.1f} h"
    years = days / 365.25
    return f"{days:.0f} days" if years < 2 else f"{round(years, 1) if years < 100 else number(years)} years"


def size(n_bytes: float) -> str:
    """Format a number of bytes in a suitable unit.

    >>> size(576), size(3092), size(1.3e9), size(1.66e15)
    ('576 bytes', '3.09 kB', '1.3 GB', '1.66 PB')
    """
    for unit, factor in (("PB", 1e15), ("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if n_bytes >= factor:
            return f"{number(n_bytes / factor)} {unit}"
    return f"{n_bytes:.0f} bytes"

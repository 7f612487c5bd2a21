"""Numbers as people read them."""

import math


def number(value: float) -> str:
    """A count or a score: thousands separated, small ones with a few digits.

    >>> number(1096.7), number(12.34), number(0.123456)
    ('1,097', '12.3', '0.123')
    """
    if abs(value) >= 100 or value == int(value):
        return f"{value:,.0f}"
    return f"{value:.3g}"


def count(n: int, noun: str) -> str:
    """So many of a thing.

    >>> count(1, "move"), count(0, "game"), count(1096, "move")
    ('1 move', '0 games', '1,096 moves')
    """
    return f"{n:,} {noun}" if n == 1 else f"{n:,} {noun}s"


def percent(rate: float) -> str:
    """A rate with two digits of what is rare, be it the success or the failure.

    >>> percent(0.5), percent(0.00123), percent(1.0), percent(0.9996)
    ('50%', '0.12%', '100%', '99.960%')
    """
    rare = min(rate, 1 - rate)
    decimals = 0 if rare >= 0.1 or rare <= 0 else 1 - math.floor(math.log10(100 * rare))
    return f"{100 * rate:.{min(decimals, 6)}f}%"


def duration(seconds: float) -> str:
    """A time in the unit that fits.

    >>> duration(0.0000061), duration(0.25), duration(90)
    ('6.1 µs', '250 ms', '90 s')
    """
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= scale:
            return f"{seconds / scale:.3g} {unit}"
    return f"{seconds * 1e9:.0f} ns"


def size(n_bytes: float) -> str:
    """An amount of data in the unit that fits.

    >>> size(576), size(3092), size(1.3e9)
    ('576 bytes', '3.09 kB', '1.3 GB')
    """
    for unit, factor in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if n_bytes >= factor:
            return f"{number(n_bytes / factor)} {unit}"
    return f"{n_bytes:.0f} bytes"

"""Numbers as people read them."""


def number(value: float) -> str:
    """A count or a score: thousands separated, small ones with a few digits.

    >>> number(1096.7), number(12.34), number(0.123456)
    ('1,097', '12.3', '0.123')
    """
    if abs(value) >= 100 or value == int(value):
        return f"{value:,.0f}"
    return f"{value:.3g}"


def percent(rate: float) -> str:
    """A rate: a tenth of a per cent where that matters.

    >>> percent(0.5), percent(0.0012), percent(1.0), percent(0.9996)
    ('50%', '0.1%', '100%', '99.9%')
    """
    if rate in (0, 1) or 0.1 <= rate <= 0.9:
        return f"{100 * rate:.0f}%"
    if rate > 0.9:
        return f"{min(99.9, 100 * rate):.1f}%"  # nothing below 1 is shown as 100%
    return f"{max(0.1, 100 * rate):.1f}%"


def duration(seconds: float) -> str:
    """A time in the unit that fits.

    >>> duration(0.0000061), duration(0.25), duration(90)
    ('6.1 µs', '250 ms', '90 s')
    """
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= scale:
            return f"{seconds / scale:.3g} {unit}"
    return f"{seconds * 1e9:.0f} ns"

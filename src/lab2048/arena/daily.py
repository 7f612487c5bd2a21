"""The daily board: the same seed for everyone on each day, and the champion's game on it."""

import hashlib
from datetime import UTC, date, datetime, timedelta

from lab2048.arena.episode import play_episode
from lab2048.players import default_spec, fit_player
from lab2048.records.entry import Entry
from lab2048.records.store import Store
from lab2048.rules import Rules

KIND = "daily"  # of the runs of the champion's games
DAYS_KNOWN = 366  # whose boards are recognized by their seeds
RULES = Rules.from_text("4x4")


def today() -> date:
    """Return the day, in UTC, so that it is the same everywhere."""
    return datetime.now(UTC).date()


def daily_seed(day: date) -> int:
    """Return the seed of a day, of at most six digits.

    >>> daily_seed(date(2026, 1, 1)) == daily_seed(date(2026, 1, 1)) != daily_seed(date(2026, 1, 2))
    True
    """
    digest = hashlib.sha256(f"lab2048 daily {day.isoformat()}".encode()).digest()
    return int.from_bytes(digest[:8], "big") % 1_000_000


def day_of(rules: Rules, seed: int) -> date | None:
    """Return the day, of the last year, whose board has these rules and this seed; None if there is none.

    >>> day_of(RULES, daily_seed(today())) == today(), day_of(Rules.from_text("3x3"), daily_seed(today()))
    (True, None)
    """
    days = (today() - timedelta(days=ago) for ago in range(DAYS_KNOWN)) if rules == RULES else ()
    return next((day for day in days if daily_seed(day) == seed), None)


def champion() -> str:
    """Return the player that everyone is compared with."""
    return default_spec(RULES)


def find_champion(store: Store, day: date) -> Entry | None:
    """Return the champion's game of a day, if it has been played here."""
    seed = daily_seed(day)
    return next((entry for entry in store.entries(kind=KIND) if entry.seed == seed), None)


def find_mine(store: Store, day: date) -> Entry | None:
    """Return the best game of a day in which a person made every move."""
    seed, board = daily_seed(day), RULES.board.to_text()
    found = store.entries(kind="play", player="human", board=board, alone=True, best=True)
    return next((entry for entry in found if entry.seed == seed), None)


def play_champion(store: Store, day: date) -> int:
    """Let the champion play the board of a day, and store the game; return its id."""
    spec, seed = champion(), daily_seed(day)
    episode = play_episode(fit_player(spec, RULES), spec, RULES, seed)
    stored = store.add(store.begin_run(KIND, RULES, spec, seed), episode)
    store.sync()
    return stored.id

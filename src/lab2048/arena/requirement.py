"""What a match is required to show: `mean>=380000`, `win2048>=90%`, `2.median>1000`.

For scripts: a match that does not show it fails.
"""

import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from operator import ge, gt, le, lt
from typing import Any, Self

from lab2048.arena.match import Match, Standing
from lab2048.arena.statistics import Interval, mean_interval, rate_interval
from lab2048.errors import BoardError, UsageError, nearest
from lab2048.rules.notation import rank_of

# Names and what they mean; those with an interval also have its ends, mean-low and mean-high.
FIGURES = {
    "mean": "mean score",
    "median": "median score",
    "min": "lowest score",
    "max": "highest score",
    "win": "share of games that reach the goal; win4096: that tile",
    "moves": "mean number of moves of a game",
    "speed": "moves a second",
    "lead": "mean score less that of the best other player on the same seeds",
}
WITH_INTERVAL = ("mean", "win", "moves", "lead")
_SIGNS: dict[str, Callable[[float, float], bool]] = {">=": ge, "<=": le, ">": gt, "<": lt}
_TEXT = re.compile(
    r"(?:(?P<player>\d+)\.)?(?P<figure>[a-z]+)(?P<tile>\d*)(?:-(?P<end>low|high))?(?P<sign>>=|<=|>|<)(?P<bound>.+)"
)


@dataclass(frozen=True)
class Verdict:
    """Whether one player shows what is required."""

    text: str
    player: str
    value: float | None  # None: there is no such figure, because too few games were played
    is_met: bool

    def __str__(self) -> str:
        """As a message tells it."""
        shown = "no such figure yet" if self.value is None else f"{self.value:.10g}"
        return f"required {self.text}: {self.player} has {shown}"

    def to_json(self) -> dict[str, Any]:
        """As plain data."""
        return {"required": self.text, "player": self.player, "value": self.value, "is_met": self.is_met}


@dataclass(frozen=True)
class Requirement:
    """A figure, a sign and a bound; of one player, or of all."""

    text: str
    figure: str
    sign: str
    bound: float
    tile: int | None = None  # of win; None: the goal
    end: str | None = None  # low or high: that end of the 95% interval
    player: int | None = None  # from 1 on

    @classmethod
    def from_text(cls, text: str, n_players: int) -> Self:
        """Read a requirement; raise UsageError for what no match could show."""
        found = _TEXT.fullmatch("".join(text.split()))
        if found is None:
            raise UsageError(
                f"require {text!r} is not understood: expected a figure and a bound, as in mean>=380000",
                field="require",
            )
        figure, end, tile = found["figure"], found["end"], found["tile"]
        if figure not in FIGURES:
            raise UsageError(
                f"require {text!r}: figure {figure!r} is unknown: {nearest(figure, FIGURES)}", field="require"
            )
        if end and figure not in WITH_INTERVAL:
            raise UsageError(
                f"require {text!r}: {figure} has no interval: expected one of {', '.join(WITH_INTERVAL)}",
                field="require",
            )
        if tile and figure != "win":
            raise UsageError(
                f"require {text!r}: {figure} has no tile: expected win{tile}, or {figure} alone", field="require"
            )
        player = int(found["player"]) if found["player"] else 1 if figure == "lead" else None
        if player is not None and not 1 <= player <= n_players:
            raise UsageError(
                f"require {text!r}: there is no player {player}: expected 1 to {n_players}", field="require"
            )
        if figure == "lead" and n_players == 1:
            raise UsageError(
                f"require {text!r}: a player alone has no lead: expected two players or more", field="require"
            )
        try:
            rank = rank_of(tile) if tile else None
        except BoardError as error:
            raise UsageError(f"require {text!r}: {error}", field="require") from None
        bound = _read_bound(text, found["bound"], is_share=figure == "win")
        if figure == "win" and (found["sign"], bound) in ((">", 1), ("<", 0)):
            raise UsageError(f"require {text!r}: no share is {'above 100%' if bound else 'below 0%'}", field="require")
        return cls(text, figure, found["sign"], bound, rank and 2**rank, end, player)

    def check(self, match: Match) -> Iterator[Verdict]:
        """Look at every player that it is about."""
        for number, standing in enumerate(match.standings.values(), 1):
            if self.player in (None, number):
                found = self._figure(match, standing) if standing.games else None
                value = math.nan if found is None else float(getattr(found, self.end or "value"))
                is_known = math.isfinite(value)
                is_met = is_known and _SIGNS[self.sign](value, self.bound)
                yield Verdict(self.text, standing.player, value if is_known else None, is_met)

    def _figure(self, match: Match, standing: Standing) -> Interval | None:
        n = len(standing.games)
        match self.figure:
            case "mean":
                return mean_interval(standing.scores)
            case "moves":
                return mean_interval([game.n_moves for game in standing.games.values()])
            case "win":
                return standing.reached(self.tile) if self.tile else rate_interval(standing.n_won, n)
            case "lead":
                others = (other for other in match.standings.values() if other is not standing)
                leads = [lead[0] for other in others if (lead := match.difference(standing, other))]
                return min(leads, key=lambda lead: getattr(lead, self.end or "value"), default=None)
            case "speed":
                return _exactly(standing.n_moves / standing.seconds) if standing.seconds else None
        of = {"median": standing.median_score, "min": min(standing.scores), "max": max(standing.scores)}
        return _exactly(of[self.figure])


def _exactly(value: float) -> Interval:
    return Interval(value, value, value)


def _read_bound(text: str, bound: str, *, is_share: bool) -> float:
    try:
        number = float(bound.removesuffix("%"))
    except ValueError:
        number = math.nan
    is_percent = bound.endswith("%")
    if not math.isfinite(number):
        known = "0.9 or 90%" if is_share else "380000 or 4e5"
        raise UsageError(f"require {text!r}: {bound!r} is no number: expected one such as {known}", field="require")
    if is_percent and not is_share:
        raise UsageError(
            f"require {text!r}: only win is a share: expected {bound.removesuffix('%')} without %", field="require"
        )
    share = number / 100 if is_percent else number
    if is_share and not 0 <= share <= 1:
        meant = f"did you mean {bound}%?" if 1 < share <= 100 and not is_percent else "expected 0% to 100%"
        raise UsageError(f"require {text!r}: {bound} is no share of games: {meant}", field="require")
    return share

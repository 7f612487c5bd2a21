"""Requirements on the result of a match: `mean>=380000`, `win2048>=90%`, `2.median>1000`.

For scripts: a match that does not meet its requirements fails.
"""

import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from operator import ge, gt, le, lt
from typing import Any, Self

from lab2048.arena.match import Match, PlayerResult
from lab2048.arena.statistics import Interval, mean_interval, rate_interval
from lab2048.errors import BoardError, UsageError, unknown
from lab2048.rules.notation import rank_of

# Figures by name; those with an interval also have its ends, such as mean-low and mean-high.
FIGURES = {
    "mean": "mean score",
    "median": "median score",
    "min": "lowest score",
    "max": "highest score",
    "win": "share of games that reach the goal; win4096: that tile",
    "moves": "mean number of moves of a game",
    "speed": "moves per second",
    "lead": "mean score minus that of the best other player on the same seeds",
}
WITH_INTERVAL = ("mean", "win", "moves", "lead")
_SIGNS: dict[str, Callable[[float, float], bool]] = {">=": ge, "<=": le, ">": gt, "<": lt}
_TEXT = re.compile(
    r"(?:(?P<player>\d{1,9})\.)?(?P<figure>[a-z]+)(?P<tile>\d*)(?:-(?P<end>low|high))?(?P<sign>>=|<=|>|<)(?P<bound>.+)"
)


@dataclass(frozen=True)
class RequirementResult:
    """Whether one player meets a requirement."""

    text: str
    player: str
    value: float | None  # None: too few games were played
    is_met: bool

    def __str__(self) -> str:
        shown = "too few games" if self.value is None else f"{self.value:.10g}"
        return f"required {self.text}: {self.player} has {shown}"

    def to_json(self) -> dict[str, Any]:
        return {"required": self.text, "player": self.player, "value": self.value, "is_met": self.is_met}


@dataclass(frozen=True)
class Requirement:
    """A figure, a comparison sign and a bound, for one player or all."""

    text: str
    figure: str
    sign: str
    bound: float
    tile: int | None = None  # for win; None = the goal
    end: str | None = None  # low or high end of the 95% interval
    player: int | None = None  # counted from 1; None = all

    @classmethod
    def from_text(cls, text: str, n_players: int) -> Self:
        """Parse a requirement; raise UsageError if it is invalid or no match could meet it."""
        found = _TEXT.fullmatch("".join(text.split()))
        if found is None:
            raise UsageError(
                f"require {text!r} is not understood: expected a figure and a bound, as in mean>=380000",
                field="require",
            )
        figure, end, tile = found["figure"], found["end"], found["tile"]
        if figure not in FIGURES:
            raise _refusal(text, unknown("figure", figure, FIGURES))
        if end and figure not in WITH_INTERVAL:
            raise _refusal(text, f"{figure} has no interval: expected one of {', '.join(WITH_INTERVAL)}")
        if tile and figure != "win":
            raise _refusal(text, f"{figure} has no tile: expected win{tile}, or {figure} alone")
        player = int(found["player"]) if found["player"] else 1 if figure == "lead" else None
        if player is not None and not 1 <= player <= n_players:
            raise _refusal(text, f"there is no player {player}: expected 1 to {n_players}")
        if figure == "lead" and n_players == 1:
            raise _refusal(text, "lead compares players: expected two players or more")
        try:
            rank = rank_of(tile) if tile else None
        except BoardError as error:
            raise _refusal(text, str(error)) from None
        bound = _read_bound(text, found["bound"], is_share=figure == "win")
        if figure == "win" and (found["sign"], bound) in ((">", 1), ("<", 0)):
            raise _refusal(text, f"no share is {'above 100%' if bound else 'below 0%'}")
        return cls(text, figure, found["sign"], bound, rank and 2**rank, end, player)

    def check(self, match: Match) -> Iterator[RequirementResult]:
        """Yield the result for every player concerned."""
        for number, player_result in enumerate(match.results.values(), 1):
            if self.player in (None, number):
                found = self._figure(match, player_result) if player_result.games else None
                value = math.nan if found is None else float(getattr(found, self.end or "value"))
                is_known = math.isfinite(value)
                is_met = is_known and _SIGNS[self.sign](value, self.bound)
                yield RequirementResult(self.text, player_result.player, value if is_known else None, is_met)

    def _figure(self, match: Match, player_result: PlayerResult) -> Interval | None:
        n = len(player_result.games)
        match self.figure:
            case "mean":
                return mean_interval(player_result.scores)
            case "moves":
                return mean_interval([game.n_moves for game in player_result.games.values()])
            case "win":
                return player_result.reached(self.tile) if self.tile else rate_interval(player_result.n_won, n)
            case "lead":
                others = (other for other in match.results.values() if other is not player_result)
                leads = [lead[0] for other in others if (lead := match.difference(player_result, other))]
                return min(leads, key=lambda lead: getattr(lead, self.end or "value"), default=None)
            case "speed":
                return _exactly(player_result.n_moves / player_result.seconds) if player_result.seconds else None
        of = {"median": player_result.median_score, "min": min(player_result.scores), "max": max(player_result.scores)}
        return _exactly(of[self.figure])


def _refusal(text: str, why: str) -> UsageError:
    return UsageError(f"require {text!r}: {why}", field="require")


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
        raise _refusal(text, f"{bound!r} is not a number: expected for example {known}")
    if is_percent and not is_share:
        raise _refusal(text, f"only win is a share: expected {bound.removesuffix('%')} without %")
    share = number / 100 if is_percent else number
    if is_share and not 0 <= share <= 1:
        meant = f"did you mean {bound}%?" if 1 < share <= 100 and not is_percent else "expected 0% to 100%"
        raise _refusal(text, f"{bound} is not a share of games: {meant}")
    return share

"""Matches as tables, for a terminal and for a spreadsheet."""

import csv
import io
import math
from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from lab2048.arena.match import Match, Standing
from lab2048.arena.statistics import Interval, games_to_decide, mean_interval, rate_interval
from lab2048.views.number import duration, number, percent

MAX_TILE_COLUMNS = 4


def match_table(match: Match, *, title: str) -> RenderableType:
    """The standings of a match, and below them the paired differences."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("player", overflow="fold")
    tiles = _columns(match)
    for name in ("games", "mean score", "median", "max", *(f">={tile}" for tile in tiles), "won", "moves/s", "s/game"):
        table.add_column(name, justify="right")
    for standing in match.standings.values():
        table.add_row(standing.player, *_cells(standing, tiles))
    lines = [Text(line) for line in paired_lines(match)]
    return Group(Text(title), table, *lines)


def _columns(match: Match) -> list[int]:
    """The tiles that tell the players apart: not the ones that every game made."""
    tiles = match.tiles() if any(standing.games for standing in match.standings.values()) else []
    telling = [
        tile
        for tile in tiles
        if any(standing.games and standing.reached(tile).value < 1 for standing in match.standings.values())
        and any(standing.games and standing.reached(tile).value > 0 for standing in match.standings.values())
    ]
    return telling[-MAX_TILE_COLUMNS:]


def _cells(standing: Standing, tiles: list[int]) -> Iterator[str]:
    n = len(standing.games)
    yield str(n)
    if n == 0:
        return
    yield spread(mean_interval(standing.scores))
    yield number(standing.median_score)
    yield number(max(standing.scores))
    for rate in (*(standing.reached(tile) for tile in tiles), rate_interval(standing.n_won, n)):
        yield f"{percent(rate.value)} [{percent(rate.low)}, {percent(rate.high)}]"
    yield number(standing.n_moves / standing.seconds) if standing.seconds else "-"
    yield duration(standing.seconds / n)


def spread(interval: Interval) -> str:
    """A mean with the half width of its interval: 1,097 ± 12."""
    if math.isinf(interval.low):
        return number(interval.value)
    return f"{number(interval.value)} ± {number(interval.high - interval.value)}"


def paired_lines(match: Match) -> Iterator[str]:
    """A line for each pair of players: who scores more on the same seeds, and whether that is clear."""
    standings = list(match.standings.values())
    for i, a in enumerate(standings):
        for b in standings[i + 1 :]:
            result = match.difference(a, b)
            if result is None or result[1] < 2:
                continue
            difference, n = result
            line = f"{a.player} - {b.player}: {spread(difference)} on {n} seeds"
            more = games_to_decide(difference, n)
            yield line + (f", not clear; about {number(more)} games would decide" if more else "")


def match_csv(match: Match) -> str:
    """The standings as comma-separated values, a row a player."""
    data = match.to_json()
    fields = ["player", "games", "mean_score", "mean_score_low", "mean_score_high", "median_score", "max_score", "won"]
    fields += ["moves", "moves_per_second", "cpu_seconds", "seconds_per_game", "seconds_to_goal"]
    tiles = [str(tile) for tile in match.tiles()]
    fields += [f"reached_{tile}{end}" for tile in tiles for end in ("", "_low", "_high")]
    text = io.StringIO()
    writer = csv.DictWriter(text, fields, extrasaction="ignore", restval="", lineterminator="\n")
    writer.writeheader()
    for player in data["players"]:
        row = dict(player)
        row["mean_score_low"], row["mean_score_high"] = player.get("mean_score_ci95", ("", ""))
        for tile, rate in player.get("reached", {}).items():
            row[f"reached_{tile}"] = rate["rate"]
            row[f"reached_{tile}_low"], row[f"reached_{tile}_high"] = rate["ci95"]
        writer.writerow(row)
    return text.getvalue()

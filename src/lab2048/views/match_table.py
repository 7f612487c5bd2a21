"""Matches as tables for terminals and as CSV."""

import csv
import io
import math
from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from lab2048.arena.match import Match, PlayerResult
from lab2048.arena.statistics import Interval, games_to_decide, mean_interval, rate_interval
from lab2048.views.number import duration, number, percent

LABEL_WIDTH, COLUMN_WIDTH = 15, 24  # fits the widest rate: 99.780% [99.551%, 99.893%]


def match_table(match: Match, *, title: str, width: int, is_over: bool = False) -> RenderableType:
    """Return the results of a match, one column per player, and the paired differences below.

    Columns that do not fit the width go into further tables, so no figure is cut.  With `is_over`, players without
    games are listed.
    """
    results = list(match.results.values())
    n_columns = max(1, (width - LABEL_WIDTH) // (COLUMN_WIDTH + 2))
    blocks = [results[i : i + n_columns] for i in range(0, len(results), n_columns)]
    lines = [Text(line) for line in (*paired_lines(match), *(idle_lines(match) if is_over else ()))]
    return Group(Text(title), *(_block(match, block) for block in blocks), *lines)


def _block(match: Match, results: list[PlayerResult]) -> Table:
    """Return a table of some players, one row per figure."""
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    table.add_column("player", min_width=LABEL_WIDTH - 2)
    for player_result in results:
        table.add_column(Text(player_result.player), justify="right", overflow="fold", min_width=COLUMN_WIDTH)
    figures = [dict(_figures(match, player_result)) for player_result in results]
    for name in max(figures, key=len):
        table.add_row(name, *(column.get(name, "") for column in figures))
    return table


def match_rows(match: Match) -> list[list[str]]:
    """Return the standings as rows of text, the header first."""
    columns = [dict(_figures(match, player_result)) for player_result in match.results.values()]
    names = max(columns, key=len)
    return [["", *match.players], *([name, *(column.get(name, "") for column in columns)] for name in names)]


def _figures(match: Match, player_result: PlayerResult) -> Iterator[tuple[str, str]]:
    """Return the names and figures of one player."""
    n = len(player_result.games)
    yield "games", str(n)
    if n == 0:
        return
    yield "mean score", spread(mean_interval(player_result.scores))
    if adjusted := player_result.adjusted:
        yield "without luck", spread(adjusted.mean)
        yield "its variance", f"x {adjusted.variance_ratio:.2f}"
    yield "median", number(player_result.median_score)
    yield "min", number(min(player_result.scores))
    yield "max", number(max(player_result.scores))
    yield "usual highest", str(player_result.commonest_max_tile)
    yield "mean tile sum", "-" if player_result.mean_tile_sum is None else number(player_result.mean_tile_sum)
    for tile in match.tiles():
        yield f">= {tile}", rate_text(player_result.reached(tile))
    yield "won", rate_text(rate_interval(player_result.n_won, n))
    yield "moves", number(player_result.n_moves)
    yield "moves/s", number(player_result.n_moves / player_result.seconds) if player_result.seconds else "-"
    yield "time per game", duration(player_result.seconds / n)
    yield "time to goal", "-" if player_result.seconds_to_goal is None else duration(player_result.seconds_to_goal)


def rate_text(rate: Interval) -> str:
    """Format a rate with its interval: 56% [53%, 59%]."""
    return f"{percent(rate.value)} [{percent(rate.low)}, {percent(rate.high)}]"


def spread(interval: Interval) -> str:
    """Format a mean with the half width of its interval: 1,097 ± 12."""
    if math.isinf(interval.low):
        return number(interval.value)
    return f"{number(interval.value)} ± {number(interval.high - interval.value)}"


def paired_lines(match: Match) -> Iterator[str]:
    """Yield a line per pair of players: the score difference on the same seeds, and whether it is significant."""
    results = list(match.results.values())
    for i, a in enumerate(results):
        for b in results[i + 1 :]:
            result = match.difference(a, b)
            if result is None or result[1] < 2:
                continue
            difference, n = result
            line = f"{a.player} - {b.player}: {spread(difference)} on {n} seeds"
            more = games_to_decide(difference, n)
            yield line + (f", not significant; about {number(more)} games would decide" if more else "")


def idle_lines(match: Match) -> Iterator[str]:
    """Yield a line per player without a finished game, as in an interrupted match."""
    for player_result in match.results.values():
        if not player_result.games:
            yield f"{player_result.player}: no finished game yet"


def match_csv(match: Match) -> str:
    """Return the results as CSV, one row per player."""
    data = match.to_json()
    fields = [
        "player",
        "games",
        "mean_score",
        "mean_score_low",
        "mean_score_high",
        "median_score",
        "min_score",
        "max_score",
    ]
    fields += [
        "commonest_max_tile",
        "mean_tile_sum",
        "won",
        "moves",
        "moves_per_second",
        "cpu_seconds",
        "seconds_per_game",
        "seconds_to_goal",
    ]
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

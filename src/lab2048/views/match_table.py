"""Matches as tables, for a terminal and for a spreadsheet."""

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

LABEL_WIDTH, COLUMN_WIDTH = 12, 24  # a column holds the widest rate: 99.780% [99.551%, 99.893%]


def match_table(match: Match, *, title: str, width: int, is_over: bool = False) -> RenderableType:
    """The standings of a match, a column a player, and below them the paired differences.

    Players that do not fit beside each other stand below each other: no figure is cut.  When all is over, whoever
    has no game is named.
    """
    results = list(match.results.values())
    n_columns = max(1, (width - LABEL_WIDTH) // (COLUMN_WIDTH + 2))
    blocks = [results[i : i + n_columns] for i in range(0, len(results), n_columns)]
    lines = [Text(line) for line in (*paired_lines(match), *(idle_lines(match) if is_over else ()))]
    return Group(Text(title), *(_block(match, block) for block in blocks), *lines)


def _block(match: Match, results: list[PlayerResult]) -> Table:
    """Some players side by side, a row a figure."""
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
    """What a match has found of one player: names and figures."""
    n = len(player_result.games)
    yield "games", str(n)
    if n == 0:
        return
    yield "mean score", spread(mean_interval(player_result.scores))
    yield "median", number(player_result.median_score)
    yield "min", number(min(player_result.scores))
    yield "max", number(max(player_result.scores))
    yield "top tile", str(player_result.commonest_max_tile)
    yield "tile sum", "-" if player_result.mean_tile_sum is None else number(player_result.mean_tile_sum)
    for tile in match.tiles():
        yield f">= {tile}", rate_text(player_result.reached(tile))
    yield "won", rate_text(rate_interval(player_result.n_won, n))
    yield "moves", number(player_result.n_moves)
    yield "moves/s", number(player_result.n_moves / player_result.seconds) if player_result.seconds else "-"
    yield "a game", duration(player_result.seconds / n)
    yield "to the goal", "-" if player_result.seconds_to_goal is None else duration(player_result.seconds_to_goal)


def rate_text(rate: Interval) -> str:
    """A rate with its interval: 56% [53%, 59%]."""
    return f"{percent(rate.value)} [{percent(rate.low)}, {percent(rate.high)}]"


def spread(interval: Interval) -> str:
    """A mean with the half width of its interval: 1,097 ± 12."""
    if math.isinf(interval.low):
        return number(interval.value)
    return f"{number(interval.value)} ± {number(interval.high - interval.value)}"


def paired_lines(match: Match) -> Iterator[str]:
    """A line for each pair of players: who scores more on the same seeds, and whether that is clear."""
    results = list(match.results.values())
    for i, a in enumerate(results):
        for b in results[i + 1 :]:
            result = match.difference(a, b)
            if result is None or result[1] < 2:
                continue
            difference, n = result
            line = f"{a.player} - {b.player}: {spread(difference)} on {n} seeds"
            more = games_to_decide(difference, n)
            yield line + (f", not clear; about {number(more)} games would decide" if more else "")


def idle_lines(match: Match) -> Iterator[str]:
    """A line for each player that has no figures: a match may be cut short before its first game is over."""
    for player_result in match.results.values():
        if not player_result.games:
            yield f"{player_result.player}: no game of it is over yet"


def match_csv(match: Match) -> str:
    """The standings as comma-separated values, a row a player."""
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

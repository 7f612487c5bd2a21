"""Charts: figures for plotly, each with the table of its numbers."""

import csv
import io
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import TYPE_CHECKING, Any

from lab2048.arena.statistics import Interval, mean_interval
from lab2048.extras import load

if TYPE_CHECKING:
    from lab2048.arena.match import Match

# Colours for colour-blind readers (Okabe and Ito), with contrast on light and dark backgrounds.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#b8860b", "#56b4e9", "#7f7f7f", "#8c6bb1")
POINTS = 200  # of a curve
FEW = 40


@dataclass(frozen=True)
class Chart:
    """A figure and its numbers."""

    title: str
    figure: dict[str, Any]
    columns: list[str]
    rows: list[list[Any]]

    def to_csv(self) -> str:
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(self.columns)
        writer.writerows(self.rows)
        return text.getvalue()

    def to_figure(self) -> Any:
        """Return the Plotly figure."""
        go = load("plotly.graph_objects")

        figure = go.Figure(self.figure)
        return figure.update_layout(title=self.title, margin={"t": 64}, template="plotly_white")


def score_chart(match: "Match") -> Chart:
    """Return a chart of the mean scores with their intervals."""
    rows: list[list[Any]] = [
        [player_result.player, len(player_result.games), *_ends(mean_interval(player_result.scores))]
        for player_result in match.results.values()
        if player_result.games
    ]
    return means_chart("Mean score", rows)


def means_chart(title: str, rows: list[list[Any]]) -> Chart:
    """Return a chart of mean scores from several matches: rows of name, games, mean, low, high."""
    go = load("plotly.graph_objects")

    figure = go.Figure()
    for i, (player, n, mean, low, high) in enumerate(rows):
        figure.add_bar(
            x=[player], y=[mean], error_y=error_bars([(mean, low, high)]), marker={"color": COLOURS[i % len(COLOURS)]},
            name=player, hovertemplate=f"{player}: %{{y:,.0f}} ({n} games)<extra></extra>",
        )  # fmt: skip
    columns = ["player", "games", "mean", "low", "high"]
    return _chart(title, figure, "", "mean score", columns, rows, legend=False)


def tile_chart(match: "Match") -> Chart:
    """Return a chart of the share of games that reached each tile, with intervals."""
    go = load("plotly.graph_objects")

    figure, rows = go.Figure(), []
    for i, player_result in enumerate(match.results.values()):
        if not player_result.games:
            continue
        rates = {tile: player_result.reached(tile) for tile in match.tiles()}
        rows += [[player_result.player, tile, *_ends(rate)] for tile, rate in rates.items()]
        figure.add_bar(
            x=[str(tile) for tile in rates],
            y=[rate.value for rate in rates.values()],
            error_y=error_bars(rates.values()),
            name=player_result.player,
            marker={"color": COLOURS[i % len(COLOURS)]},
        )
    figure.update_layout(barmode="group")
    figure.update_xaxes(type="category")
    figure.update_yaxes(tickformat=".0%", range=[0, 1.02])
    columns = ["player", "tile", "rate", "low", "high"]
    return _chart("Games that reached a tile", figure, "tile", "share of games", columns, rows)


def distribution_chart(match: "Match") -> Chart:
    """Return a chart of the cumulative distribution of scores."""
    go = load("plotly.graph_objects")

    figure, rows = go.Figure(), []
    for i, player_result in enumerate(match.results.values()):
        scores = sorted(player_result.scores)
        n = len(scores)
        indexes = sorted({min(n - 1, round(j * (n - 1) / (POINTS - 1))) for j in range(POINTS)}) if n else []
        points = [(scores[index], (index + 1) / n) for index in indexes]
        rows += [[player_result.player, score, part] for score, part in points]
        figure.add_scatter(
            x=[score for score, _ in points],
            y=[part for _, part in points],
            mode="lines",
            line={"shape": "hv", "color": COLOURS[i % len(COLOURS)]},
            name=player_result.player,
        )
    figure.update_yaxes(tickformat=".0%", range=[0, 1.02])
    return _chart("Scores", figure, "score", "games with at most this score", ["player", "score", "part"], rows)


def paired_chart(match: "Match") -> Chart:
    """Return a chart of the paired score differences on the same seeds."""
    go = load("plotly.graph_objects")

    figure, rows = go.Figure(), []
    for a, b in combinations(match.results.values(), 2):
        result = match.difference(a, b)
        if result is None:
            continue
        difference, n = result
        mean, low, high = _ends(difference)
        rows.append([f"{a.player} - {b.player}", n, mean, low, high])
        is_clear = low is not None and high is not None and (low > 0 or high < 0)
        colour = COLOURS[2] if is_clear else COLOURS[6]
        figure.add_scatter(
            x=[mean],
            y=[rows[-1][0]],
            error_x=error_bars([(mean, low, high)]),
            mode="markers",
            marker={"color": colour, "size": 10},
            name=rows[-1][0],
        )
    figure.add_vline(x=0, line={"color": COLOURS[6], "dash": "dot"})
    columns = ["pair", "games", "mean", "low", "high"]
    return _chart("Difference on the same seeds", figure, "score", "", columns, rows, legend=False)


def training_chart(name: str, curve: Sequence[Mapping[str, Any]]) -> Chart:
    """Return a learning curve: `score`, `tiles` or `learning`."""
    go = load("plotly.graph_objects")

    figure, rows, columns = go.Figure(), [], ["moves", "seconds"]
    xs = [point["n_moves"] for point in curve]
    if name == "tiles":
        tiles = [tile for tile in (curve[-1]["rates"] if curve else {}) if any(p["rates"].get(tile) for p in curve)]
        lines = {tile: [point["rates"].get(tile, 0.0) for point in curve] for tile in tiles}
        figure.update_yaxes(tickformat=".0%")
        title, axis = "Games that reached a tile", "share of the last games"
    elif name == "learning" and any("loss" in point for point in curve):
        lines = {"loss": [point.get("loss", 0.0) for point in curve]}
        title, axis = "Loss", "loss"
    elif name == "learning":
        lines = {"mean error": [point["error"] for point in curve]}
        title, axis = "Mean absolute error", "score"
    else:
        lines = {"mean score": [point["mean"] for point in curve]}
        title, axis = "Mean score of the last games", "score"
        _add_trials(figure, curve)
    mode = _mode(len(xs))
    for i, (label, ys) in enumerate(lines.items()):
        figure.add_scatter(x=xs, y=ys, mode=mode, name=label, line={"color": COLOURS[i % len(COLOURS)]})
    columns += list(lines)
    for i, point in enumerate(curve):
        rows.append([point["n_moves"], point["seconds"], *(ys[i] for ys in lines.values())])
    return _chart(title, figure, "moves", axis, columns, rows, legend=len(figure.data) > 1)


def _add_trials(figure: Any, curve: Sequence[Mapping[str, Any]]) -> None:
    """Return a chart of the evaluations of a deep training, with intervals."""
    trials = {trial["n_moves"]: trial for point in curve if (trial := point.get("trial"))}
    if not trials:
        return
    means = [(trial["mean"], trial["mean_low"], trial["mean_high"]) for trial in trials.values()]
    figure.add_scatter(
        x=list(trials),
        y=[mean for mean, _, _ in means],
        error_y=error_bars(means),
        mode="markers",
        marker={"color": COLOURS[1], "size": 7},
        name="fresh games",
    )


def solve_chart(layers: Mapping[int, int], valued_from: int | None) -> Chart:
    """Return a chart of the progress of a solve: `layers` are the states up to each tile sum, in order.

    The forward pass creates layers with rising sums, the backward pass values them with falling sums.
    """
    go = load("plotly.graph_objects")

    sums = sorted(layers)
    step = max(1, math.ceil(len(sums) / POINTS))
    # The last layer is always included, so that all states are counted.
    sums = sums[(len(sums) - 1) % step :: step] if sums else []
    apart = min((b - a for a, b in pairwise(sorted(layers))), default=2)  # of two layers
    rows: list[list[Any]] = []
    bars: list[tuple[float, float, float]] = []  # where, how wide, how high: the mean of the layers between two reports
    before, below = 0, sums[0] - apart if sums else 0
    for tile_sum in sums:
        is_valued = valued_from is not None and tile_sum >= valued_from
        n, width = layers[tile_sum] - before, tile_sum - below
        rows.append([tile_sum, n, "valued" if is_valued else "found"])
        bars.append(((tile_sum + below + apart) / 2, 0.95 * width, n * apart / width))
        before, below = layers[tile_sum], tile_sum
    figure = go.Figure()
    for state, colour in (("valued", COLOURS[2]), ("found", COLOURS[6])):
        chosen = [bar for bar, row in zip(bars, rows, strict=True) if row[2] == state]
        xs, widths, ys = ([bar[i] for bar in chosen] for i in range(3))
        figure.add_bar(x=xs, width=widths, y=ys, name=state, marker={"color": colour})
    figure.update_layout(barmode="overlay")
    columns = ["tile sum up to", "states", "state"]
    return _chart("States per layer, and layers with values", figure, "tile sum", "states", columns, rows)


def layer_chart(layers: Sequence[tuple[int, int, int]]) -> Chart:
    """Return a chart of the boards per layer: rows of tile sum, states, afterstates."""
    go = load("plotly.graph_objects")

    figure = go.Figure()
    for i, (label, column) in enumerate((("states", 1), ("afterstates", 2))):
        figure.add_scatter(
            x=[layer[0] for layer in layers], y=[layer[column] for layer in layers], name=label,
            mode=_mode(len(layers)), line={"color": COLOURS[i]},
        )  # fmt: skip
    rows = [list(layer) for layer in layers]
    return _chart("Boards per tile sum", figure, "tile sum", "boards", ["tile sum", "states", "afterstates"], rows)


def error_bars(means: Iterable[tuple[float, float | None, float | None]]) -> dict[str, Any] | None:
    """Return plotly's error bars for values with the ends of their intervals; None if an end is missing."""
    above, below = [], []
    for mean, low, high in means:
        if low is None or high is None:
            return None
        above.append(high - mean)
        below.append(mean - low)
    return {"type": "data", "array": above, "arrayminus": below}


def _mode(n_points: int) -> str:
    """Return the plot mode: markers if there are few points, because a single one makes no line."""
    return "lines+markers" if n_points <= FEW else "lines"


def _chart(
    title: str, figure: Any, x: str, y: str, columns: list[str], rows: list[list[Any]], *, legend: bool = True
) -> Chart:
    """Return an empty figure in the style of the page: no box, no background, margins for labels."""
    figure.update_layout(
        template="none",
        paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)",
        margin={"l": 64, "r": 16, "t": 16, "b": 48},
        showlegend=legend,
        legend={"orientation": "h", "y": 1.12},
        hovermode="closest",
    )
    figure.update_xaxes(title=x, automargin=True)
    figure.update_yaxes(title=y, automargin=True)
    return Chart(title, figure.to_plotly_json(), columns, rows)


def _ends(interval: Interval) -> tuple[float, float | None, float | None]:
    """Return an interval for JSON; infinite ends become null."""
    low, high = (end if math.isfinite(end) else None for end in (interval.low, interval.high))
    return interval.value, low, high

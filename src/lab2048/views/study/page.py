"""A study as one self-contained HTML file with tables and charts."""

import re
from collections.abc import Iterator
from html import escape
from typing import Any

from lab2048.extras import load
from lab2048.studies.measure import Unit
from lab2048.studies.report import Report
from lab2048.views.charts import error_bars
from lab2048.views.study.chart import MAX_NAME, OURS, THEIRS, Panel, is_logarithmic, panels
from lab2048.views.study.curve import COLOURS, curves, title
from lab2048.views.study.figure import CAPTION, ranking_cells, write_each, write_ours, write_published
from lab2048.views.study.text import summary, write_run, write_spent
from lab2048.views.text import shortened

_CODE = re.compile("`([^`]+)`")
_STYLE = """
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 72rem; margin: 2rem auto; padding: 0 1rem;
       color: #1f1a14; background: #faf8ef; }
table { border-collapse: collapse; font-size: 0.9rem; display: block; overflow-x: auto; }
th, td { text-align: left; padding: 0.25rem 0.7rem 0.25rem 0; vertical-align: top; }
tr.row th { padding-top: 0.9rem; }
td.n { text-align: right; }
td.agrees, td.better { color: #14602a; } td.worse { color: #9c1c1c; }
code { font-size: 0.85rem; } .chart { margin: 1.5rem 0; }
@media (prefers-color-scheme: dark) {
  body { color: #f3efe6; background: #24211c; }
  td.agrees, td.better { color: #7fd694; } td.worse { color: #ff9b8f; }
}
"""


def report_html(report: Report) -> str:
    get_plotlyjs = load("plotly.offline").get_plotlyjs

    study = report.study
    charts = "\n".join(f'<div class="chart">{_draw(figure)}</div>' for figure in figures(report))
    assumed = "".join(f"<li>{_with_code(each)}</li>" for each in study.assumptions)
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(study.name)}: {escape(study.title)}</title>
<style>{_STYLE}</style>
<script>{get_plotlyjs()}</script>
</head>
<body>
<h1>{escape(study.title)}</h1>
<p>{escape(study.question)}</p>
<p>{escape(study.source)}</p>
<p>{escape(summary(report))}. Agreement is decided by the intervals.</p>
{_rankings(report)}
{_table(report)}
<h2>Charts</h2>
{charts}
{f"<h2>Assumptions</h2><ul>{assumed}</ul>" if assumed else ""}
<h2>Runs</h2>
{_runs(report)}
</body>
</html>
"""


def _with_code(text: str) -> str:
    """Return HTML in which text in backticks is code."""
    return _CODE.sub(r"<code>\1</code>", escape(text))


def _rankings(report: Report) -> str:
    parts = []
    for ranked in report.ranked:
        heads, rows = ranking_cells(ranked, report.size)
        head = "".join(f'<th scope="col">{escape(head)}</th>' for head in heads)
        body = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
        table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
        parts.append(f"<h2>{escape(ranked.ranking.title)}</h2>\n<p>{CAPTION}</p>\n{table}")
    return "\n".join([*parts, "<h2>Figures</h2>"]) if parts else ""


def _table(report: Report) -> str:
    heads = ["measured", "reference", "where", "ours", "95% interval", "n", "agreement"]
    has_several = any(line.each for line in report.lines)
    heads += ["each training"] if has_several else []
    rows, last = [], ""
    for line in report.lines:
        if line.row.id != last:
            last = line.row.id
            name = escape(line.row.title)
            rows.append(f'<tr class="row"><th colspan="{len(heads)}" scope="rowgroup">{name}</th></tr>')
        value, interval, n = write_ours(line)
        cells = [line.figure.measure.title, write_published(line), line.figure.where, value, interval]
        word = line.agreement.word.replace(" ", "-")
        each = f"<td>{escape(write_each(line))}</td>" if has_several else ""
        rows.append(
            "<tr>"
            + "".join(f"<td>{escape(cell)}</td>" for cell in cells)
            + f'<td class="n">{n}</td><td class="{word}">{escape(str(line.agreement))}</td>{each}</tr>'
        )
    head = "".join(f'<th scope="col">{head}</th>' for head in heads)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"


def _runs(report: Report) -> str:
    rows = []
    for row in report.study.rows:
        found = report.of(row)
        origin = found[-1].provenance if found else {}
        seconds, cpu = write_spent(found)
        told = f"{origin.get('program')}, {origin.get('created')}, {seconds} s, CPU {cpu} s" if found else "-"
        run = f"<code>{escape(write_run(row, report.size))}</code>"
        rows.append(f"<tr><td>{escape(row.title)}</td><td>{run}</td><td>{escape(told)}</td></tr>")
    return f"<table><tbody>{''.join(rows)}</tbody></table>"


def figures(report: Report) -> Iterator[Any]:
    """Yield one chart per measure and one per learning curve."""
    for panel in panels(report):
        yield _panel_figure(panel)
    yield from _curve_figures(report)


def _panel_figure(panel: Panel) -> Any:
    go = load("plotly.graph_objects")

    lines = panel.lines[::-1]  # the first one on top
    rows = range(len(lines))
    ours = [(i + 0.18, line, line.ours) for i, line in enumerate(lines) if line.ours is not None]
    figure = go.Figure()
    figure.add_bar(
        x=[each.value for _, _, each in ours],
        y=[row for row, _, _ in ours],
        width=0.34,
        error_x=error_bars(each.interval if each.has_interval else (each.value,) * 3 for _, _, each in ours),
        orientation="h",
        name="ours",
        marker={"color": OURS},
        hovertext=[str(line.agreement) for _, line, _ in ours],
    )
    published = [(i - 0.18, line.reference) for i, line in enumerate(lines) if not line.figure.against]
    found = [(row, reference) for row, reference in published if reference is not None]
    if found:
        figure.add_bar(
            x=[reference[0] for _, reference in found],
            y=[row for row, _ in found],
            width=0.34,
            error_x=error_bars(reference for _, reference in found),
            orientation="h",
            name="published",
            marker={"color": THEIRS},
        )
    for to, word in ((1, "least"), (-1, "most")):
        ends = [(i - 0.18, line.bound[0]) for i, line in enumerate(lines) if line.bound and line.bound[1] == to]
        if ends:
            figure.add_scatter(
                x=[end for _, end in ends],
                y=[row for row, _ in ends],
                mode="markers",
                name=f"published: at {word}",
                marker={"color": THEIRS, "size": 12, "symbol": f"triangle-{'right' if to > 0 else 'left'}-open"},
            )
    figure.update_layout(
        title=panel.title,
        height=180 + 26 * len(lines),
        barmode="overlay",
        margin={"l": 10, "r": 30, "t": 60, "b": 40},
        xaxis=_axis(panel),
        yaxis={
            "tickvals": list(rows),
            "ticktext": [escape(shortened(panel.label(line), MAX_NAME)) for line in lines],
            "range": [-0.7, len(lines) - 0.3],
            "automargin": True,
            "zeroline": False,
        },
    )
    return figure


def _axis(panel: Panel) -> dict[str, Any]:
    """Return an axis with round numbers and units; powers of ten if it is logarithmic."""
    unit = panel.measure.meaning.unit
    scale = {"type": "log", "dtick": 1} if is_logarithmic(panel) else {"type": "linear"}
    return scale | {
        "tickformat": ".3~%" if unit is Unit.RATE else "",
        "exponentformat": "SI" if unit in (Unit.SECONDS, Unit.BYTES) else "none",
        "ticksuffix": {Unit.SECONDS: "s", Unit.BYTES: "B"}.get(unit, ""),
    }


def _curve_figures(report: Report) -> Iterator[Any]:
    go = load("plotly.graph_objects")

    for name, lines in curves(report).items():
        figure = go.Figure()
        for i, (row, points) in enumerate(lines.items()):
            colour, x = COLOURS[i % len(COLOURS)], [point.n_games for point in points]
            figure.add_scatter(
                x=x,
                y=[point.value for point in points],
                mode="lines",
                name=escape(shortened(row, MAX_NAME)),
                legendgroup=row,
                line={"color": colour, "dash": "solid" if i < len(COLOURS) else "dash"},
            )
            if any(point.high > point.low for point in points):  # minimum to maximum over the trainings
                figure.add_scatter(
                    x=[*x, *x[::-1]],
                    y=[*(point.high for point in points), *(point.low for point in reversed(points))],
                    fill="toself",
                    fillcolor=colour,
                    opacity=0.15,
                    line={"width": 0},
                    legendgroup=row,
                    showlegend=False,
                    hoverinfo="skip",
                )
        figure.update_layout(
            title=f"{title(name)}, during training",
            xaxis_title="training games",
            height=400 + 20 * len(lines),
            legend={"orientation": "h", "y": -0.2, "yanchor": "top"},  # below the chart, where all names fit
        )
        yield figure


def _draw(figure: Any) -> str:
    html: str = figure.to_html(full_html=False, include_plotlyjs=False)
    return html

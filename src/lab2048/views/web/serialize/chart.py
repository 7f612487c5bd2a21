"""Charts on their way to the page."""

from fastapi.responses import Response

from lab2048.views.charts import Chart
from lab2048.views.web.serialize.schema import ChartData, TableData


def chart_data(chart: Chart, address: str) -> ChartData:
    """A chart as data; `address` is where it comes from, and with /csv its numbers."""
    path, mark, query = address.partition("?")
    table = TableData(columns=chart.columns, rows=chart.rows)
    return ChartData(title=chart.title, figure=chart.figure, table=table, csv=f"{path}/csv{mark}{query}")


def csv_response(text: str, name: str) -> Response:
    """Comma-separated values as a file."""
    headers = {"content-disposition": f'attachment; filename="{name}.csv"'}
    return Response(text, media_type="text/csv; charset=utf-8", headers=headers)

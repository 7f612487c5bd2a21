"""Write the widget of `lab2048 widget` into the built site, where docs/widget.md shows it."""

from pathlib import Path
from typing import Any

from lab2048.views.web.widget import make_widget


def write_widget(app: Any, error: Exception | None) -> None:
    """Write game.html beside the pages."""
    if error is None and app.builder.format == "html":
        (Path(app.outdir) / "game.html").write_text(make_widget(None, "The player"), "utf-8")


def setup(app: Any) -> dict[str, bool]:
    app.connect("build-finished", write_widget)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

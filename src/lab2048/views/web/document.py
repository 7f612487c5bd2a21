"""Documents that need no server: one HTML file with styles, scripts and data.

The scripts are those of the page.  A browser resolves no relative imports between scripts that are part of a document,
so every import is given a name, and an import map says which script has that name.
"""

import base64
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lab2048.views.web.static_files import STATIC

_IMPORT = re.compile(r'^((?:import|export) (?:[^"]* from )?)"(\.[^"]+)";', re.MULTILINE)


def make_document(template: str, sheets: Sequence[str], main: str, data: dict[str, Any]) -> str:
    """Return a template of static/ with styles, the script `main` with all that it imports, and data."""
    styles = "".join((STATIC / "css" / sheet).read_text("utf-8") for sheet in sheets)
    scripts = {name: _as_address(text) for name, text in _scripts(main).items()}
    page = (STATIC / template).read_text("utf-8")
    for mark, text in (
        ("STYLES", styles),
        ("IMPORTS", json.dumps({"imports": scripts})),
        ("DATA", json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")),
        ("MAIN", f'import "{main}";'),
    ):
        page = page.replace(f"{{{{{mark}}}}}", text)
    return page


def _scripts(main: str) -> dict[str, str]:
    """Return a script and all that it imports, by name, with imports by name."""
    found: dict[str, str] = {}
    missing = [main]
    while missing:
        name = missing.pop()
        if name in found:
            continue
        here = (STATIC / "js" / name).parent

        def named(match: re.Match[str], here: Path = here) -> str:
            other = (here / match[2]).resolve().relative_to((STATIC / "js").resolve()).as_posix()
            missing.append(other)
            return f'{match[1]}"{other}";'

        found[name] = _IMPORT.sub(named, (STATIC / "js" / name).read_text("utf-8"))
    return found


def _as_address(text: str) -> str:
    return "data:text/javascript;base64," + base64.b64encode(text.encode()).decode()

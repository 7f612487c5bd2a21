"""Settings of the documentation site, which script/docs builds.  The build needs no network."""

import re
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE / "_ext"), str(HERE.parent / "src")]

project = "lab2048"
copyright = "The lab2048 developers"  # noqa: A001 - Sphinx calls it so
version = release = re.findall(r'__version__ = "(.+)"', (HERE.parent / "src/lab2048/__init__.py").read_text())[0]

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "library_reference",
    "command_reference",
    "outside_links",
    "search_tiles",
    "live_widget",
]
exclude_patterns = ["results/kept", "_ext"]

# The anchors of headings are those of GitHub, so that a link such as tune.md#order works in both places.
myst_heading_anchors = 4
myst_enable_extensions = ["deflist"]

# Docstrings write `code` in single backticks.
default_role = "code"
autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
autodoc_preserve_defaults = True
python_use_unqualified_type_names = True
# Types of other libraries, and ours that are not part of the public library, have no page here.
nitpick_ignore_regex = [("py:.*", r"(?!lab2048\.\w+$).*")]
smartquotes = False  # --option is no dash

html_theme = "furo"
html_title = f"lab2048 {version}"
html_copy_source = False
html_static_path = ["_static"]
html_show_sphinx = False
html_favicon = "../src/lab2048/views/web/static/icon.svg"
html_theme_options = {"navigation_with_keys": True}

"""Links to files outside the documentation, such as CONTRIBUTING.md or benchmarks/: shown as text, not as links.

On GitHub they lead to the file.  The site has no such page, so it shows where in the repository the file is.
A link to a file that does not exist remains a warning.
"""

from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.addnodes import download_reference, pending_xref
from sphinx.application import Sphinx


def replace_links(app: Sphinx, document: nodes.document) -> None:
    # Pages that include a file of the repository's top folder have links that start there.
    folders = (Path(app.env.doc2path(app.env.docname)).parent, app.srcdir.parent)
    for node in [*document.findall(download_reference), *document.findall(pending_xref)]:
        name = str(node.get("reftarget", "")).partition("#")[0]
        for target in [folder / name for folder in folders if name]:
            if target.is_dir() or (target.exists() and not target.resolve().is_relative_to(app.srcdir)):
                node.replace_self(node.children)
                break


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("doctree-read", replace_links)
    return {"parallel_read_safe": True}

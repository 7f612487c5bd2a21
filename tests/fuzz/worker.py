"""Run commands of lab2048 in this process, one for each line of JSON on standard input.

The answer to a line is a line of JSON: the exit code (or the status of a page's answer), what was said on standard
error, and the most memory so far.  The process that asks notices a crash or a hang.
"""

import contextlib
import io
import json
import os
import resource
import sys
import warnings
from pathlib import Path
from typing import Any

from lab2048.cli.app import run
from lab2048.records import memory

FREE_MEMORY = 2**30  # bytes, as far as the readers of files know
PAGE = "@page"  # instead of a command: method, path and body of a request to the page


def answer(folder: str, words: list[str]) -> dict[str, Any]:
    words = [word.replace("@/", f"{folder}/") for word in words]
    told, printed = io.StringIO(), io.StringIO()
    with contextlib.chdir(folder), contextlib.redirect_stderr(told), contextlib.redirect_stdout(printed):
        code = ask_page(*words[1:]) if words[0] == PAGE else run(words)
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {"code": code, "said": told.getvalue()[-3000:], "memory": most * 1024}


def ask_page(method: str, path: str, body: str = "") -> int:
    """Return the status of the page's answer; its data are in this folder."""
    from web_server import calm_lab

    with warnings.catch_warnings(action="ignore"):
        from fastapi.testclient import TestClient

    from lab2048.records.store import Store
    from lab2048.views.web.app import Api

    with Store.open(Path("games.sqlite").absolute()) as store:
        lab = calm_lab(store, Path.cwd())
        lab.begin()
        try:
            api = Api(lab)
            api.load_all()
            client = TestClient(api.app, raise_server_exceptions=False)
            reply = client.request(method, path, content=body or None, headers={"content-type": "application/json"})
            if reply.status_code >= 400:
                sys.stderr.write(reply.text)
            return reply.status_code
        finally:
            lab.end()


def main() -> None:
    memory.free_memory = lambda: FREE_MEMORY
    # Copies that others have imported.
    for name in ("lab2048.solver.estimate",):
        module = sys.modules.get(name)
        if module is not None:
            module.free_memory = memory.free_memory  # type: ignore[attr-defined]
    warnings.simplefilter("ignore", DeprecationWarning)
    asked, told = os.fdopen(os.dup(0), "r"), os.fdopen(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    told.write("ready\n")
    told.flush()
    for line in asked:
        found = answer(**json.loads(line))
        told.write(json.dumps(found) + "\n")
        told.flush()


if __name__ == "__main__":
    main()

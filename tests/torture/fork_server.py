"""Run lab2048 commands in forked children: starting one takes milliseconds, because everything is imported already.

One JSON request per line on standard input, one JSON answer per line on standard output:

    {"run": {"words": [...], "folder": "...", "streams": "...", "env": {...}, "paused": false}}   -> {"pid": 12}
    {"reap": 12}                                                                -> {"code": 0}

A child leads its own process group.  A paused child has stopped itself (SIGSTOP) and waits for SIGCONT.
"""

import contextlib
import gc
import importlib
import json
import os
import signal
import sys
from pathlib import Path
from typing import Any, NoReturn

PRELOADED = (
    "numba", "numpy", "safetensors.numpy", "torch", "optuna", "cmaes", "sqlalchemy", "uvicorn", "fastapi", "plotly",
    "filelock", "h11", "anyio", "platformdirs", "rich.progress", "rich.table", "uvicorn.loops.auto",
    "uvicorn.protocols.http.auto", "uvicorn.lifespan.on", "lab2048.cli.app", "lab2048.views.web.app",
    "lab2048.views.web.state", "lab2048.studies.run.runner", "lab2048.learning.ntuple",
    "lab2048.learning.deep.training", "lab2048.solver.solve", "lab2048.library.match",
)  # fmt: skip


def preload() -> None:
    """Import what commands import, whatever of it is installed; threads must not start before the fork."""
    for name in PRELOADED:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    from lab2048.cli.app import make_app

    make_app()
    gc.freeze()  # a child copies fewer pages


def _become(words: list[str], folder: str, streams: str, env: dict[str, str], paused: bool) -> NoReturn:
    """Run one command in this process, which is a fresh child."""
    os.setpgid(0, 0)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)
    files = (("in", os.O_RDONLY | os.O_CREAT), ("out", _WRITE), ("err", _WRITE))
    for target, (name, flags) in enumerate(files):
        opened = os.open(Path(streams) / name, flags, 0o600)
        os.dup2(opened, target)
        os.close(opened)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(env)
    sys.argv = ["lab2048", *words]
    # The streams of the server are those of its client.
    sys.stdin, sys.stdout, sys.stderr = open(0), open(1, "w"), open(2, "w")  # noqa: SIM115
    if paused:
        os.kill(os.getpid(), signal.SIGSTOP)
    code = 70  # an exception that reached this module
    try:
        from lab2048.cli import main

        main()
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 1
    except BaseException:
        import traceback

        traceback.print_exc()
    finally:
        _end(code)


_WRITE = os.O_WRONLY | os.O_CREAT | os.O_TRUNC


def _end(code: int) -> NoReturn:
    """End as the interpreter does: wait for threads and run exit functions, then flush."""
    import atexit
    import threading

    with contextlib.suppress(BaseException):
        threading._shutdown()  # type: ignore[attr-defined]
    with contextlib.suppress(BaseException):
        atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(BaseException):
            stream.flush()
    os._exit(code)


def serve() -> None:
    preload()
    n_threads = len(os.listdir("/proc/self/task"))  # noqa: PTH208
    print(json.dumps({"ready": n_threads}), flush=True)
    for line in sys.stdin:
        request: dict[str, Any] = json.loads(line)
        if "run" in request:
            pid = os.fork()
            if pid == 0:
                try:
                    _become(**request["run"])
                finally:
                    os._exit(70)
            answer = {"pid": pid}
        else:
            _, status = os.waitpid(request["reap"], 0)
            answer = {"code": os.waitstatus_to_exitcode(status)}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    serve()

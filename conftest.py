"""Modules that need torch are not looked into for examples where it is not installed."""

import importlib.util

collect_ignore = (
    []
    if importlib.util.find_spec("torch")
    else [
        "src/lab2048/models/deep/network.py",
        "src/lab2048/models/deep/file.py",
        *(
            f"src/lab2048/learning/{name}.py"
            for name in ("action", "adam", "afterstate", "deep", "deep_benchmark", "distil", "returns")
        ),
    ]
)

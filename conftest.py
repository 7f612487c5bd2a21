"""Modules that need torch are not looked into for examples where it is not installed."""

import importlib.util

_DEEP = ("action_values", "afterstate_values", "benchmark", "distil", "optimizer", "returns", "training")

collect_ignore = (
    []
    if importlib.util.find_spec("torch")
    else [
        "src/lab2048/models/deep/network.py",
        "src/lab2048/models/deep/file.py",
        *(f"src/lab2048/learning/deep/{name}.py" for name in _DEEP),
    ]
)

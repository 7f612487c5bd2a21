"""Doctests of modules are not collected where a package that they import is not installed."""

import importlib.util

_DEEP = ("action_values", "afterstate_values", "benchmark", "distil", "optimizer", "returns", "training")
_NEEDS = {
    "torch": [
        "src/lab2048/models/deep/network.py",
        "src/lab2048/models/deep/file.py",
        *(f"src/lab2048/learning/deep/{name}.py" for name in _DEEP),
    ],
    "stable_baselines3": ["src/lab2048/envs/sb3.py"],
}

collect_ignore = [path for name, paths in _NEEDS.items() if not importlib.util.find_spec(name) for path in paths]

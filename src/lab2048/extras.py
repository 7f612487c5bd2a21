"""Optional packages: which extra brings them, and how to install a missing one.

Code that uses an optional package calls `need` before it imports the package, or imports it with `load`.
"""

import importlib
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from lab2048.errors import MissingPackageError

NEEDS_TORCH = ("deep", "sb3")


class Extra(NamedTuple):
    """An extra of pyproject.toml: what it is for, and the packages it brings, by the names they are imported by."""

    purpose: str
    packages: tuple[str, ...]


EXTRAS = {
    "app": Extra("page, full-screen terminal, charts", ("fastapi", "plotly", "textual", "uvicorn")),
    "tune": Extra("tuning of evaluators", ("cmaes", "optuna")),
    "deep": Extra("deep networks", ("torch",)),
    "notebook": Extra("tables, charts and progress bars in notebooks", ("ipywidgets", "nbformat", "pandas", "plotly")),
    "parquet": Extra("export of tables to Parquet", ("pyarrow",)),
    "digits": Extra("handwritten digits, for a study", ("sklearn",)),
    "cluster": Extra("matches, studies, tuning, training and solves on a Ray cluster", ("ray",)),
    "sb3": Extra("environments for Stable-Baselines3", ("sb3_contrib",)),
}
DISTRIBUTIONS = {"sklearn": "scikit-learn"}  # where a package is installed under another name


def missing_packages(extra: str) -> list[str]:
    """Return the packages of an extra that are not installed; nothing is imported."""
    return [package for package in EXTRAS[extra].packages if find_spec(package) is None]


def has_extra(extra: str) -> bool:
    """Return whether all packages of an extra are installed; nothing is imported."""
    return not missing_packages(extra)


def need(extra: str) -> None:
    """Raise MissingPackageError unless all packages of the extra are installed."""
    if missing := missing_packages(extra):
        raise missing_error(extra, missing)


def load(module: str) -> Any:
    """Import a module of an optional package; raise MissingPackageError if the package is not installed."""
    package = module.partition(".")[0]
    if find_spec(package) is None:
        raise missing_error(next(name for name, extra in EXTRAS.items() if package in extra.packages), [package])
    return importlib.import_module(module)


def missing_error(extra: str, missing: list[str]) -> MissingPackageError:
    """Return the error that says which packages are missing and how to install them."""
    message = f"this needs the extra {extra!r} ({EXTRAS[extra].purpose}); missing: {', '.join(missing)}"
    return MissingPackageError(message, hint=f"run: {install_command(extra)}")


def install_command(extra: str) -> str:
    """Return the command that adds an extra to the environment that runs now.

    It works for an editable install of a checkout as well as for a wheel: pip finds lab2048 installed and adds the
    packages of the extra.
    """
    python = Path(sys.executable)
    if python.is_relative_to(Path.cwd()):
        python = python.relative_to(Path.cwd())
    pip = f'"{python}" -m pip install' if " " in str(python) else f"{python} -m pip install"
    command = f'{pip} "lab2048[{extra}]"'
    if extra in NEEDS_TORCH and sys.platform == "linux":
        return f"{command} (on Linux, torch may bring several GB of CUDA: PyTorch's CPU build is enough)"
    return command

"""Results that were never saved: their temporary files, and how people see them.

A player of an unsaved network or solution reads a temporary file.  Tables and progress lines show a name instead of
its path: ntuple:weights=unsaved-1.
"""

import weakref
from pathlib import Path

from lab2048.records.process_lock import delete_temporary_folder, make_temporary_folder

_names: dict[str, str] = {}  # by path


def temporary_path(name: str) -> Path:
    """Return a path in a new temporary folder."""
    path = make_temporary_folder() / name
    _names[str(path)] = f"unsaved-{len(_names) + 1}"
    return path


def delete_temporary(path: Path) -> None:
    delete_temporary_folder(path.parent)


def delete_with(owner: object, path: Path) -> None:
    """Delete a temporary path as soon as nobody uses its owner any more."""
    weakref.finalize(owner, delete_temporary, path)


def with_names(text: str) -> str:
    """Return a text with names in place of temporary paths.

    >>> path = temporary_path("network.safetensors")
    >>> with_names(f"ntuple:weights={path}").startswith("ntuple:weights=unsaved-")
    True
    """
    for path, name in _names.items():
        text = text.replace(path, name)
    return text

"""Folders of the user, where the operating system expects them."""

import os
from pathlib import Path


def config_folder() -> Path:
    """Return the folder of the user's configuration: settings and players.

    A relative XDG_CONFIG_HOME is ignored, as its specification demands: the current folder never decides what runs.
    """
    named = Path(os.environ.get("XDG_CONFIG_HOME", ""))
    if named.is_absolute():
        return named / "lab2048"
    import platformdirs

    folder = platformdirs.user_config_path("lab2048", appauthor=False)
    return folder if folder.is_absolute() else Path.home() / ".config" / "lab2048"

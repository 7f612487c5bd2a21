"""Import torch from here: raises MissingPackageError with install instructions if it is missing.

Until `torch` itself is imported from here, nothing is loaded.
"""

from typing import TYPE_CHECKING, Any

from lab2048.extras import load

if TYPE_CHECKING:
    import torch as torch
else:

    def __getattr__(name: str) -> Any:
        """Load torch at `from lab2048.models.deep.torch_import import torch`."""
        if name != "torch":
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return load("torch")

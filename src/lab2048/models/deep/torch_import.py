"""Import torch from here: raises MissingPackageError with install instructions if it is missing.

Until `torch` itself is imported from here, nothing is loaded.
"""

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from lab2048.errors import MissingPackageError

NEEDS_TORCH = "deep networks need torch: pip install 'lab2048[deep]'"


def has_torch() -> bool:
    """True if torch is installed; it is not loaded."""
    return find_spec("torch") is not None


if TYPE_CHECKING:
    import torch as torch
else:

    def __getattr__(name: str) -> Any:
        """Load torch at `from lab2048.models.deep.torch_import import torch`."""
        if name != "torch":
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        try:
            import torch
        except ImportError:
            raise MissingPackageError(NEEDS_TORCH) from None
        return torch

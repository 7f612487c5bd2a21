"""What deep networks need beside lab2048 itself; asked without loading it."""

from importlib.util import find_spec

NEEDS_TORCH = "deep networks need torch: pip install 'lab2048[deep]'"


def has_torch() -> bool:
    """True if torch is installed."""
    return find_spec("torch") is not None

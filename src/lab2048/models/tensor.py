"""torch, where it is installed: who needs it takes it from here, and without it gets one line that says what to do."""

from lab2048.errors import UsageError
from lab2048.models.extra import NEEDS_TORCH

try:
    import torch as torch
except ImportError:
    raise UsageError(NEEDS_TORCH) from None

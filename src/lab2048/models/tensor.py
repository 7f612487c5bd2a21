"""torch, where it is installed: who needs it takes it from here, and without it gets one line that says what to do."""

from lab2048.errors import UsageError

try:
    import torch as torch
except ImportError:
    raise UsageError("deep networks need torch: pip install 'lab2048[deep]'") from None

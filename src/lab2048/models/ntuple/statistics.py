"""Statistics of a network's weights."""

from typing import Any

import numpy as np

from lab2048.models.ntuple.network import Network
from lab2048.models.ntuple.pattern import write_patterns

LEASTS = (1, 1000, 10_000, 100_000)  # thresholds for lab2048 weights prune
SHARES = (1, 25, 50, 75, 99)  # percentiles


def describe(network: Network) -> dict[str, Any]:
    """Return facts about a network as JSON data."""
    design, weights = network.design, network.weights
    used = weights[np.flatnonzero(weights)]
    spread = np.percentile(used, SHARES) * (network.step or 1.0) if len(used) else np.zeros(len(SHARES))
    errors = []
    if network.rates is not None:
        sums = network.rates[1::2]
        total = max(1e-30, float(sums.sum(dtype=np.float64)))
        for least in LEASTS:
            kept = sums[sums >= least]
            errors.append((least, len(kept), float(kept.sum(dtype=np.float64)) / total))
    return {
        "board": design.rules.board.to_text(),
        "patterns": write_patterns(design.patterns),
        "stages": [2**rank for rank in design.stages],
        "is_shared": design.is_shared,
        "n_lookups": design.n_lookups,
        "n_weights": design.n_weights,
        "n_used": len(used),
        "step": network.step,
        "spread": {f"{share}%": float(value) for share, value in zip(SHARES, spread, strict=True)},
        "errors": errors,
        "training": network.facts.get("training"),
        "changes": network.facts.get("changes", []),
    }

"""Networks: what a search takes from how they were trained."""

from pathlib import Path

import pytest

from lab2048.learning.ntuple import Training
from lab2048.learning.ntuple_config import Config
from lab2048.models.ntuple.compress import quantize
from lab2048.models.ntuple.file import load_network, save_network
from lab2048.rules import Rules


@pytest.mark.parametrize(("discount", "margin"), [(1.0, 3000.0), (0.9996, 1000.0)])
def test_discounted_values_are_smaller_so_a_search_skips_moves_sooner(
    tmp_path: Path, discount: float, margin: float
) -> None:
    path, short = tmp_path / "net.safetensors", tmp_path / "short.safetensors"
    training = Training.begin(Config(network="rows", stages="none", discount=discount), Rules.from_text("3x3"), 1)
    training.save(path)
    network = load_network(path)
    assert network.margin == margin
    save_network(short, quantize(network, 0.5))
    assert load_network(short).margin == margin

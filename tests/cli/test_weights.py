"""`lab2048 weights` and `lab2048 evaluate`: a network looked at, made small, and played."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

from lab2048.cli.app import run
from lab2048.models.ntuple.compress import prune, quantize
from lab2048.models.ntuple.file import load_array, load_network, read_header, save_network
from lab2048.models.ntuple.network import Design, Network
from lab2048.rules import Rules


@pytest.fixture
def trained(tmp_path: Path) -> Path:
    file = tmp_path / "a.safetensors"
    words = f"train ntuple --rules 2x3 --network 0134,1245 --moves 30000 --threads 1 --out {file}"
    assert run(words.split()) == 0
    return file


def test_info_says_what_a_network_is(trained: Path, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    assert run(["weights", "info", str(trained)]) == 0
    text = capsys.readouterr().out
    assert "0134 1245" in text
    assert (
        "32-bit floats" in text
    )  # as stored; zeros and what training needs to continue do not count as bits of a weight
    assert "MB, with the state of the training" in text
    assert run(["weights", "info", str(trained), "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["n_weights"] == 2 * 8**4  # eight ranks: nothing above 128 can appear
    assert facts["training"]["n_moves"] >= 30000
    assert [least for least, _, _ in facts["errors"]] == [1, 1000, 10000, 100000]


def test_a_small_network_plays_like_the_large_one(trained: Path, capsys: pytest.CaptureFixture[str]) -> None:
    small = trained.with_name("small.safetensors")
    assert run(["weights", "quantize", str(trained), "--step", "1", "--least", "10", "--out", str(small)]) == 0
    network, cursors = load_network(trained, with_rates=True), load_array(trained, "cursors")
    assert network.rates is not None
    assert cursors is not None
    n_all = network.weights.nbytes + network.rates.nbytes + cursors.nbytes  # the file leaves out unvisited weights
    assert small.stat().st_size < n_all / 20
    assert small.stat().st_size < trained.stat().st_size / 10
    means = []
    for file in (trained, small):
        capsys.readouterr()
        assert run(["evaluate", str(file), "--games", "300", "--depth", "2", "--json"]) == 0
        means.append(json.loads(capsys.readouterr().out)["players"][0]["mean_score"])
    assert means[1] == pytest.approx(means[0], rel=0.1)
    assert run(["weights", "info", str(small)]) == 0
    text = capsys.readouterr().out
    found = re.search(r"multiples of 1, compressed to ([0-9.]+) bits per nonzero weight", text)
    assert found
    n_bytes = read_header(small).shapes["squeezed"][0]
    n_used = np.count_nonzero(load_network(small).weights)
    assert float(found[1]) == pytest.approx(8 * n_bytes / n_used, abs=0.005)
    assert "continue" not in text


def test_pruning_drops_what_hardly_counts(trained: Path) -> None:
    before = load_network(trained, with_rates=True)
    after = prune(before, 500.0)
    assert before.rates is not None
    counts = before.rates[1::2] >= 500
    assert (after.weights[counts] == before.weights[counts]).all()
    assert not after.weights[~counts].any()
    assert 0 < counts.sum() < np.count_nonzero(before.weights)


@pytest.mark.parametrize(("is_promoting", "expected"), [(True, 5), (False, 0)])
def test_a_later_stage_that_promotes_is_left_with_what_the_stage_before_knows(
    is_promoting: bool, expected: float
) -> None:
    design = Design(Rules.from_text("2x2"), ((0, 1),), stages=(3,), is_promoting=is_promoting)
    network = Network.empty(design, is_coherent=True)
    assert network.rates is not None
    network.weights[:36], network.weights[36:] = 5, 7
    network.rates[1::2] = 100
    network.rates[2 * 40 + 1] = 1
    after = prune(network, 10.0)
    assert after.weights[40] == expected
    assert after.weights[41] == 7


def test_quantized_weights_are_the_nearest_steps(trained: Path, tmp_path: Path) -> None:
    before, file = load_network(trained), tmp_path / "q.safetensors"
    save_network(file, quantize(before, 3.0))
    after = load_network(file)
    assert after.step == 3.0
    assert np.abs(after.weights * 3.0 - before.weights).max() <= 1.5001


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        ("weights", 2, "info, curve, prune, quantize"),
        ("weights info nothing.safetensors", 3, "nothing.safetensors"),
        ("weights quantize {file} --step 0 --out x.safetensors", 2, "step 0"),
        ("weights quantize {file} --step 0.000001 --out x.safetensors", 2, "too small"),
        ("weights quantize {file} --out {file}", 3, "--force"),
        ("weights quantize {file} --out nowhere/x.safetensors", 3, "no folder"),
        ("evaluate nothing.safetensors", 3, "nothing.safetensors"),
        ("evaluate {file} --games 0", 2, "games 0"),
    ],
)
def test_bad_words_get_one_line(
    words: str,
    code: int,
    said: str,
    trained: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    capsys.readouterr()
    assert run(words.format(file=trained).split()) == code
    last = capsys.readouterr().err.strip().splitlines()[-1]
    assert last.startswith("lab2048:")
    assert said in last


def test_a_network_is_quantized_once(trained: Path, capsys: pytest.CaptureFixture[str]) -> None:
    small, again = trained.with_name("small.safetensors"), trained.with_name("again.safetensors")
    assert run(["weights", "quantize", str(trained), "--out", str(small)]) == 0
    assert run(["weights", "quantize", str(small), "--out", str(again)]) == 2
    assert run(["weights", "prune", str(small), "--out", str(again)]) == 2
    assert "quantized already" in capsys.readouterr().err

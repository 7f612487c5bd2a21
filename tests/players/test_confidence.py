"""A network that hardly knows a late board lets expectimax choose."""

import json
from pathlib import Path

import numpy as np
import pytest
from kernels.test_play import assert_same_game

from lab2048.cli.app import run
from lab2048.kernels.board.bits import U64
from lab2048.kernels.board.memory import address_of
from lab2048.kernels.ntuple import lookup
from lab2048.models.ntuple.compress import quantize
from lab2048.models.ntuple.file import load_network, save_network
from lab2048.models.ntuple.network import Design, Network
from lab2048.players import make_player
from lab2048.rules import Board, Rules

RULES = Rules.from_text("4x4")
LATE = Board.from_text("16384 4096 1024 256 / 8192 2048 512 128 / 2 2 2 4 / . . 2 2")
EARLY = Board.from_text("256 16 4 2 / 8 2 2 4 / . . 2 . / . . . 2")


def index_of(network: Network, board: Board) -> np.ndarray:
    index = np.zeros(network.design.n_lookups, np.uint64)
    lookup.find(network.address, U64(board.to_packed()), address_of(index))
    return index.astype(np.int64)


def known(network: Network, board: Board) -> float:
    shares = [(network.weights[index_of(network, after)] != 0).mean() for _, (after, _) in board.slides()]
    return float(max(shares))


@pytest.fixture(scope="module", params=["float", "quantized"])
def weights(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A network half of whose weights were never trained."""
    path = tmp_path_factory.mktemp("networks") / "half.safetensors"
    network = Network.empty(Design.from_text(RULES, "2x4"))
    generator = np.random.default_rng(1)
    size = len(network.weights)
    network.weights[:] = generator.normal(100, 10, size) * (generator.random(size) < 0.5)
    save_network(path, network if request.param == "float" else quantize(network, 1.0))
    return path


@pytest.mark.parametrize("board", [LATE, EARLY])
def test_confidence_is_the_share_of_trained_weights(weights: Path, board: Board) -> None:
    player = make_player(f"ntuple:depth=1,weights={weights}")
    player.start(RULES, 1)
    assert player.choose(board).confidence == pytest.approx(known(load_network(weights), board))


def test_the_fallback_chooses_on_late_boards_that_are_not_known(weights: Path) -> None:
    guessing, trusting, expectimax = (
        make_player(spec) for spec in (f"ntuple:weights={weights}", f"ntuple:weights={weights},trust=0", "expectimax")
    )
    for player in (guessing, trusting, expectimax):
        player.start(RULES, 1)
    assert guessing.choose(LATE).move == expectimax.choose(LATE).move
    assert guessing.choose(LATE).depth == expectimax.choose(LATE).depth
    assert guessing.choose(LATE).is_guess
    assert not trusting.choose(LATE).is_guess
    early = guessing.choose(EARLY)
    assert early == trusting.choose(EARLY)
    assert not early.is_guess
    assert trusting.choose(LATE).depth == 3
    values = guessing.choose(LATE).values
    assert set(values) == set(LATE.legal_moves())
    assert max(values, key=lambda move: values[move]) == guessing.choose(LATE).move


def test_a_well_known_board_is_not_guessed(weights: Path, tmp_path: Path) -> None:
    network = load_network(weights)
    whole = Network(network.design, np.full(len(network.weights), 7, np.float32))
    save_network(tmp_path / "whole.safetensors", whole)
    player = make_player(f"ntuple:depth=2,weights={tmp_path / 'whole.safetensors'}")
    player.start(RULES, 1)
    decision = player.choose(LATE)
    assert (decision.confidence, decision.depth) == (1.0, 2)


def test_compiled_games_fall_back_like_single_choices(weights: Path) -> None:
    rules = Rules.from_text("16384 4096 1024 256 / 8192 2048 512 128 / 4 8 2 4 / 64 32 . .", start=0)
    assert_same_game(f"ntuple:depth=2,weights={weights}", rules, seed=1)


def test_a_hint_says_that_the_network_guesses(weights: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["hint", LATE.to_text(), "--player", f"ntuple:weights={weights}"]
    assert run(words) == 0
    assert "low confidence: " in capsys.readouterr().out
    assert run([*words, "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["is_guess"]
    assert 0.3 < answer["confidence"] < 0.7

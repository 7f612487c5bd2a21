"""Networks as files: what is written is read, and what is not whole or not one is refused in one line."""

import contextlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from plain_network import design_of, random_network
from safetensors.numpy import load_file, save_file

from lab2048.cli.app import run
from lab2048.errors import FileError
from lab2048.kernels.ntuple.large import N_LARGE_SETS
from lab2048.learning.ntuple import Training
from lab2048.learning.ntuple_config import Config
from lab2048.models.ntuple.compress import quantize
from lab2048.models.ntuple.file import load_array, load_network, read_header, save_network
from lab2048.models.ntuple.network import Design, Network
from lab2048.models.ntuple.order import plane_positions
from lab2048.models.ntuple.shipped import take_network
from lab2048.rules import Board, Rules

BOARD = Board.from_text("2 4 / 8 #")
PATTERNS = ((0, 1), (0, 3))


def small(stages: tuple[int, ...] = ()) -> Network:
    """A network for 2x2 with rates and a word of where it comes from."""
    network = random_network(design_of("2x2", PATTERNS, stages), seed=1, is_coherent=True)
    assert network.rates is not None
    network.rates[:] = np.arange(len(network.rates))
    network.facts = {"by": "a test"}
    return network


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "network.safetensors"
    save_network(path, small(), cursors=np.zeros((1, 4), np.uint64))
    return path


@pytest.mark.parametrize("stages", [(), (2,), (3, 5)])
@pytest.mark.parametrize("text", ["2x2", "hex1", "##x|#x#|###"])
def test_a_network_comes_back_as_it_was(tmp_path: Path, stages: tuple[int, ...], text: str) -> None:
    path, cursors = tmp_path / "network", np.arange(8, dtype=np.uint64).reshape(2, 4)
    network = random_network(design_of(text, PATTERNS, stages, share=False), seed=1, is_coherent=True)
    network.facts = {"by": "a test", "numbers": [1, 2.5, None]}
    save_network(path, network, cursors=cursors)
    found = load_network(path, with_rates=True)
    assert (found.design, found.step, found.facts) == (network.design, None, network.facts)
    assert found.weights.tobytes() == network.weights.tobytes()  # what later stages do not know yet is kept so
    assert np.array_equal(found.rates, network.rates)  # type: ignore[arg-type]
    assert np.array_equal(load_array(path, "cursors"), cursors)  # type: ignore[arg-type]
    assert load_array(path, "nothing") is None
    assert load_network(path).rates is None


def test_all_places_of_a_preset_come_back(tmp_path: Path) -> None:
    design = Design.from_text(Rules.from_text("4x4"), "pairs-triplets-quartets", is_shared=False)
    save_network(tmp_path / "network", Network.empty(design))
    assert load_network(tmp_path / "network").design == design


@pytest.mark.parametrize("stages", [(), (2, 3)])
def test_a_quantized_network_comes_back_as_it_was(tmp_path: Path, stages: tuple[int, ...]) -> None:
    path, network = tmp_path / "network", small(stages)
    network.weights[:] = np.nan_to_num(network.weights, nan=7.0)
    network = quantize(network, 0.5)
    save_network(path, network)
    found = load_network(path)
    assert (found.design, found.step) == (network.design, 0.5)
    assert found.weights.dtype == np.int16
    assert (found.weights == network.weights).all()
    assert found.value(BOARD) == network.value(BOARD)


def test_any_reader_of_safetensors_can_read_it(path: Path) -> None:
    tensors = load_file(path)
    assert {name: (array.dtype.name, array.shape) for name, array in tensors.items()} == {
        "cursors": ("uint64", (1, 4)),
        "masks": ("uint64", (2,)),
        "weights": ("float32", (72,)),
        "rates": ("float32", (144,)),
        "blocks": ("uint8", (1,)),
    }


def test_later_stages_play_with_what_the_first_has_learnt(tmp_path: Path) -> None:
    path, network = tmp_path / "network", small((2, 3))
    save_network(path, network)
    taken = take_network(str(path))
    assert not np.isnan(taken.weights).any()
    assert taken.value(BOARD) == network.value(BOARD)


def test_a_file_that_changes_is_read_again(path: Path) -> None:
    before = take_network(str(path))
    assert take_network(str(path)) is before
    network = small()
    network.weights[:] = 1
    save_network(path, network)
    assert take_network(str(path)).value(BOARD) == network.design.n_lookups


@given(n=st.integers(0, 10_000))
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_file_cut_anywhere_is_refused(path: Path, n: int) -> None:
    whole = path.read_bytes()
    cut = path.with_name("cut")
    cut.write_bytes(whole[: n % len(whole)])
    with pytest.raises(FileError, match="is not a complete safetensors file"):
        load_network(cut, with_rates=True)


OLD = Path(__file__).parents[1] / "data" / "networks"  # written by a version that knew format 1 only


@pytest.mark.parametrize(
    "design",
    [
        design_of("2x3", ((0, 1), (0, 3, 4)), (5,)),
        Design(Rules.from_text("4x4"), ((0, 1, 4, 5), (0, 1, 2)), (), True, False, True),
    ],
    ids=["digits", "planes"],
)
def test_a_quantized_network_of_format_1_is_read_and_written_anew(
    tmp_path: Path, design: Design, request: pytest.FixtureRequest
) -> None:
    rng = np.random.default_rng(7)
    numbers = np.rint(rng.laplace(0, 20, design.n_entries) * (rng.random(design.n_entries) < 0.02)).astype(np.int16)
    path = OLD / f"format-1-{request.node.callspec.id}.safetensors"
    network = load_network(path)
    assert (read_header(path).format, network.design, network.step) == (1, design, 0.25)
    is_free = np.ones(design.n_entries, bool)
    if design.is_downgrading:  # two cells of 32768 have no weight; sets of large tiles have their places
        is_free[plane_positions(4)[-N_LARGE_SETS:]] = False
        is_free[design.tables[0].end - N_LARGE_SETS : design.tables[0].end] = True
    assert (network.weights == np.where(is_free, numbers, 0)).all()
    save_network(tmp_path / "new", network)
    found = load_network(tmp_path / "new")
    assert read_header(tmp_path / "new").format == 3
    assert (found.weights == network.weights).all()


@given(place=st.integers(0, 10_000), byte=st.integers(0, 255))
@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_changed_byte_is_refused_or_a_weight(path: Path, place: int, byte: int) -> None:
    whole = bytearray(path.read_bytes())
    whole[place % 1200] = byte  # mostly the header
    path.with_name("changed").write_bytes(whole)
    with contextlib.suppress(FileError):
        network = load_network(path.with_name("changed"), with_rates=True)
        shape = network.design.rules.shape
        assert np.isfinite(network.value(Board(shape, (1,) * shape.n_cells)))


@given(place=st.integers(0, 10_000), byte=st.integers(0, 255))
@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_changed_byte_of_a_quantized_network_is_noticed(tmp_path: Path, place: int, byte: int) -> None:
    path, network = tmp_path / "network", quantize(small(), 0.5)
    save_network(path, network)
    whole = bytearray(path.read_bytes())
    end = 8 + int.from_bytes(whole[:8], "little")  # of the header
    whole[end + place % (len(whole) - end)] = byte
    path.write_bytes(whole)
    with contextlib.suppress(FileError):
        assert (load_network(path).weights == network.weights).all()  # unless a byte was changed to itself


@dataclass
class Content:
    """What a file holds, and what it says of it."""

    tensors: dict[str, Any]
    about: dict[str, Any]


Change = Callable[[Content], object]


def rewrite(path: Path, change: Change) -> Path:
    """The same file with something changed in it."""
    about = {
        "format": 1, "rules": read_header(path).design.rules.to_json(), "patterns": "01 03", "stages": [],
        "is_shared": True, "step": None, "facts": {},
    }  # fmt: skip
    content = Content({name: np.array(array) for name, array in load_file(path).items()}, about)
    change(content)
    save_file(content.tensors, path, {"lab2048": json.dumps(content.about)})
    return path


def put(name: str, place: int, number: float) -> Change:
    return lambda file: file.tensors[name].__setitem__(place, number)


def say(**words: Any) -> Change:
    return lambda file: file.about.update(words)


def make(name: str, array: Any) -> Change:
    return lambda file: file.tensors.update({name: array})


WRONG = [
    (put("weights", 0, np.nan), "has weights that are not finite: expected finite numbers"),
    (put("weights", 71, np.inf), "has weights that are not finite"),
    (put("rates", 3, np.nan), "has rates that are not finite"),
    (make("weights", np.zeros(71, np.float32)), "weights are F32 (71,), expected F32 (72,)"),
    (make("weights", np.zeros((2, 36), np.float32)), "expected F32 (72,)"),
    (make("weights", np.zeros(72, np.float64)), "weights are F64 (72,), expected F32 (72,)"),
    (make("weights", np.zeros(72, np.int16)), "weights are I16 (72,), expected F32 (72,)"),
    (make("rates", np.zeros(72, np.float32)), "rates are F32 (72,), expected F32 (144,)"),
    (lambda file: file.tensors.pop("weights"), "weights are none, expected F32 (72,)"),
    (lambda file: file.about.clear(), "its header was not written by lab2048 train"),
    (lambda file: file.about.pop("stages"), "its header was not written by lab2048 train"),
    (say(format=4), "has format 4: expected 1 to 3; another version of lab2048 wrote it"),
    (say(format=3), "its header was not written by lab2048 train"),  # floats are not compressed
    (say(format=2), "its header was not written by lab2048 train"),  # it has no initial value
    (say(format="1"), "has format 1"),
    (say(rules="4x4"), "rules '4x4' are not understood"),
    (say(patterns="0a"), "pattern 0a has cell a: expected cells 0 to 3 of 2x2"),
    (say(patterns="what"), "unknown network 'what'"),
    (say(patterns=7), "its header was not written by lab2048 train"),
    (say(patterns="012"), "weights are F32 (72,), expected F32 (216,)"),
    (say(stages=[3]), "weights are F32 (72,), expected F32 (144,)"),
    (say(stages=[3, 3]), "stages are invalid"),
    (say(stages=[99]), "stage out of range"),
    (say(stages=["x"]), "its header was not written by lab2048 train"),
    (say(stages=5), "its header was not written by lab2048 train"),
    (say(step=0), "its step is 0"),
    (say(step=float("nan")), "NaN is not valid JSON"),
    (say(step="x"), "its header was not written by lab2048 train"),
    (say(step=1.0), "squeezed are none"),
    (say(facts=3), "facts is '3': expected an object"),
]


@pytest.mark.parametrize(("change", "says"), WRONG, ids=[says for _, says in WRONG])
def test_what_is_no_network_is_one_line(
    path: Path,
    capsys: pytest.CaptureFixture[str],
    change: Change,
    says: str,
) -> None:
    rewrite(path, change)
    with pytest.raises(FileError) as caught:
        load_network(path, with_rates=True)
    assert says in str(caught.value)
    if "rates" not in says:  # a player does not look at them
        assert run(["hint", "2 2 / # #", "--player", f"ntuple:weights={path}"]) == 3
    assert run(["train", "ntuple", "--rules", "2x2", "--out", str(path), "--resume"]) == 3
    lines = [line for line in capsys.readouterr().err.splitlines() if not line.startswith("compiling")]
    # A training reads the weights last: that a file is no checkpoint is said before.
    expected = [says] * len(lines[:-1]) + ["cannot be trained further" if "not finite" in says else says]
    assert all(line.startswith("lab2048: ") and words in line for line, words in zip(lines, expected, strict=True))
    assert len(lines) == (1 if "rates" in says else 2)


SPARSE: dict[str, Any] = {"format": 2, "order": "digits", "initial": 0.0}
WRONG_MARKS = [
    (make("blocks", np.array([1], np.uint8)), "its masks do not fit its weights"),
    (make("blocks", np.array([7], np.uint8)), "its masks do not fit its weights"),  # there is no third block
    (make("blocks", np.zeros(2, np.uint8)), "blocks are U8 (2,), expected U8 (1,)"),
    (lambda file: file.tensors.pop("blocks"), "blocks are none"),
    (lambda file: file.tensors.pop("masks"), "masks are none"),
    (lambda file: file.tensors.pop("weights"), "weights are none"),
    (make("masks", np.array([1, 0], np.uint64)), "its masks do not fit its weights"),
    (make("masks", np.array([2**64 - 1, 511], np.uint64)), "its masks do not fit its weights"),  # 8 weights are left
    (make("masks", np.array([2**64 - 1, 127], np.uint64)), "its masks do not fit its weights"),
    (make("masks", np.ones(3, np.uint64)), "masks are U64 (3,), expected U64 (2,)"),
    (make("masks", np.ones((1, 2), np.uint64)), "masks are U64 (1, 2), expected U64 (2,)"),
    (make("masks", np.ones(2, np.int64)), "masks are I64 (2,), expected U64 (2,)"),
    (make("weights", np.zeros(73, np.float32)), "weights are F32 (73,), expected F32 (72,)"),
    (make("weights", np.zeros(71, np.float32)), "rates are F32 (144,), expected F32 (142,)"),
    (put("weights", 71, np.nan), "has weights that are not finite"),
    (put("rates", 143, np.inf), "has rates that are not finite"),
    (say(initial=float("inf")), "Infinity is not valid JSON"),
    (say(initial=1e39), "its initial weight is inf, expected at most 1e+15"),
    (say(order="planes"), "has its weights in order planes: expected digits"),
    (say(initial="x"), "its header was not written by lab2048 train"),
]


@pytest.mark.parametrize(("change", "says"), WRONG_MARKS, ids=range(len(WRONG_MARKS)))
def test_marks_that_do_not_fit_are_one_line(
    path: Path, capsys: pytest.CaptureFixture[str], change: Change, says: str
) -> None:
    rewrite(path, say(**SPARSE))
    assert load_network(path, with_rates=True).weights.tobytes() == small().weights.tobytes()
    content = rewrite(path, lambda file: (file.about.update(SPARSE), change(file)))
    with pytest.raises(FileError) as caught:
        load_network(content, with_rates=True)
    assert says in str(caught.value)
    assert run(["weights", "info", str(path)]) == 3
    [line] = [line for line in capsys.readouterr().err.splitlines() if not line.startswith("compiling")]
    assert line.startswith("lab2048: ")
    assert says in line


@given(data=st.data(), size=st.integers(1, 700), value=st.sampled_from([0.0, 2.5, -0.0]), is_promoting=st.booleans())
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_only_visited_weights_are_stored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, data: st.DataObject, size: int, value: float, is_promoting: bool
) -> None:
    for module in ("file", "visited"):
        monkeypatch.setattr(f"lab2048.models.ntuple.{module}.PART", 128)  # so that there are many parts
    design = Design(Rules.from_text("2x2"), ((0, 1), (0, 1, 2)), (3,), is_promoting=is_promoting)
    network = Network.empty(design, value, is_coherent=True)
    assert network.rates is not None
    initial = network.weights[0].copy()
    places = data.draw(st.lists(st.integers(0, design.n_entries - 1), max_size=size, unique=True))
    for place in places:
        if data.draw(st.booleans()):
            network.weights[place] = data.draw(st.sampled_from([1.5, -0.0, 2.5]))
        network.rates[2 * place + data.draw(st.integers(0, 1))] = 3
    save_network(tmp_path / "network", network, initial)
    found = load_network(tmp_path / "network", with_rates=True)
    assert found.weights.tobytes() == network.weights.tobytes()
    assert found.rates is not None
    assert found.rates.tobytes() == network.rates.tobytes()
    assert read_header(tmp_path / "network").shapes["weights"] == (len(places),)


@pytest.mark.parametrize("is_promoting", [False, True])
def test_an_untrained_network_takes_no_room(tmp_path: Path, is_promoting: bool) -> None:
    design = Design.from_text(Rules.from_text("4x4"), "4x5", (14,), is_promoting=is_promoting)
    network = Network.empty(design, 320.0, is_coherent=True)
    save_network(tmp_path / "network", network, network.weights[0])
    assert (tmp_path / "network").stat().st_size < 20_000 < design.n_weights
    found = load_network(tmp_path / "network", with_rates=True)
    assert found.weights.tobytes() == network.weights.tobytes()
    assert found.rates is not None
    assert not found.rates.any()


def test_format_1_is_read_as_it_was(path: Path) -> None:
    expected = load_network(path, with_rates=True)
    dense = {"weights": expected.weights, "rates": expected.rates, "cursors": load_array(path, "cursors")}
    found = load_network(
        rewrite(path, lambda file: (file.tensors.clear(), file.tensors.update(dense))), with_rates=True
    )
    assert found.weights.tobytes() == expected.weights.tobytes()
    assert np.array_equal(found.rates, expected.rates)  # type: ignore[arg-type]


def test_rewriting_alone_breaks_nothing(path: Path) -> None:
    assert load_network(rewrite(path, say()), with_rates=True).weights.any()


def test_no_file_a_folder_and_no_safetensors(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = tmp_path / "text"
    text.write_text("weights")
    (tmp_path / "empty").touch()
    for name, says in [
        ("none", "cannot be read: it does not exist"),
        ("", "is a folder"),
        ("text", "is not a complete safetensors file"),
        ("empty", "is not a complete safetensors file"),
    ]:
        assert run(["hint", "2 2 / # #", "--player", f"ntuple:weights={tmp_path / name}"]) == 3
        error = capsys.readouterr().err
        assert says in error
        assert error.count("\n") == 1 + error.count("compiling")


def test_a_network_of_another_shape_is_refused(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["hint", "2 2 # #", "--player", f"ntuple:weights={path}"]) == 3
    assert "was trained on 2x2: expected one for" in capsys.readouterr().err


def test_writing_fails_whole(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = path.read_bytes()

    def full(file: Any, array: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("lab2048.models.ntuple.file._write", full)
    with pytest.raises(FileError, match="cannot be written: the disk is full"):
        save_network(path, small())
    assert path.read_bytes() == before
    assert [entry.name for entry in path.parent.iterdir()] == [path.name]


@pytest.mark.parametrize("name", ["weights", "rates"])
def test_a_checkpoint_with_numbers_that_are_none_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    training = Training.begin(Config(network="1x4"), Rules.from_text("2x2"), 1)
    getattr(training.network, name)[0] = np.nan
    training.save(tmp_path / "network.safetensors")
    words = ["train", "ntuple", "--rules", "2x2", "--out", str(tmp_path / "network.safetensors"), "--resume"]
    assert run(words) == 3
    assert f"has {name} that are not finite: expected finite numbers" in capsys.readouterr().err

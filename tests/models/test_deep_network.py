"""Deep networks: what they read, how they are kept, and what is said of a damaged file."""

import json
from pathlib import Path

import numpy as np
import pytest

from lab2048.errors import BoardError, FileError, UsageError
from lab2048.models.deep.design import DeepDesign
from lab2048.rules import Rules

torch = pytest.importorskip("torch", reason="torch is not installed: pip install 'lab2048[deep]'")

from lab2048.models.deep.file import load_deep, save_deep, take_deep  # noqa: E402
from lab2048.models.deep.network import DeepNetwork, make_network, new_weights  # noqa: E402

BOARDS = np.array([[0, 1, 2, 3, 4, 5], [1, 1, 1, 0, 0, 0], [0, 0, 0, 1, 1, 1]], np.uint8)


def make(text: str = "2x3", **words: object) -> DeepNetwork:
    design = DeepDesign(Rules.from_text(text), **{"widths": (8, 4, 8)} | words)  # type: ignore[arg-type]
    return DeepNetwork(design, new_weights(design, 1), {"training": {"seed": 1}})


@pytest.mark.parametrize("reading", ["onehot", "log2", "tiles"])
@pytest.mark.parametrize(("head", "shape"), [("value", (3,)), ("actions", (3, 4)), ("atoms", (3, 4))])
def test_every_head_gives_scores(reading: str, head: str, shape: tuple[int, ...]) -> None:
    network = make(kind="mlp", head=head, reading=reading, scale="symlog", high=500.0)
    values = network.values(BOARDS)
    assert values.shape == shape
    assert np.isfinite(values).all()


@pytest.mark.parametrize("text", ["1x5", "2x2", "2x3", "3x3", "4x4", "2x8"])
def test_a_network_of_lines_fits_every_rectangle(text: str) -> None:
    network = make(text)
    assert network.values(np.zeros((2, network.design.rules.shape.n_cells), np.uint8)).shape == (2,)


def test_rows_and_columns_of_a_square_are_looked_at_alike() -> None:
    network = make("3x3")
    _, last = network.weights["layer0.weight"].shape
    network.weights["layer0.weight"] = torch.ones(8, last)  # no place counts more than another
    board = np.random.default_rng(1).integers(0, 5, (3, 3)).astype(np.uint8)
    one, other = network.values(np.array([board.ravel(), board.T.ravel()]))
    assert one == pytest.approx(other)


def test_a_network_gives_the_same_for_a_board_alone_and_in_a_batch() -> None:
    network = make("4x4", widths=(16, 8, 16))
    boards = np.random.default_rng(1).integers(0, 12, (40, 16)).astype(np.uint8)
    alone = [float(network.values(boards[i : i + 1])[0]) for i in range(40)]
    assert network.values(boards) == pytest.approx(alone, abs=1e-6)


def test_atoms_spread_from_the_least_to_the_largest_return() -> None:
    design = DeepDesign(Rules.from_text("2x2"), "mlp", "atoms", (4,), low=-1.0, high=2000.0, n_atoms=5, scale="symlog")
    atoms = design.atoms()
    assert atoms[0] == pytest.approx(-1)
    assert atoms[-1] == pytest.approx(2000, rel=1e-5)
    assert (np.diff(atoms, 2) > 0).all()


def test_a_network_survives_its_file(tmp_path: Path) -> None:
    network, path = make(), tmp_path / "net.safetensors"
    save_deep(path, network, {"counts": np.arange(3)})
    again, more = load_deep(path)
    assert again.design == network.design
    assert again.facts == network.facts
    assert (again.values(BOARDS) == network.values(BOARDS)).all()
    assert more["counts"].tolist() == [0, 1, 2]
    assert take_deep(str(path)) is take_deep(str(path))


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ({"kind": "cnn"}, "unknown kind 'cnn'"),
        ({"head": "values"}, "did you mean value"),
        ({"widths": (8, 8)}, "three widths"),
        ({"kind": "mlp", "widths": (0,)}, "expected 1 to 8 numbers"),
        ({"low": 3.0, "high": 2.0}, "a lower and a higher number"),
        ({"n_atoms": 1}, "1 atoms"),
    ],
)
def test_what_cannot_be_built_is_refused(words: dict[str, object], says: str) -> None:
    with pytest.raises(UsageError, match=says):
        make(**words)


@pytest.mark.parametrize("text", ["hex1", "5x5", "#x|##"])
def test_only_rectangles_of_at_most_16_cells(text: str) -> None:
    with pytest.raises(BoardError, match="a rectangle of at most 16 cells"):
        make(text)


def damaged(path: Path) -> list[tuple[bytes, str]]:
    """Ways to damage a file, and what is then said."""
    whole = path.read_bytes()
    size = int.from_bytes(whole[:8], "little")
    header = json.loads(whole[8 : 8 + size])

    def with_about(**changes: object) -> bytes:
        about = json.loads(header["__metadata__"]["lab2048-deep"]) | changes
        text = json.dumps(header | {"__metadata__": {"lab2048-deep": json.dumps(about)}}).encode()
        return len(text).to_bytes(8, "little") + text + whole[8 + size :]

    design = json.loads(header["__metadata__"]["lab2048-deep"])["design"]
    return [
        (whole[:-5], "not a complete safetensors file"),
        (b"", "not a complete safetensors file"),
        (with_about(format=9), "has format 9"),
        (with_about(design=None), "is not a deep network"),
        (with_about(design=design | {"kind": "cnn"}), "unknown kind 'cnn'"),
        (with_about(design=design | {"widths": [8, 4, 9]}), "does not fit its network"),
        (whole[:-4] + np.float32(np.nan).tobytes(), "are not finite"),
    ]


def test_a_damaged_file_is_one_line(tmp_path: Path) -> None:
    path = tmp_path / "net.safetensors"
    save_deep(path, make())
    for content, says in damaged(path):
        path.write_bytes(content)
        with pytest.raises(FileError, match=says):
            load_deep(path)
    with pytest.raises(FileError, match="there is no file"):
        load_deep(tmp_path / "none")
    with pytest.raises(FileError, match="cannot be read"):
        take_deep(str(tmp_path / "none"))


def test_learning_from_one_hot_boards_reaches_every_weight() -> None:
    design = DeepDesign(Rules.from_text("3x3"), widths=(8, 4, 8))
    weights = {name: tensor.requires_grad_() for name, tensor in new_weights(design, 1).items()}
    boards = torch.from_numpy(np.random.default_rng(1).integers(0, design.n_ranks, (500, 9)))
    make_network(design)(weights, boards).sum().backward()
    assert all(tensor.grad is not None and bool(tensor.grad.any()) for tensor in weights.values())

"""Players with deep networks, and the commands that train them, as a user meets them."""

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from lab2048.cli.app import run
from lab2048.errors import FileError, UsageError
from lab2048.models.deep.design import DeepDesign
from lab2048.models.deep.header import write_deep_header
from lab2048.models.ntuple.file import DEEP, write_tensors
from lab2048.players import make_player
from lab2048.rules import Board, Rules

SMALL = [
    "--rules",
    "2x3",
    "--crowd",
    "8",
    "--widths",
    "8,4,8",
    "--batch",
    "32",
    "--trial-every",
    "100",
    "--trial-games",
    "5",
]
HIDDEN = """
import json, sys
sys.modules["torch"] = None
from lab2048.cli.app import run
codes = [run(words) for words in json.loads(sys.argv[1])]
print(json.dumps(codes), file=sys.stderr)
"""


def train(method: str, out: Path, *words: str) -> int:
    return run(["train", method, "--out", str(out), *SMALL, *words])


@pytest.fixture
def torch() -> object:
    return pytest.importorskip("torch", reason="torch is not installed: pip install 'lab2048[deep]'")


@pytest.fixture
def values(tmp_path: Path, torch: object) -> Path:
    path = tmp_path / "values.safetensors"
    assert train("afterstate", path, "--moves", "1000") == 0
    return path


def run_without_torch(tmp_path: Path, *commands: list[str]) -> tuple[list[int], str, str]:
    """The exit codes of some commands, what they said and what they complained about, where torch is not installed."""
    done = subprocess.run(
        [sys.executable, "-c", HIDDEN, json.dumps(commands)], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    return json.loads(done.stderr.splitlines()[-1]), done.stdout, done.stderr


def test_without_torch_it_says_what_to_install(tmp_path: Path) -> None:
    design = DeepDesign(Rules.from_text("4x4"), head="actions", widths=(8, 4, 8))
    write_tensors(tmp_path / "FILE", {}, write_deep_header(design, {}))
    commands = [
        *(["train", method, "--out", "OUT"] for method in ("afterstate", "c51", "dqn", "returns", "distil")),
        ["train", "c51", "--resume", "--out", "FILE"],
        ["evaluate", "FILE", "--workers", "1"],
        ["bench", "deep"],
        ["hint", "22##", "--player", "net:weights=FILE"],
        ["hint", "22##", "--player", "shield:inner=(c51:weights=FILE)"],
        ["match", "c51:weights=FILE", "--games", "2", "--workers", "1", "--no-keep"],
    ]
    codes, _, complaints = run_without_torch(tmp_path, *commands)
    assert codes == [2] * len(commands), complaints
    assert complaints.count("lab2048: this needs the extra 'deep' (deep networks); missing: torch; run: ") == len(
        commands
    )
    assert not (tmp_path / "OUT").exists()


def test_without_torch_a_curve_can_be_read(tmp_path: Path) -> None:
    curve = [{"n_games": 2, "n_moves": 90, "mean": 70.0, "seconds": 1.5, "loss": 0.5, "rates": {"32": 1.0, "64": 0.5}}]
    trial = {"n": 3, "n_games": 2, "n_moves": 90, "mean": 80.0, "mean_low": 60.0, "mean_high": 100.0}
    trial["rates"] = {"32": [1.0, 0.4, 1.0]}
    about = {"facts": {"training": {"curve": curve, "trials": [trial]}}}
    write_tensors(tmp_path / "FILE", {}, {DEEP: json.dumps(about)})
    words = ["weights", "curve", "FILE"]
    codes, said, _ = run_without_torch(tmp_path, [*words, "--csv"], [*words, "--json"], words)
    assert codes == [0, 0, 0]
    lines = said.splitlines()
    assert lines[:3] == [
        "kind,n_games,n_moves,mean,seconds,loss,rates.32,rates.64,n,mean_low,mean_high,rates.32.low,rates.32.high",
        "learning,2,90,70.0,1.5,0.5,1.0,0.5,,,,,",
        "trial,2,90,80.0,,,1.0,,3,60.0,100.0,0.4,1.0",
    ]
    assert json.loads(lines[3])["curve"] == curve
    assert lines[-1] == "evaluation of 3 games after 2: mean 80 (60 to 100)  32 100%"


def test_a_file_without_a_curve_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_tensors(tmp_path / "FILE", {}, {DEEP: "{}"})
    assert run(["weights", "curve", str(tmp_path / "FILE")]) == 3
    assert "does not say how it was trained" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["c51", "net"])
def test_without_a_file_it_says_what_it_needs(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["hint", "22##", "--player", name]) == 3
    assert "expected weights=FILE" in capsys.readouterr().err


def test_a_network_is_for_its_own_head_and_shape(values: Path) -> None:
    with pytest.raises(FileError, match="was trained on"):
        make_player(f"net:weights={values}").start(Rules.from_text("3x3"), 1)
    with pytest.raises(FileError, match="expected a file of lab2048 train c51"):
        make_player(f"c51:weights={values}").start(Rules.from_text("2x3"), 1)
    with pytest.raises(FileError, match="is a deep network"):
        make_player(f"ntuple:weights={values}").start(Rules.from_text("2x3"), 1)
    with pytest.raises(UsageError, match="depth 3 is out of range"):
        make_player(f"net:weights={values},depth=3")
    with pytest.raises(UsageError, match="has not been started"):
        make_player(f"net:weights={values}").choose(Board.from_text("22##"))


@pytest.mark.parametrize("text", ["2 2 4 / . . 8", "2 4 8 / 4 . 2", "2 4 8 / 4 8 8"])
def test_depth_2_is_what_the_rules_say(values: Path, text: str) -> None:
    """The expectation over all spawns of the best reward and value, board by board."""
    one, two = (make_player(f"net:weights={values},depth={depth}") for depth in (1, 2))
    rules = Rules.from_text("2x3")
    one.start(rules, 1)
    two.start(rules, 1)
    board = Board.from_text(text)
    expected = {}
    for move, (after, reward) in board.slides():
        expected[move] = float(reward)
        for cell, rank, p in rules.spawns(after):
            state = after.put(cell, rank)
            expected[move] += p * max(one.choose(state).values.values()) if state.legal_moves() else 0.0
    assert two.choose(board).values == pytest.approx(expected, rel=1e-5)


def test_turned_copies_of_a_board_are_one(values: Path) -> None:
    """A player that looks at all of them values a move as it values the turned move on the turned board."""
    rules = Rules.from_text("2x3")
    board = Board(rules.shape, (1, 1, 2, 0, 3, 1))
    for depth in (1, 2):
        player, other = (
            make_player(f"net:weights={values},depth={depth},turned=true"),
            make_player(f"net:weights={values}"),
        )
        player.start(rules, 1)
        other.start(rules, 1)
        found = player.choose(board).values
        for symmetry in rules.shape.symmetries:
            turned = Board(rules.shape, tuple(board.ranks[cell] for cell in symmetry.cells))
            assert sorted(player.choose(turned).values.values()) == pytest.approx(sorted(found.values()), rel=1e-4)
        assert sorted(other.choose(board).values.values()) != pytest.approx(sorted(found.values()), rel=1e-4)


@pytest.mark.parametrize("method", ["afterstate", "c51", "dqn", "returns", "distil"])
def test_a_network_is_trained_and_evaluated(
    tmp_path: Path, torch: object, method: str, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "net.safetensors"
    assert train(method, out, "--episodes", "150", "--jsonl", "--threads", "1") == 0
    said = capsys.readouterr()
    assert "8 games in parallel" in said.err
    end = [json.loads(line) for line in said.out.splitlines()][-1]
    assert end["event"] == "end"
    assert end["n_games"] >= 150
    assert {"mean", "total", "length", "tile_sum", "rates", "pairs", "loss", "pace", "step_pace"} <= set(end)
    assert end["trial"]["n"] == 5
    assert end["trial"]["mean_low"] <= end["trial"]["mean"] <= end["trial"]["mean_high"]
    assert train(method, out, "--episodes", "200", "--resume") == 0
    view = capsys.readouterr().out
    assert "adjacent pairs per game" in view
    assert "evaluation of 5 games" in view
    assert run(["evaluate", str(out), "--games", "3", "--workers", "1", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["rules"]["board"] == "2x3"
    assert run(["weights", "curve", str(out), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["curve"][-1]["n_games"] > 150
    assert found["trials"][-1]["n"] == 5
    assert run(["weights", "info", str(out)]) == 0
    assert "trained" in capsys.readouterr().out


def test_the_preset_of_document_003(tmp_path: Path, torch: object) -> None:
    from lab2048.models.deep.file import load_deep

    out = tmp_path / "net"
    words = ["train", "c51", "--preset", "003", "--rules", "2x3", "--episodes", "60", "--out", str(out)]
    assert run([*words, "--rate", "0.002"]) == 0
    network, _ = load_deep(out)
    config = network.facts["training"]["config"]
    assert (config["rate"], config["discount"], config["batch"], network.design.high) == (0.002, 0.95, 64, 2048.0)
    assert run(["train", "returns", "--preset", "003", "--out", str(tmp_path / "other")]) == 2


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (["--rate", "5"], 2, "rate 5 is out of range"),
        (["--widths", "8"], 2, "three widths"),
        (["--rules", "hex1"], 3, "expected a rectangle"),
        (["--episodes", "0"], 2, "games 0 is out of range"),
    ],
)
def test_nonsense_is_one_line(
    tmp_path: Path, torch: object, words: list[str], code: int, says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert train("afterstate", tmp_path / "net", *words) == code
    assert says in capsys.readouterr().err
    assert not (tmp_path / "net").exists()


def test_ctrl_c_keeps_the_network(tmp_path: Path, torch: object) -> None:
    out = tmp_path / "net"
    command = [sys.executable, "-m", "lab2048", "train", "afterstate", "--out", str(out), *SMALL, "--jsonl"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        process.stdout.readline()
        process.send_signal(signal.SIGINT)
        process.communicate()
    assert process.returncode == 130
    assert train("afterstate", out, "--resume", "--games", "1") == 0

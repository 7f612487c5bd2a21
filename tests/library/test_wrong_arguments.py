"""Wrong arguments of the library are one clear line, and nothing is played."""

import errno
import io
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lab2048 as lab
from lab2048.library.interrupt import stopping
from lab2048.players.player_file import load_player_file


class Unfinished(lab.Player):
    """Has no `choose`."""


WRONG: dict[str, Callable[[], Any]] = {
    "games -1 is out of range: expected 1 or more": lambda: lab.match("random", games=-1),
    "games 'many' is not understood: expected a whole number": lambda: lab.match("random", games="many"),  # type: ignore[arg-type]
    "games 2.5 is not understood: expected a whole number": lambda: lab.match("random", games=2.5),  # type: ignore[arg-type]
    "workers -1 is out of range: expected 0 or more": lambda: lab.match("random", workers=-1),
    "seed 'x' is not understood: expected a whole number": lambda: lab.match("random", seed="x"),  # type: ignore[arg-type]
    "seed -1 is out of range": lambda: lab.match("random", seed=-1),
    "there are no players: expected at least one": lambda: lab.match([]),
    "player Unfinished cannot be created": lambda: lab.match(Unfinished),
    "seed 'seven' is not understood": lambda: lab.Game("4x4", seed="seven"),  # type: ignore[arg-type]
    "rules 4 are not understood: expected text such as '4x4'": lambda: lab.Game(4),  # type: ignore[arg-type]
    "spawn 2 is not understood: expected text": lambda: lab.Game("4x4", spawn=2),  # type: ignore[arg-type]
    "goal 'big' is not understood": lambda: lab.player("random").ask("22|##", goal="big"),  # type: ignore[arg-type]
    "moves 'x' is not understood": lambda: lab.Game("3x3").play("random", moves="x"),  # type: ignore[call-overload]
    "'lft' is no move and no player: did you mean left?": lambda: lab.Game("3x3").play("lft"),
    "moves -3 is out of range: expected more than 0": lambda: lab.train("ntuple", moves=-3),
    "minutes 'x' is not understood: expected a number": lambda: lab.train("ntuple", minutes="x"),  # type: ignore[arg-type]
    "7 cannot be reviewed: expected a lab2048.Game, or a file with one": lambda: lab.review(7),  # type: ignore[arg-type]
    "'' cannot be reviewed: expected a lab2048.Game, or a file with one": lambda: lab.review(""),
    r"'a\x00b' cannot be read: no file can have such a name": lambda: lab.review("a\0b"),
    r"'\ud800' cannot be read: no file can have such a name": lambda: lab.review("\ud800"),
    "the replay: not UTF-8 text at byte 2": lambda: lab.review("{\ud800"),
    "threads -1 is out of range": lambda: lab.train("ntuple", moves=10, threads=-1),
}


@pytest.mark.parametrize("message", WRONG)
def test_a_wrong_argument_is_one_line(message: str) -> None:
    with pytest.raises(lab.LabError) as caught:
        WRONG[message]()
    assert str(caught.value).startswith(message)
    assert "\n" not in str(caught.value)


def test_a_store_takes_games_and_numbers(tmp_path: Path) -> None:
    with lab.open_store(tmp_path / "games.sqlite") as store:
        with pytest.raises(lab.LabError, match=r"3 cannot be saved: expected a lab2048\.Game"):
            store.save(3)  # type: ignore[arg-type]
        with pytest.raises(lab.LabError, match="id 'x' is not understood: expected a whole number"):
            store.load("x")  # type: ignore[arg-type]


PATHS: dict[str, tuple[Callable[[Path], Any], str]] = {
    "PATH is a file: expected the folder of a solved board": (lab.open_solution, "file"),
    "there is no folder PATH: expected the folder of a solved board": (lab.open_solution, "missing"),
    "PATH holds no table: expected the folder of a solved board": (lab.open_solution, "folder"),
    "PATH/manifest.json cannot be read: permission denied": (lab.open_solution, "forbidden"),
    "PATH is not a complete safetensors file": (lab.open_network, "file"),
    "there is no file PATH: expected one written by lab2048 train": (lab.open_network, "missing"),
    "PATH is a folder: expected a file written by lab2048 train": (lab.open_network, "folder"),
    "PATH cannot be read: permission denied": (lab.open_network, "forbidden"),
    "the store PATH is not a file": (lab.open_store, "folder"),
    "the store PATH cannot be used: permission denied": (lab.open_store, "forbidden"),
    "player file PATH cannot be read: it does not exist": (lab.load_player_file, "missing.py"),
    "study file PATH cannot be read: it does not exist": (lambda path: lab.study(str(path)), "missing.toml"),
}


@pytest.mark.parametrize("message", PATHS)
def test_a_wrong_path_is_one_line(message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    call, name = PATHS[message]
    path = tmp_path / name
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_text("no table, and no network")
    (tmp_path / "forbidden").touch()

    def forbidding(whole_open: Callable[..., Any]) -> Callable[..., Any]:
        def forbid(file: Any, *arguments: Any, **options: Any) -> Any:
            if "forbidden" in str(file):  # by hand: tests may run as root, who may read everything
                raise PermissionError(errno.EACCES, "Permission denied", str(file))
            return whole_open(file, *arguments, **options)

        return forbid

    monkeypatch.setattr(io, "open", forbidding(io.open))
    monkeypatch.setattr(os, "open", forbidding(os.open))
    with pytest.raises(lab.LabError) as caught:
        call(path)
    assert str(caught.value).startswith(message.replace("PATH", str(path)))
    assert "\n" not in str(caught.value)


def test_what_exists_is_replaced_as_python_says(tmp_path: Path) -> None:
    file = tmp_path / "my.safetensors"
    network = lab.train("ntuple", rules="2x2", moves=100, threads=1, out=file)
    with pytest.raises(lab.LabError, match="pass resume=True to continue it, or force=True to replace it"):
        lab.train("ntuple", rules="2x2", moves=100, threads=1, out=file)
    with pytest.raises(lab.LabError, match="choose another name, or pass force=True to replace it"):
        network.save(file)
    assert network.save(file, force=True) == file


def test_numbers_of_other_types_are_whole_numbers() -> None:
    assert lab.Game("3x3", seed=np.int64(7)).board == lab.Game("3x3", seed=7).board  # type: ignore[arg-type]
    assert len(lab.match("random", rules="2x2", games=1e1).scores()) == 10  # type: ignore[arg-type]


def test_a_class_that_a_player_file_does_not_register_is_named(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text("import lab2048 as lab\n\nclass Forgotten(lab.Player):\n    def choose(self, board): ...\n")
    load_player_file(file)
    with pytest.raises(lab.LabError, match=r"mine.py defines Forgotten without registering it: end it with .*register"):
        lab.player("forgotten")


def test_one_ctrl_c_that_arrives_twice_is_one() -> None:
    stops: list[str] = []
    with stopping(lambda: stops.append("first")):
        os.kill(os.getpid(), signal.SIGINT)
        os.kill(os.getpid(), signal.SIGINT)
    assert stops == ["first"]


def test_a_move_is_printed_by_its_name() -> None:
    assert f"{lab.Move.LEFT} {lab.HexMove.UP_LEFT}" == "left up-left"

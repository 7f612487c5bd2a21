"""Player files: those that are named, and those of the players folder."""

import sys
from pathlib import Path

import pytest

import lab2048 as lab
from lab2048.errors import FileError, PlayerFileWarning, UsageError
from lab2048.players import load_player_file, make_player, names
from lab2048.players.player_file import named_files, player_sources, players_folder
from lab2048.players.registry import files_of, is_only_here

pytestmark = pytest.mark.usefixtures("own_registry")

PLAYER = """
import lab2048 as lab

class Own(lab.Player):
    "{doc}"

    def choose(self, board):
        values = {{move: float(reward) for move, (_, reward) in board.slides()}}
        return lab.Decision(max(values, key=values.get), values)

lab.register("{name}", Own)
"""


def write(path: Path, name: str, doc: str = "Own.") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(PLAYER.format(name=name, doc=doc))
    return path


def test_players_of_the_folder_are_known_everywhere() -> None:
    write(players_folder() / "own.py", "own")
    assert "own" in names()
    assert lab.player("own").ask("2 2 / # #").values[lab.Move.LEFT] == 4
    assert lab.match("own", rules="2x2", games=3, workers=2).to_dict()["players"][0]["games"] == 3  # in processes
    assert not named_files()  # another process finds the folder by itself
    assert not files_of(["own"])


def test_a_built_in_player_needs_nothing_of_the_folder() -> None:
    (players_folder() / "own.py").parent.mkdir(parents=True)
    (players_folder() / "own.py").write_text("raise SystemExit")
    assert make_player("greedy:eval=snake").eval == "snake"  # type: ignore[attr-defined]


def test_the_current_folder_is_never_loaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", ".")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    write(tmp_path / "lab2048" / "players" / "own.py", "own")
    write(tmp_path / "players" / "own.py", "own")
    assert players_folder().is_relative_to(tmp_path / "home")
    assert "own" not in names()


def test_a_broken_file_is_a_warning_and_explains_what_is_missing() -> None:
    write(players_folder() / "whole.py", "whole")
    (players_folder() / "broken.py").write_text("import nowhere_to_be_found\n")
    with pytest.warns(PlayerFileWarning, match=r"broken.py fails.*nowhere_to_be_found.*players are missing"):
        assert "whole" in names()
    assert "whole" in names()  # and no second warning
    with pytest.raises(UsageError, match=r"unknown player 'broken'.*broken.py fails.*nowhere_to_be_found"):
        make_player("broken")
    with pytest.raises(UsageError, match=r"unknown evaluator 'broken'.*broken.py fails"):
        lab.player("greedy:eval=broken").ask("2 2 / # #")


def test_what_is_registered_replaces_what_the_folder_has(tmp_path: Path) -> None:
    write(players_folder() / "own.py", "own", "Of the folder.")
    assert make_player("own").__doc__ == "Of the folder."
    load_player_file(write(tmp_path / "own.py", "own", "Of the file."))
    assert make_player("own").__doc__ == "Of the file."


def test_a_named_file_wins_although_the_folder_is_read_later(tmp_path: Path) -> None:
    write(players_folder() / "own.py", "own", "Of the folder.")
    load_player_file(write(tmp_path / "own.py", "own", "Of the file."))
    names()
    assert make_player("own").__doc__ == "Of the file."


def test_two_files_of_one_name_are_two_modules(tmp_path: Path) -> None:
    for name in ("one", "two"):
        load_player_file(write(tmp_path / name / "player.py", name))
    assert type(make_player("one")).__module__ != type(make_player("two")).__module__


def test_a_player_that_is_replaced_is_asked_anew() -> None:
    board = "2 2 / # #"

    def register(value: float) -> None:
        class Own(lab.Player):
            def choose(self, board: lab.Board) -> lab.Decision:
                values = dict.fromkeys(board.legal_moves(), value)
                return lab.Decision(board.legal_moves()[0], values)

        lab.register("own", Own)

    register(1.0)
    assert set(lab.player("own").ask(board).values.values()) == {1.0}
    register(2.0)
    assert set(lab.player("own").ask(board).values.values()) == {2.0}


def test_other_processes_are_told_which_files_a_player_needs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = write(tmp_path / "own.py", "own")
    (tmp_path / "sum.py").write_text("import lab2048 as lab\nlab.register_evaluator('total', lambda line: sum(line))\n")
    for path in (own, tmp_path / "sum.py"):
        load_player_file(path)
    monkeypatch.chdir(tmp_path)
    assert files_of(["own", "random", "own"]) == [Path("own.py")]
    assert files_of(["shield:inner=(greedy:eval=total)"]) == [Path("sum.py")]
    assert not is_only_here("own")
    assert lab.match("own", rules="2x2", games=3, workers=2).to_dict()["players"][0]["games"] == 3


def test_what_a_file_prints_is_no_result(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "loud.py"
    path.write_text("print('loud')")
    load_player_file(path)
    assert capsys.readouterr() == ("", "loud\n")


def test_an_error_in_a_file_has_the_traceback_of_the_user_alone(tmp_path: Path) -> None:
    path = tmp_path / "wrong.py"
    path.write_text("def inner():\n    raise OSError('no such data')\n\ninner()\n")
    with pytest.raises(FileError, match=r"wrong.py fails: line 2: OSError: no such data") as caught:
        load_player_file(path)
    lines = [line.strip() for line in caught.value.trace.splitlines() if line.strip().startswith("File")]
    assert lines == [f'File "{path}", line 4, in <module>', f'File "{path}", line 2, in inner']


HELPED = """
import lab2048 as lab
import helper
from helper import NAME

class Own(lab.Player):
    def choose(self, board):
        import late
        values = {move: late.value(helper) for move in board.legal_moves()}
        return lab.Decision(board.legal_moves()[0], values)

lab.register(NAME, Own)
"""


def write_helped(folder: Path, name: str, value: float) -> Path:
    """Write a player file with two modules beside it, of which one imports the other."""
    folder.mkdir()
    (folder / "helper.py").write_text(f"import deeper\nNAME, VALUE = {name!r}, deeper.VALUE\n")
    (folder / "deeper.py").write_text(f"VALUE = {value}\n")
    (folder / "late.py").write_text("def value(helper):\n    return helper.VALUE\n")
    (folder / "random.py").write_text("raise AssertionError('the standard library comes first')\n")
    file = folder / "player.py"
    file.write_text(f"import random\n{HELPED}")
    return file


def test_a_file_imports_modules_beside_it(tmp_path: Path) -> None:
    before = list(sys.path)
    load_player_file(write_helped(tmp_path / "one", "one", 1.5))
    load_player_file(write_helped(tmp_path / "two", "two", 2.5))  # its helpers have the same names
    for name, value in (("one", 1.5), ("two", 2.5)):
        assert set(lab.player(name).ask("2 2 / # #").values.values()) == {value}
    assert lab.match("two", rules="2x2", games=3, workers=2).to_dict()["players"][0]["games"] == 3  # in processes
    assert sys.path == before
    assert not {"helper", "deeper", "late"} & set(sys.modules)


def test_a_file_that_is_loaded_again_sees_changes_beside_it(tmp_path: Path) -> None:
    file = write_helped(tmp_path / "one", "one", 1.5)
    load_player_file(file)
    (tmp_path / "one" / "deeper.py").write_text("VALUE = 10.25\n")
    load_player_file(file)
    assert set(lab.player("one").ask("2 2 / # #").values.values()) == {10.25}


def test_a_class_beside_a_file_belongs_to_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "classes.py", "own")
    (tmp_path / "player.py").write_text("import classes\n")
    load_player_file(tmp_path / "player.py")
    assert not is_only_here("own")
    assert files_of(["own"]) == [Path("player.py")]


PLACES = (("player.py", 1), ("helper.py", 2))


def test_an_error_beside_a_file_names_its_place(tmp_path: Path) -> None:
    (tmp_path / "helper.py").write_text("\n1 / 0\n")
    (tmp_path / "player.py").write_text("import helper\n")
    with pytest.raises(FileError, match=r"player.py fails: .*helper.py, line 2: ZeroDivisionError") as caught:
        load_player_file(tmp_path / "player.py")
    lines = [line.strip() for line in caught.value.trace.splitlines() if line.strip().startswith("File")]
    assert lines == [f'File "{tmp_path / name}", line {line}, in <module>' for name, line in PLACES]


def test_only_files_that_are_loaded_travel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for folder in ("before", "now"):
        monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / folder))
        write(players_folder() / f"{folder}.py", folder)
        assert folder in names()
    load_player_file(write(tmp_path / "named.py", "named"))
    broken = tmp_path / "broken.py"
    broken.write_text("import nowhere_to_be_found\n")
    with pytest.raises(FileError):
        load_player_file(broken)
    assert [source.name for source in player_sources()] == ["now.py", "named.py"]

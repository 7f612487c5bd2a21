"""`lab2048 review`: a saved game, a file or a player."""

import json
from pathlib import Path

import pytest
from plain_network import random_network
from played import fill
from records.replay_writer import write_league, write_verse

from lab2048.cli.app import run
from lab2048.models.ntuple.file import save_network
from lab2048.models.ntuple.network import Design
from lab2048.records.store import Store
from lab2048.rules import Game, Rules


@pytest.fixture
def store(tmp_path: Path) -> Path:
    path = tmp_path / "games.sqlite"
    fill(path, 3, "2x2")
    return path


def reviewed(capsys: pytest.CaptureFixture[str], *words: object) -> dict:
    assert run(["review", "--json", *map(str, words)]) == 0
    return json.loads(capsys.readouterr().out)


def test_a_saved_game_is_reviewed_and_its_ledger_adds_up(capsys: pytest.CaptureFixture[str], store: Path) -> None:
    found = reviewed(capsys, 2, "--store", store)
    assert found["schema"] == "lab2048/review-1"
    total = found["initial_value"] + found["luck"] + found["skill"] + found["drift"]
    assert total == pytest.approx(found["final_score"], rel=1e-9)
    assert found["final_score"] == found["score"]
    assert len(found["moves"]) == found["n_moves"] == sum(found["grades"].values())
    for move in found["moves"]:
        assert move["value"] + move["loss"] == pytest.approx(move["best"])
    assert run(["review", "2", "--store", str(store)]) == 0
    out = capsys.readouterr().out
    assert "accuracy" in out
    assert "Luckiest spawns" in out


def test_an_exported_game_is_the_same(capsys: pytest.CaptureFixture[str], store: Path, tmp_path: Path) -> None:
    file = tmp_path / "game.jsonl"
    assert run(["games", "export", "2", "--store", str(store), "--out", str(file)]) == 0
    capsys.readouterr()
    assert reviewed(capsys, file) == reviewed(capsys, 2, "--store", store)


def test_a_replay_of_another_program_is_reviewed(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    game = Game(Rules.from_text("3x3"), 1)
    for _ in range(5):
        game.play(game.board.legal_moves()[0])
    file = tmp_path / "game.txt"
    file.write_bytes(write_verse(game, "3x3"))
    network = tmp_path / "network"
    save_network(network, random_network(Design.from_text(game.rules, "rows"), 1))
    found = reviewed(capsys, file, "--reviewer", f"ntuple:weights={network},depth=1")
    assert (found["n_moves"], found["score"], found["is_over"]) == (5, game.score, False)
    pasted = write_verse(game, "3x3").decode()
    assert reviewed(capsys, pasted, "--reviewer", f"ntuple:weights={network},depth=1") == found
    assert run(["review", pasted + pasted[-3:] * 9]) == 3
    assert "the replay: move" in capsys.readouterr().err
    file.write_bytes(write_verse(game, "3x3")[:-3] + b"\xff")
    assert run(["review", str(file)]) == 3
    assert "game.txt: not a replay" in capsys.readouterr().err


def test_a_pasted_replay_without_a_name_is_known_by_its_moves(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    game = Game(Rules.from_text("4x4"), 1)
    for _ in range(30):
        game.play(game.board.legal_moves()[0])
    pasted, network = write_league(game).decode(), tmp_path / "network"
    save_network(network, random_network(Design.from_text(game.rules, "rows"), 1))
    found = reviewed(capsys, "--reviewer", f"ntuple:weights={network},depth=1", "--", pasted)
    assert (found["n_moves"], found["score"]) == (30, game.score)
    assert run(["review", "--", pasted + pasted[-1] * 40]) == 3
    assert "the replay: as a replay of 2048league: move" in capsys.readouterr().err
    for no_game in ("game.rpl", "a file that was never there"):
        assert run(["review", no_game]) == 3
        assert f"{no_game} cannot be read: it does not exist" in capsys.readouterr().err


def test_a_game_without_a_name_is_a_wrong_use(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["review", ""]) == 2
    assert "expected a game, as in lab2048 review 12" in capsys.readouterr().err


def test_a_review_is_written_as_a_page(capsys: pytest.CaptureFixture[str], store: Path, tmp_path: Path) -> None:
    page = tmp_path / "review.html"
    assert run(["review", "2", "--store", str(store), "--html", str(page)]) == 0
    assert "is written" in capsys.readouterr().err
    assert '"title":"Game 2"' in page.read_text("utf-8")
    assert run(["review", "2", "--store", str(store), "--html", str(page)]) == 3
    assert "exists already" in capsys.readouterr().err
    page.write_text("")
    assert reviewed(capsys, 2, "--store", store, "--html", page, "--force")["n_moves"] > 0
    assert page.stat().st_size > 0
    assert run(["review", "--player", "greedy", "--rules", "2x2", "--html", str(tmp_path / "other.html")]) == 2
    assert "--html: expected a game" in capsys.readouterr().err


def test_the_review_of_a_saved_game_is_kept(capsys: pytest.CaptureFixture[str], store: Path) -> None:
    first = reviewed(capsys, 1, "--store", store)
    with Store.open(store) as opened:
        assert [kept.n_moves for kept in opened.reviews_of(1)] == [first["n_moves"]]
    assert reviewed(capsys, 1, "--store", store) == first


def test_a_player_is_reviewed(capsys: pytest.CaptureFixture[str]) -> None:
    perfect = reviewed(capsys, "--player", "optimal", "--rules", "2x2", "--games", 5)
    random = reviewed(capsys, "--player", "random", "--rules", "2x2", "--games", 5)
    assert perfect["accuracy"] == pytest.approx(100)
    assert random["accuracy"] < 100
    assert random["error_rate"] > perfect["error_rate"]
    assert run(["review", "--player", "random", "--rules", "2x2", "--games", "2"]) == 0
    assert "score without luck" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        ([], 2, "expected a game"),
        (["1", "--player", "greedy"], 2, "expected a game"),
        (["99"], 3, "99"),
        (["missing.jsonl"], 3, "missing.jsonl"),
        (["2", "--reviewer", "greedy"], 2, "expected scores"),
        (["2", "--reviewer", "gredy"], 2, "greedy"),
    ],
)
def test_mistakes_are_one_line(
    capsys: pytest.CaptureFixture[str], store: Path, words: list[str], code: int, message: str
) -> None:
    assert run(["review", *words, "--store", str(store)]) == code
    lines = capsys.readouterr().err.strip().splitlines()
    assert message in " ".join(lines)


def test_a_file_with_several_games_is_refused(capsys: pytest.CaptureFixture[str], store: Path, tmp_path: Path) -> None:
    file = tmp_path / "games.jsonl"
    assert run(["games", "export", "--store", str(store), "--out", str(file)]) == 0
    assert run(["review", str(file)]) == 3
    assert "3 games" in capsys.readouterr().err

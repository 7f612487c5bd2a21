"""Matches, solutions, regret, training, the store and studies from Python."""

import os
import re
import signal
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path

import pytest

import lab2048 as lab
from lab2048.errors import FileError, UsageError


def test_a_match_is_a_table_data_a_frame_and_charts() -> None:
    result = lab.match(["greedy", "random"], rules="3x3", games=30, seed=2, workers=1)
    assert len(result.scores("greedy")) == len(result.scores()) == 30
    low, high = result.interval("greedy").low, result.interval("greedy").high
    assert low < result.mean("greedy") < high
    assert result.difference("greedy", "random").value == pytest.approx(result.mean("greedy") - result.mean("random"))
    assert result.reached(4).value == 1
    frame = result.to_pandas()
    assert list(frame["score"][frame["player"] == "random"]) == result.scores("random")
    for kind in ("scores", "tiles", "distribution", "differences"):
        assert result.plot(kind).data
    with pytest.raises(UsageError, match="tiles"):
        result.plot("tile")
    with pytest.raises(UsageError, match="first"):
        result.mean("first")
    assert "greedy - random" in str(result)
    assert "<table>" in result._repr_html_()
    assert repr(result) == "MatchResult(greedy, random: 60 games)"


def test_what_was_never_saved_has_a_name(capsys: pytest.CaptureFixture[str]) -> None:
    network = lab.train("ntuple", rules="2x2", moves=1000, threads=1, seed=1)
    solution = lab.solve("2x2", goal=16)
    players = [
        network.player(depth=2),
        solution.player(),
        lab.train("ntuple", rules="2x2", moves=500, threads=1).player(),
    ]
    result = lab.match(players, rules="2x2", games=3, workers=1, progress=True)
    shown = [str(players), repr(result), str(result), result._repr_html_(), str(result.to_pandas()["player"].tolist())]
    shown += [str(result.plot().to_dict()), str(solution.regret(players[0], games=3)), capsys.readouterr().err]
    for text in shown:
        assert tempfile.gettempdir() not in text
    names = re.findall(r"unsaved-\d+", repr(result))
    assert len(set(names)) == 3
    assert result.mean(players[0]) > 0


def test_the_number_of_workers_changes_nothing() -> None:
    one, two = (lab.match("expectimax:depth=2", rules="3x3", games=8, workers=n).scores() for n in (1, 2))
    assert one == two


def test_a_match_is_kept_and_resumed(tmp_path: Path) -> None:
    file = tmp_path / "games.sqlite"
    lab.match("random", rules="3x3", games=5, store=file)
    again = lab.match("random", rules="3x3", games=8, store=file, resume=True)
    assert again.scores() == lab.match("random", rules="3x3", games=8).scores()
    with lab.open_store(file) as store:
        assert len(store) == 8
        assert [game.score for game in store.games(best=3)] == sorted(again.scores())[:-4:-1]
    with pytest.raises(UsageError, match="store"):
        lab.match("random", resume=True)


def test_a_solution_is_probed_played_saved_and_exported(tmp_path: Path) -> None:
    solution = lab.solve("2x2", goal=16)
    probe = solution.probe("2 4 / # 2")
    assert probe.value == probe.values[probe.move] == max(probe.values.values())
    assert solution.player().ask("2 4 / # 2").values == pytest.approx(dict(probe.values))
    assert solution.value + (solution.loss or 0) == pytest.approx(1)
    assert solution.tiles()[16] == pytest.approx(solution.value)
    assert solution.verify(sample=0) > 0
    saved = solution.save(tmp_path / "table")
    assert saved.value == solution.value == lab.open_solution(tmp_path / "table").value
    with pytest.raises(FileError):
        solution.save(tmp_path / "table")
    assert solution.export(tmp_path / "t.csv") == solution.table.count.afterstates
    assert (tmp_path / "t.csv").read_text().startswith("sum,")
    assert "0.96" in repr(solution)
    assert "<svg" in solution._repr_html_()
    folder = solution.table.folder
    player = solution.player()
    del solution
    assert folder.exists()  # the player needs it
    del player, probe
    assert not folder.exists()
    with pytest.raises(UsageError, match="goal"):
        lab.solve("2x2", objective="win")


def test_regret_grades_players() -> None:
    solution = lab.solve("2x2", goal=16)
    result = lab.regret(solution, ["random", solution.player()], games=20)
    assert result[solution.player()].per_move == 0
    assert result["random"].per_move > 0
    assert "random" in str(result)
    assert result.to_pandas()["loss_per_game"][0] > 0


def test_a_network_is_trained_resumed_saved_and_played(tmp_path: Path) -> None:
    file = tmp_path / "net.safetensors"
    once = lab.train("ntuple", rules="2x3", moves=4000, threads=1, seed=3)
    lab.train("ntuple", rules="2x3", moves=2000, threads=1, seed=3, out=file)
    resumed = lab.train("ntuple", moves=4000, threads=1, out=file, resume=True)
    board = "2 4 # / # 2 #"
    assert once.player(depth=1).ask(board).values == resumed.player(depth=1).ask(board).values
    assert list(resumed.curve()["n_moves"])[-1] >= 4000
    assert resumed.plot().data
    opened = lab.open_network(file)
    assert opened.rules == once.rules
    assert opened.evaluate(games=20, depth=1).scores() == once.evaluate(games=20, depth=1).scores()
    assert opened.points()[-1]["n_moves"] >= 4000
    with pytest.raises(FileError, match="exists"):
        lab.train("ntuple", rules="2x3", moves=10, out=file)
    with pytest.raises(UsageError, match="alhpa"):
        lab.train("ntuple", alhpa=1)
    with pytest.raises(FileError):
        lab.open_network(tmp_path / "none")


def test_a_game_is_saved_loaded_and_deleted(tmp_path: Path) -> None:
    with lab.open_store(tmp_path / "games.sqlite") as store:
        game = lab.Game("3x3", seed=4).play("greedy", moves=6)
        id_ = store.save(game)
        loaded = store.load(id_)
        assert (loaded.board, loaded.score) == (game.board, game.score)
        assert loaded.to_episode().moves == game.to_episode().moves
        assert [entry.id for entry in store.games(player="greedy", rules="3x3")] == [id_]
        assert store.games(player="human") == []
        lines = list(store.export_lines())
        (tmp_path / "games.jsonl").write_text("\n".join(lines))
        store.delete(id_)
        assert len(store) == 0
        assert store.import_file(tmp_path / "games.jsonl") == (1, 0, 0)
        assert len(store.to_pandas()) == 1


def test_a_study_runs_and_reports(tmp_path: Path) -> None:
    assert "000-optimal" in lab.study_names()
    study = lab.study("000-optimal", quick=True, folder=tmp_path)
    row = study._folder.study.rows[0].id
    assert study.run([row]).report.n_measured > 0
    assert study.to_dict()["figures"]
    assert len(study.to_pandas()) == len(study.report.lines)
    assert "<table>" in study._repr_html_()


def test_an_evaluator_is_tuned(tmp_path: Path) -> None:
    pytest.importorskip("optuna")
    options = {"rules": "2x3", "games": 4, "trials": 16, "fresh": 8, "study": tmp_path / "study.sqlite"}
    result = lab.tune("rows", **options)  # type: ignore[arg-type]
    assert result is not None
    assert result.n_trials >= 16
    again = lab.tune("rows", **options)  # type: ignore[arg-type]
    assert again is not None
    assert again.evaluator == result.evaluator


INTERRUPTED = """
    import os, signal, threading
    import lab2048 as lab
    from lab2048.library import match as module

    def interrupt(*_):
        os.kill(os.getpid(), signal.SIGINT)

    class Interrupts(lab.Player):
        n = 0
        def choose(self, board):
            Interrupts.n += 1
            if Interrupts.n == 300:
                interrupt()
            moves = board.legal_moves()
            return lab.Decision(moves[0], {move: 0.0 for move in moves})

    result = lab.match([Interrupts], rules="3x3", games=100_000, workers=1)
    assert not result.is_complete and len(result.scores()) > 1, result
    network = lab.train("ntuple", rules="2x3", threads=1, seed=1, on_progress=interrupt)
    print("done", network)
"""


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such signal")
def test_ctrl_c_returns_what_there_is() -> None:
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(INTERRUPTED)], capture_output=True, text=True, check=False
    )
    assert done.stdout.startswith("done TrainedNetwork"), done.stderr
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_importing_the_library_imports_nothing_heavy() -> None:
    code = (
        "import sys, lab2048; dir(lab2048); print([m for m in ('numpy', 'numba', 'typer', 'rich') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_every_public_name_is_there() -> None:
    assert sorted(lab.__all__) == sorted(lab._HOME_OF)
    for name in lab.__all__:
        assert getattr(lab, name).__doc__, name
    with pytest.raises(AttributeError, match="nothing"):
        lab.nothing  # noqa: B018

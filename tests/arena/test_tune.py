"""Tuning: the same trials however often it is interrupted, honest seeds, and a file that plays as it was measured."""

import contextlib
import json
import os
import re
import shlex
import signal
import sqlite3
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import pytest

from lab2048.arena.executor.local import Pool
from lab2048.arena.match import Match
from lab2048.arena.tuning.parameter import make_space, with_matrix
from lab2048.arena.tuning.result import candidates, evaluate_tuning, recombine
from lab2048.arena.tuning.tune import Tuning
from lab2048.cli.app import run
from lab2048.errors import StoreError, UsageError
from lab2048.players import canonical_spec, make_player
from lab2048.players.evaluator import evaluator_names, make_evaluator
from lab2048.players.registry import spec_with
from lab2048.records.tuning_study import Trial, TuningStudy, study_path
from lab2048.rules import Board, Rules

BOARD = Rules.from_text("3x3", goal=64)
QUICK = ["--rules", "3x3", "--goal", "64", "--games", "3", "--fresh", "4", "--workers", "1"]


def tuning(evaluator: str = "rows", *, seed: int = 1, n_games: int = 3, names: tuple[str, ...] = ()) -> Tuning:
    return Tuning(BOARD, "greedy", make_evaluator(evaluator), seed, n_games, names=names, population=4)


def trials_of(study: TuningStudy) -> list[Trial]:
    return [study.trials[number] for number in sorted(study.trials)]


def tuned(path: Path, n_generations: int, *, workers: int = 1, end_after: int = -1) -> list[Trial]:
    it = tuning()
    study = TuningStudy(path, it.identity())
    with Pool(workers) as pool:
        for i, _ in enumerate(it.run(n_generations, pool, study)):
            if i == end_after:
                pool.stop()
    study.close()
    return trials_of(study)


def tune(words: list[str], capsys: pytest.CaptureFixture[str]) -> tuple[int, str, str]:
    code = run(["tune", *words])
    return code, *capsys.readouterr()


# Evaluators as text


@pytest.mark.parametrize("name", evaluator_names())
def test_an_evaluator_survives_being_written(name: str, tmp_path: Path) -> None:
    evaluator = make_evaluator(name)
    path = tmp_path / "written.toml"
    path.write_text(evaluator.to_toml(), encoding="utf-8")
    assert make_evaluator(str(path)) == evaluator
    inline = make_evaluator(evaluator.to_inline())
    assert inline.to_table() == evaluator.to_table()
    spec = spec_with("lookahead:depth=3", eval=evaluator.to_inline())
    assert canonical_spec(spec) == spec
    assert make_evaluator(getattr(make_player(spec), "eval")).to_table() == evaluator.to_table()  # noqa: B009


@pytest.mark.parametrize("text", ["{empty = 1", "{emty = 1}", "{empty = 'x'}", "{empty = nan}", "{} x", "{matrix = 1}"])
def test_a_bad_inline_evaluator_is_one_line(text: str) -> None:
    with pytest.raises(UsageError, match="evaluator"):
        make_evaluator(text)


# Knobs


LOST = "{empty = 2.7, monotone = -1, monotone_power = 1, smooth = -0.1, max = 0.001, lost = -1000}"


@pytest.mark.parametrize(
    ("evaluator", "names", "expected"),
    [
        ("rows", "", "empty sum merges monotone"),  # base, which a lost board lacks, stays
        ("rows", "empty,monotone_power,smooth", "empty monotone_power smooth"),
        ("snake", "", "ratio"),  # the scale alone changes no move
        ("{potential = 1, path = 'snake', scale = 40}", "", "potential ratio"),  # of two weights, the heavier one stays
        (LOST, "", "empty monotone smooth max"),  # lost stays
        (LOST, "empty,lost", "empty lost"),
        ("empty", "empty,merges", "merges"),
    ],
)
def test_what_is_tuned(evaluator: str, names: str, expected: str) -> None:
    space = tuning(evaluator, names=tuple(name for name in names.split(",") if name)).space
    assert [parameter.name for parameter in space.parameters] == expected.split()


@pytest.mark.parametrize("evaluator", ["rows", "order", "weighted-001"])
def test_knobs_at_zero_change_nothing(evaluator: str) -> None:
    space = tuning(evaluator).space
    assert (
        space.with_params({})
        == space.with_params({parameter.name: 0.0 for parameter in space.parameters})
        == make_evaluator(evaluator)
    )
    assert all(parameter.at(-3) != parameter.at(0) != parameter.at(3) for parameter in space.parameters)


def test_a_matrix_from_a_path_judges_the_same_and_has_a_knob_a_cell() -> None:
    rules = Rules.from_text("##x|###")
    snake = make_evaluator("snake")
    matrix = with_matrix(snake, rules.shape)
    board = Board.from_text("2 4 x / 8 16 32")
    assert matrix.value(board, rules) == pytest.approx(snake.value(board, rules), rel=1e-5)
    space = make_space(matrix, rules, [], [board])
    assert len(space.parameters) == rules.shape.n_cells - 1  # one stays, as the scale of all
    assert space.with_params({"matrix[1][2]": 1.0}).matrix[0] == matrix.matrix[0]
    assert space.with_params({"matrix[1][2]": 1.0}).matrix[1][2] > matrix.matrix[1][2]


def test_by_cell_the_start_of_the_comparison_is_the_evaluator_itself() -> None:
    snake = make_evaluator("snake")
    it = Tuning(BOARD, "greedy", snake, 1, 3, names=("empty",), is_by_cell=True)
    assert it.evaluator is snake
    assert it.space.evaluator.matrix
    assert [parameter.name for parameter in it.space.parameters][:2] == ["empty", "matrix[0][1]"]


def test_a_power_turns_around_a_pivot() -> None:
    """So that a higher power does not make its term heavier as well."""
    space = tuning(names=("monotone_power",)).space
    before, after = space.evaluator, space.with_params({"monotone_power": 1.0})
    term, power = 6, 7
    assert after.terms[power] > before.terms[power]
    at_pivot = [each.terms[term] * space.pivot ** each.terms[power] for each in (before, after)]
    assert at_pivot[0] == pytest.approx(at_pivot[1], rel=1e-4)


def test_a_weight_of_zero_moves_in_a_unit_that_matters() -> None:
    """Turned by one, a new term says about as much as a part of the evaluator does, not a millionth or a million."""
    space = tuning("snake", names=("merges",)).space
    [parameter] = space.parameters
    assert 0.1 < parameter.unit < 1000


# Trials


def test_resuming_gives_what_no_interruption_gives(tmp_path: Path) -> None:
    whole = tuned(tmp_path / "whole.sqlite", 4)
    assert len(whole) == 17
    assert whole[0].params == dict.fromkeys(whole[0].params, 0.0)
    path = tmp_path / "parts.sqlite"
    first = tuned(path, 4, end_after=6)
    assert first == whole[: len(first)]
    assert 6 < len(first) < 10
    assert tuned(path, 3, workers=2) == whole[:13]
    assert tuned(path, 4, workers=3) == whole


def test_a_study_is_known_by_what_decides_it(tmp_path: Path) -> None:
    path = tmp_path / "studies.sqlite"
    ids = {TuningStudy(path, it.identity()).id for it in (tuning(), tuning(), tuning(seed=2), tuning(n_games=4))}
    assert len(ids) == 3


def test_trials_of_a_generation_meet_the_same_dice_and_no_two_generations_do() -> None:
    it = tuning()
    seen = {
        (generation, batch.player): list(batch.numbers)
        for generation in (1, 2)
        for batch in it._batches(["a", "b"], generation, n_workers=1)
    }
    assert seen[1, "a"] == seen[1, "b"] == [0, 1, 2]
    assert seen[2, "a"] == seen[2, "b"] == [3, 4, 5]


def test_the_mean_leans_to_the_better_half() -> None:
    values = [(0.0, 5.0), (1.0, 4.0), (100.0, -1.0), (200.0, -2.0)]
    params = recombine([Trial(i, 1, {"x": x}, value, {}) for i, (x, value) in enumerate(values)])
    assert 0.0 < params["x"] < 0.5


def test_an_unfinished_generation_is_no_candidate(tmp_path: Path) -> None:
    trials = tuned(tmp_path / "x.sqlite", 2)
    assert len(candidates(tuning(), trials, 2)) == 1
    assert candidates(tuning(), trials[:4], 2) == {}
    assert candidates(tuning(), trials[:8], 2) == candidates(tuning(), trials, 1)


def test_tuning_finds_the_way_from_a_bad_start(tmp_path: Path) -> None:
    """A strength test with fixed seeds: empty cells judged far too low, and made good."""
    start = make_evaluator("{empty = 1, monotone = -47, monotone_power = 4, base = 200000, lost = 0}")
    it = Tuning(Rules.from_text("3x3"), "greedy", start, 1, 60, names=("empty", "merges", "sum"))
    study = TuningStudy(tmp_path / "study.sqlite", it.identity())
    with Pool(1) as pool:
        for _ in it.run(8, pool, study):
            pass
        result = evaluate_tuning(it, study, 8, 600, pool)
    study.close()
    assert result is not None
    assert result.gain.low > 0


# The command


def test_the_file_plays_as_it_was_measured(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "tuned.toml"
    words = ["rows", "--player", "greedy", "--trials", "8", *QUICK, "--out", str(out)]
    code, text, _ = tune([*words, "--json"], capsys)
    assert code == 0
    result = json.loads(text)
    assert result["toml"] == out.read_text(encoding="utf-8")
    assert result["evaluator"]["name"] == "rows-tuned"
    fresh = result["fresh"]
    specs = [canonical_spec(f"greedy:eval={name}") for name in ("rows", str(out))]
    match = Match(BOARD, specs, fresh["seed"], 4)
    with Pool(1) as pool:
        for _ in match.play(pool):
            pass
    assert [sum(s.scores) / 4 for s in match.results.values()] == [p["mean_score"] for p in fresh["players"]]
    # Again, and for people: all trials are found, and the file may be replaced because it is of the same study.
    code, text, err = tune(words, capsys)
    assert code == 0
    assert "9 of 9 trials found" in err
    assert "after - before" in text
    assert f"greedy:eval={out}" in text
    assert study_path().exists()
    # The printed command repeats the comparison: the same rules, seeds and figures.
    words = shlex.split(text.partition("repeat the comparison with ")[2])
    assert words[:2] == ["lab2048", "match"]
    assert run([*words[1:], "--json", "--workers", "1"]) == 0
    again = json.loads(capsys.readouterr().out)
    assert again["rules"] == fresh["rules"]
    assert [player["mean_score"] for player in again["players"]] == [
        player["mean_score"] for player in fresh["players"]
    ]


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["rwos"], "did you mean rows"),
        (["empty"], "nothing to tune"),
        (["rows", "--terms", "emtpy"], "did you mean empty"),
        (["rows", "--terms", "ratio"], "no path"),
        (["smooth", "--terms", "smooth_faces,lost"], "lost"),
        (["weighted-002"], "matrix"),  # it is for 4x4
        (["snake", "--terms", "matrix"], "--matrix"),
        (["rows", "--player", "random"], "no option eval"),
        (["rows", "--player", "greedy:eval=max"], "has the option eval"),
        (["rows", "--player", "expectimax:ms=5"], "has a time limit"),
        (["rows", "--objective", "scor"], "did you mean score"),
        (["rows", "--games", "0"], "games 0"),
        (["rows", "--trials", "0"], "trials 0"),
        (["rows", "--fresh", "1"], "fresh 1"),
        (["rows", "--population", "3"], "population 3"),
        (["rows", "--seed", "-1"], "seed -1"),
        (["rows", "--out", "tuned"], ".toml"),
        (["rows", "--out", "nowhere/tuned.toml"], "no folder"),
        (["rows", "--study", "nowhere/study.sqlite"], "no folder"),
    ],
)
def test_bad_words_are_one_line(words: list[str], reason: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = tune([*QUICK, *words], capsys)
    assert code in (2, 3)
    assert out == ""
    lines = [line for line in err.splitlines() if not line.startswith("compiling")]
    assert len(lines) == 1
    assert reason in lines[0]


def test_files_of_others_stay_as_they_are(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    mine, text, games = tmp_path / "mine.toml", tmp_path / "text.sqlite", tmp_path / "games2.sqlite"
    mine.write_text("[mine]\nempty = 1\n")
    text.write_text("a letter of mine, longer than the header of a database")
    with sqlite3.connect(games) as database:
        database.execute("CREATE TABLE games (id)")
    database.close()
    for words in (["--out", str(mine)], ["--study", str(text)], ["--study", str(games)]):
        before = {path: path.read_bytes() for path in (mine, text, games)}
        code, _, err = tune(["rows", "--player", "greedy", *QUICK, *words], capsys)
        assert code == 3
        assert len(err.splitlines()) == 1
        assert {path: path.read_bytes() for path in before} == before


def test_a_study_that_does_not_go_on_as_it_began_is_refused(tmp_path: Path) -> None:
    it = tuning()
    study = TuningStudy(tmp_path / "study.sqlite", it.identity())
    study.keep(Trial(0, 0, {parameter.name: 1.0 for parameter in it.space.parameters}, 1.0, {}))
    with Pool(1) as pool, pytest.raises(StoreError, match="cannot be continued"):
        list(it.run(1, pool, study))
    study.close()


@pytest.mark.parametrize("name", [signal.SIGINT, signal.SIGKILL], ids=str)
def test_stopped_in_the_middle_it_goes_on(name: signal.Signals, own_store: Path) -> None:
    command = [sys.executable, "-m", "lab2048", "tune", "rows", "--player", "greedy", *QUICK]
    environment = os.environ | {"LAB2048_STORE": str(own_store)}
    process = subprocess.Popen(
        [*command, "--trials", "100000"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    )
    path = own_store.with_name("tuning.sqlite")
    while n_kept(path) < 10:  # the start and a generation
        assert process.poll() is None, process.communicate()
        time.sleep(0.05)  # not to wait for it, but to leave the processor to it
    process.send_signal(name)
    out, err = process.communicate()
    assert "Traceback" not in err
    if name == signal.SIGINT:
        assert process.returncode == 130, err
        assert "the finished trials are saved; continue with lab2048 tune rows" in err
        shown = re.search(r"(\d+) trials, (\d+) complete generations, stopped\n +before +so far\n", out)
        assert shown, out
        compare = re.search(r"compare before and after with lab2048 (tune .*? --trials (\d+))", " ".join(err.split()))
        assert compare, err
        assert int(compare[2]) % int(shown[2]) == 0
        weights = tomllib.loads(out[out.index("[") :])
        assert weights
        words = shlex.split(compare[1])
        assert words.count("--trials") == 1
        done = subprocess.run([*command[:3], *words], capture_output=True, text=True, env=environment, check=True)
        assert "after - before" in done.stdout
    n = n_kept(path)
    done = subprocess.run([*command, "--trials", str(n)], capture_output=True, text=True, env=environment, check=True)
    found = re.search(r"(\d+) of (\d+) trials found", done.stderr)
    assert found
    assert int(found[1]) == n
    assert "after - before" in done.stdout
    assert n_kept(path) == int(found[2])


def n_kept(path: Path) -> int:
    """How many trials are in a study file; one that is not made yet has none."""
    try:
        database = sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)
    except sqlite3.OperationalError:
        return 0
    try:
        return int(database.execute("SELECT count(*) FROM trials WHERE state = 'COMPLETE'").fetchone()[0])
    except sqlite3.OperationalError:
        return 0
    finally:
        database.close()


def test_without_optuna_it_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "optuna", None)
    code, _, err = tune(["rows", "--player", "greedy", *QUICK], capsys)
    assert code == 2
    assert "this needs the extra 'tune'" in err


_INTERRUPTED = """
import os, sqlite3, sys
database = sqlite3.connect(sys.argv[1], isolation_level=None)
database.execute("PRAGMA cache_size = 1")
database.execute("BEGIN")
numbers = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 9999) SELECT i FROM n"
database.execute(f"CREATE TABLE unfinished AS {numbers}")
os._exit(9)
"""


def test_a_study_goes_on_after_a_crash_in_the_middle_of_a_transaction(tmp_path: Path) -> None:
    path = tmp_path / "study.sqlite"
    assert run(["tune", "rows", *QUICK, "--trials", "4", "--study", str(path)]) == 0
    subprocess.run([sys.executable, "-c", _INTERRUPTED, str(path)], check=False)
    assert path.with_name("study.sqlite-journal").stat().st_size > 0
    assert run(["tune", "rows", *QUICK, "--trials", "4", "--study", str(path)]) == 0


@pytest.mark.parametrize("table", ["", "trials", "version_info"])
def test_a_study_that_a_crash_left_without_tables_begins_again(tmp_path: Path, table: str) -> None:
    path = tmp_path / "study.sqlite"
    if table:
        assert run(["tune", "rows", *QUICK, "--trials", "4", "--study", str(path)]) == 0
    with contextlib.closing(sqlite3.connect(path)) as database:
        names = [name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        kept = names[: names.index(table)] if table else []
        dropped = [f"DROP TABLE {name};" for name in reversed(names) if name not in kept]
        emptied = [f"DELETE FROM {name};" for name in reversed(kept)]
        database.executescript("".join([*dropped, *emptied]) or "CREATE TABLE t (i); DROP TABLE t")
    assert run(["tune", "rows", *QUICK, "--trials", "4", "--study", str(path)]) == 0

"""Whatever can be known without compiling is said at once: nobody waits a minute to hear of a slip."""

from pathlib import Path

import pytest

from lab2048.cli.app import run
from lab2048.errors import LabError
from lab2048.players import fit_player
from lab2048.rules import Rules


@pytest.fixture(autouse=True)
def no_compiling(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fail if anything is made ready."""

    def fail(*_: object, **__: object) -> None:
        pytest.fail("kernels are made ready before everything is checked")

    # Those that hold it by name first: whoever is first loaded after it is replaced would keep what replaces it.
    for module in ("studies.run.runner", "envs.engine", "arena.compile"):
        monkeypatch.setattr(f"lab2048.{module}.prepare", fail)


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ("randm", "did you mean random?"),
        ("greedy:evla=snake", "did you mean eval?"),
        ("greedy:eval=snaek", "did you mean snake?"),
        ("greedy:eval=none.toml", "none.toml cannot be read"),
        ("greedy:eval=({emty = 1})", "did you mean empty?"),
        ("greedy:eval=({matrix = [[1, 2]]})", "has rows of [2] weights"),
        ("lookahead:depth=0", "expected 1 to 12"),
        ("lookahead:depth=two", "expected a whole number"),
        ("expectimax:mode=fsat", "did you mean fast?"),
        ("expectimax:ms=0", "expected above 0"),
        ("expectimax:deepen=yes", "unknown deepen 'yes'"),
        ("expectimax:threads=1000", "expected 1 to 64"),
        ("ntuple:weights=nope", "weights=nope cannot be read"),
        ("ntuple:top=100", "expected a tile"),
        ("ntuple:ms=-1", "expected above 0"),
        ("net", "expected weights=FILE"),
        ("c51:weights=nope", "there is no file nope"),
        ("first:order=xyz", "order=xyz is not understood"),
        (
            "optimal:table=nope",
            "there is no folder nope: expected the folder of a solved board, written by lab2048 solve",
        ),
        ("optimal:objective=foo", "unknown objective 'foo'"),
        ("shield:strategy=left-right", "has no corner"),
        ("shield:inner=(greedy:eval=snaek)", "did you mean snake?"),
        ("shield:inner=ntuple:weights=nope", "weights=nope cannot be read"),
    ],
)
def test_a_player_is_looked_at_before_anything_is_compiled(spec: str, says: str) -> None:
    with pytest.raises(LabError) as caught:
        fit_player(spec, Rules.from_text("4x4"))
    assert says in str(caught.value)


def test_a_network_of_another_shape_is_refused() -> None:
    with pytest.raises(LabError, match="was trained on 4x4: expected one for 3x3"):
        fit_player("ntuple", Rules.from_text("3x3"))


BOARD = "2 4 # #/# # # #/# # # #/# # # #"


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["match", "random", "greedy:eval=snaek"], "did you mean snake?"),
        (["match", "ntuple:weights=nope"], "weights=nope cannot be read"),
        (["match", "random", "--require", "maen>1"], "maen"),
        (["watch", "greedy:eval=snaek"], "did you mean snake?"),
        (["watch", "expectimax:depth=99"], "expected 1 to 12"),
        (["hint", BOARD, "--player", "ntuple:weights=nope"], "weights=nope cannot be read"),
        (["hint", BOARD, "--seed", "-1"], "seed -1 is out of range"),
        (["evaluate", "nope"], "there is no file nope"),
        (["tune", "snaek"], "did you mean snake?"),
        (["tune", "snake", "--terms", "emty"], "did you mean empty?"),
        (["tune", "snake", "--player", "lookahead:depth=99"], "expected 1 to 12"),
        (["tune", "snake", "--player", "random"], "player random has no option eval"),
        (["tune", "snake", "--objective", "scroe"], "did you mean score?"),
        (["tune", "snake", "--out", "result.txt"], "expected a name that ends in .toml"),
        (["tune", "snake", "--out", "nowhere/result.toml"], "there is no folder nowhere"),
        (["tune", "snake", "--study", "nowhere/study.sqlite"], "there is no folder nowhere"),
        (["tune", "snake", "--study", "file"], "file is not a study file"),
        (["solve", "2x2", "--objective", "wni"], "did you mean win?"),
        (["solve", "2x2", "--memory", "8Q"], "expected a size such as 8G"),
        (["solve", "2x2", "--out", "file"], "file is a file"),
        (["solve", "2x2", "--out", "full"], "full holds other files"),
        (["count", "2x2", "--goal", "100"], "goal 100 is not a tile"),
        (["perft", "8x8", "1", "--start", "6"], "too many first boards"),
        (["weights", "prune", "nope", "--out", "small"], "there is no file nope"),
        (["weights", "info", "file"], "file is not a complete safetensors file"),
        (["train", "ntuple", "--alpha", "99"], "alpha 99 is out of range"),
        (["train", "ntuple", "--resume", "--out", "file"], "file is not a complete safetensors file"),
        (["train", "distil", "--teacher", "greedy:eval=snaek"], "did you mean snake?"),
        (["study", "run", "own.toml"], "study own, row a: unknown evaluator 'snaek': did you mean snake?"),
        (["study", "run", "slip.toml"], "unknown player 'greedi': did you mean greedy?"),
    ],
)
def test_a_command_checks_before_it_compiles(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], says: str
) -> None:
    if "distil" in words:
        pytest.importorskip("torch")
    monkeypatch.chdir(tmp_path)
    Path("file").write_text("this is something else")
    Path("full").mkdir()
    Path("full/notes.txt").write_text("mine")
    row = '{id = "%s", title = "t", kind = "match", player = "%s", full = 2, figures = [{measure = "score"}]}'
    for name, player in (("own", "greedy:eval=snaek"), ("slip", "greedi")):
        rows = f"rows = [{row % ('z', 'random')}, {row % ('a', player)}]"
        Path(f"{name}.toml").write_text(f'title = "t"\nquestion = "q"\nsource = "s"\n{rows}\n')
    assert run(words) in (2, 3)
    captured = capsys.readouterr()
    assert says in captured.err
    assert captured.out == ""
    assert len(captured.err.splitlines()) == 1


def test_what_a_player_of_ones_own_checks_counts(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lab2048.players.registry._registered", {})
    file = tmp_path / "picky.py"
    file.write_text(
        "from dataclasses import dataclass\n"
        "from lab2048.players import Player, register\n"
        "@dataclass\n"
        "class Picky(Player):\n"
        "    '''Plays nothing.'''\n"
        "    def check(self, rules): raise ValueError('not today')\n"
        "    def choose(self, board): ...\n"
        "register('picky', Picky)\n"
    )
    assert run(["match", "picky", "--player-file", str(file)]) == 3
    assert f"player picky cannot play: {file}, line 6: ValueError: not today" in capsys.readouterr().err

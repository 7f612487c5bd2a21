"""Training methods are declared once: command line, page, TUI, studies and docs agree with the registry."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import typer
from training_page import PAGE, write_page
from web_server import serving

from lab2048.cli.app import make_app, run
from lab2048.cli.command_tree import children
from lab2048.errors import FileError, UsageError
from lab2048.extras import has_extra
from lab2048.learning import registry
from lab2048.learning.registry import METHODS, find_method, names
from lab2048.players.registry import options as player_options
from lab2048.rules import Rules
from lab2048.studies.reading import read_study
from lab2048.studies.result import ResultFolder
from lab2048.studies.run.runner import Runner
from lab2048.views.tui.forms import COMMAND_FORMS

COMMANDS = children(children(typer.main.get_command(make_app(["train"])))["train"])
# Options of a network that is trained in a moment.
SMALL: dict[str, dict[str, Any]] = {
    name: {"crowd": 8, "widths": "8,4,8", "trial_every": 0} if METHODS[name].is_deep else {"network": "rows"}
    for name in names()
}
SMALL["distil"]["teacher"] = "greedy"


@pytest.fixture(scope="module")
def offered(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    with serving(tmp_path_factory.mktemp("web")) as web:
        return {each["name"]: each for each in web.get("/api/trainings/options")["methods"]}


def skip_without_torch(name: str) -> None:
    if METHODS[name].why_not:
        pytest.skip(METHODS[name].why_not)


@pytest.mark.parametrize("name", names())
def test_the_command_line_is_made_from_the_registry(name: str) -> None:
    assert list(COMMANDS) == names()
    flags = {flag for each in COMMANDS[name].params for flag in (*each.opts, *each.secondary_opts)}
    texts = {each.name: each.help for each in COMMANDS[name].params}
    assert COMMANDS[name].help.startswith(METHODS[name].doc)
    for option in METHODS[name].config.options():
        assert f"--{option.flag}" in flags
        assert (f"--no-{option.flag}" in flags) == (option.kind is bool)
        assert texts[option.name].startswith(option.doc)


@pytest.mark.parametrize("name", names())
def test_the_page_is_made_from_the_registry(name: str, offered: dict[str, Any]) -> None:
    method, shown = METHODS[name], offered[name]
    assert list(offered) == names()
    assert (shown["title"], shown["doc"], shown["why_not"]) == (method.title, method.doc, method.why_not)
    known = [each for each in method.config.options() if method.is_deep or each.name != "network"]
    assert [each["name"] for each in shown["options"]] == [each.name for each in known]
    for data, option in zip(shown["options"], known, strict=True):
        found = (data["kind"], data["default"], data["doc"], data["low"], data["high"], tuple(data["known"]))
        assert found == (option.kind.__name__, option.default, option.doc, option.low, option.high, option.choices)


@pytest.mark.parametrize("name", names())
def test_classes_and_players_belong_together(name: str) -> None:
    method = METHODS[name]
    assert "weights" in player_options(method.player)
    assert 20 < len(method.doc) < 120
    for option in method.config.options():
        assert 5 < len(option.doc) < 130
        assert option.doc[0].isupper() or option.doc.startswith("c51")
        assert not option.doc.endswith(".")
        assert option.convert(option.default) == option.default
    skip_without_torch(name)
    if method.is_deep:
        training: Any = method.training()
        assert (training.method, training.config_class) == (name, method.config)


STUDY = """
title = "Learning"
question = "Does every method work?"
source = "Nobody."

[[rows]]
id = "learn"
title = "a small network"
kind = "train"
rules = "2x3"
player = "{player}:weights={{weights}}"
full = 3
train = {{ method = "{method}", options = {options}, full = 30 }}
figures = [{{ measure = "score" }}, {{ measure = "bytes" }}]
"""


def study(path: Path, method: str, **options: Any) -> ResultFolder:
    table = ", ".join(f"{key} = {value if isinstance(value, int) else repr(value)}" for key, value in options.items())
    player = METHODS[method].player if method in METHODS else "ntuple"
    path.write_text(STUDY.format(player=player, method=method, options=f"{{ {table} }}"))
    return ResultFolder(read_study(path), "full", 1, path.with_suffix(""))


@pytest.mark.parametrize("name", names())
def test_a_study_trains_by_every_method(name: str, tmp_path: Path) -> None:
    skip_without_torch(name)
    shelf = study(tmp_path / "every.toml", name, **SMALL[name])
    [(_, result)] = Runner(shelf, 1, say=lambda _: None, show=lambda _: None).run()
    assert result.skip_reason == ""
    assert len(result.games) == 3
    assert result.measured["bytes"].value > 0
    assert ("gradients" in result.measured) == METHODS[name].is_deep


@pytest.mark.parametrize(
    ("method", "options", "says"),
    [
        ("distill", {}, "row learn: unknown method 'distill': did you mean distil?"),
        ("distil", {"teacher": "gredy"}, "row learn: unknown player 'gredy'"),
        ("dqn", {"crowd": "many"}, "row learn: crowd 'many': expected a whole number"),
        ("ntuple", {"alfa": 1}, "row learn: unknown option 'alfa': did you mean alpha?"),
    ],
)
def test_a_wrong_training_is_refused_before_any_row_runs(
    method: str, options: dict[str, Any], says: str, tmp_path: Path
) -> None:
    shelf = study(tmp_path / "wrong.toml", method, **options)
    with pytest.raises(FileError, match=says):
        Runner(shelf, 1, say=lambda _: None, show=lambda _: None)


@pytest.mark.parametrize("name", names())
def test_the_size_of_a_checkpoint_is_known_before(name: str, tmp_path: Path) -> None:
    skip_without_torch(name)
    rules, path = Rules.from_text("3x3"), tmp_path / "network"
    config = METHODS[name].config.for_board(rules, **SMALL[name] | ({"widths": "64,32,64"} if name != "ntuple" else {}))
    training = METHODS[name].training().begin(config, rules, 1)
    for n_moves in (1, 20_000):
        for _ in training.run(n_moves=n_moves):
            pass
        training.save(path)
        expected = config.sizes(rules, training.n_moves, training.n_moves)[1]
        header = 8 + int.from_bytes(path.read_bytes()[:8], "little")  # with the curve; less than 100 kB
        n_bytes = path.stat().st_size - header
        if METHODS[name].is_deep:
            assert n_bytes == pytest.approx(expected, rel=0.01)
        else:  # weights that were not visited are left out, and cursors take up to 20 kB
            assert n_bytes <= expected + 20_000
        assert METHODS[name].config.read_checkpoint(path) == (rules, config)


def test_options_of_another_type_are_refused() -> None:
    config = find_method("ntuple").config
    assert config.parse({"alpha": 1, "truncate": 2.0, "restart": False}) == {
        "alpha": 1.0,
        "truncate": 2,
        "restart": False,
    }
    for wrong in ({"alpha": True}, {"alpha": "1"}, {"restart": 1}, {"network": 4}, {"truncate": 1.5}):
        with pytest.raises(UsageError, match="expected"):
            config.parse(wrong)


def test_nothing_heavy_is_imported_to_list_methods_or_to_show_help() -> None:
    code = (
        "import sys; from lab2048.cli.app import run; from lab2048.learning.registry import METHODS;"
        "[method.config.options() for method in METHODS.values()];"
        "run(['train', '--help']); run(['train', 'distil', '--help']); run(['train', 'ntuple', '--help']);"
        "print(*sorted({'torch', 'numba', 'numpy'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == ""


def test_a_new_method_is_one_file_and_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "slower.py").write_text(
        "from dataclasses import dataclass\n"
        "from lab2048.learning.config import option, with_default\n"
        "from lab2048.learning.ntuple_config import Config\n\n"
        "@dataclass(frozen=True)\n"
        "class SlowerConfig(Config):\n"
        "    alpha: float | None = with_default(Config, 'alpha', 0.5)\n"
        "    patience: int = option(3, 'How patient it is', low=1, high=5)\n\n"
        "def __getattr__(name: str) -> object:\n"
        "    from lab2048.learning.ntuple import Training\n"
        "    return Training\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    line = registry.Method(
        "slower", "slow", "Train slowly", "slower:SlowerConfig", "slower:Training", "ntuple", "", is_deep=False
    )
    monkeypatch.setitem(METHODS, "slower", line)
    from lab2048.cli.commands.train.command import make_command

    app = typer.Typer()
    app.command()(make_command(line))
    flags = [flag for each in typer.main.get_command(app).params for flag in each.opts]
    assert {"--patience", "--alpha", "--lambda"} <= set(flags)
    shelf = study(tmp_path / "new.toml", "slower", network="rows", patience=4)
    [(_, result)] = Runner(shelf, 1, say=lambda _: None, show=lambda _: None).run()
    assert len(result.games) == 3


def test_the_page_of_training_options_is_up_to_date() -> None:
    assert PAGE.read_text() == write_page(), "run: python tests/training_page.py"


@pytest.mark.skipif(not has_extra("deep"), reason="deep networks need torch")
def test_a_distilled_network_is_resumed_with_its_teacher(tmp_path: Path) -> None:
    out = str(tmp_path / "own")
    words = ["--rules", "2x3", "--teacher", "greedy", "--crowd", "8", "--widths", "8,4,8", "--trial-every", "0"]
    assert run(["train", "distil", "--out", out, "--moves", "100", *words]) == 0
    assert run(["train", "distil", "--out", out, "--moves", "200", "--resume"]) == 0


def test_the_form_of_the_terminal_offers_every_method() -> None:
    form = next(form for form in COMMAND_FORMS if form.name == "train")
    field = form.fields[0]
    assert field.name == "method"
    assert [field.default, *field.doc.removeprefix("or ").split("/")] == names()
    assert form.words({"method": "distil", "minutes": "1"}) == ["train", "distil", "--minutes", "1"]

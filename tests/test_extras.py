"""Packages by need: the core runs without any extra, and a missing one is one line that says what to run."""

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from lab2048.errors import MissingPackageError
from lab2048.extras import DISTRIBUTIONS, EXTRAS, has_extra, install_command, load, need

TOP = Path(__file__).parent.parent
PROJECT = tomllib.loads((TOP / "pyproject.toml").read_text())["project"]
OPTIONAL = sorted({package for extra in EXTRAS.values() for package in extra.packages})
WITHOUT = f"import sys; sys.modules.update(dict.fromkeys({OPTIONAL!r})); "  # importing one fails
BOARD = "2 2 # # / # # # 4"


@pytest.fixture
def no_extras(monkeypatch: pytest.MonkeyPatch) -> None:
    for package in OPTIONAL:
        monkeypatch.setitem(sys.modules, package, None)


def run_without(tmp_path: Path, *words: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    code = f"{WITHOUT}from lab2048.cli.app import run; sys.exit(run({list(words)!r}))"
    command = [sys.executable, "-c", code]
    return subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, input=stdin, check=False)


def names(requirements: list[str]) -> set[str]:
    return {re.split(r"[><=;\[ ]", text)[0].replace("-", "_") for text in requirements}


def test_the_table_of_extras_is_that_of_the_project() -> None:
    declared = {name: names(texts) for name, texts in PROJECT["optional-dependencies"].items() if name != "all"}
    installed = {name: {DISTRIBUTIONS.get(each, each) for each in extra.packages} for name, extra in EXTRAS.items()}
    assert declared == {name: {each.replace("-", "_") for each in packages} for name, packages in installed.items()}
    assert PROJECT["optional-dependencies"]["all"] == [f"lab2048[{','.join(EXTRAS)}]"]
    assert not names(PROJECT["dependencies"]) & set(OPTIONAL)


def test_the_core_brings_few_packages() -> None:
    done = subprocess.run([sys.executable, TOP / "benchmarks" / "install_size.py", "--check"], check=False)
    assert done.returncode == 0


@pytest.mark.usefixtures("no_extras")
@pytest.mark.parametrize("extra", EXTRAS)
def test_a_missing_extra_is_one_line_with_the_command(extra: str) -> None:
    assert not has_extra(extra)
    with pytest.raises(MissingPackageError) as caught:
        need(extra)
    line = str(caught.value)
    assert "\n" not in line
    assert caught.value.code == "package.missing"
    assert caught.value.hint == f"run: {install_command(extra)}"
    assert f'"lab2048[{extra}]"' in line
    assert all(package in line for package in EXTRAS[extra].packages)


@pytest.mark.usefixtures("no_extras")
def test_a_missing_module_names_its_package() -> None:
    with pytest.raises(MissingPackageError, match=r"missing: plotly; run: .* .lab2048\[app\]."):
        load("plotly.graph_objects")


def test_what_is_installed_is_loaded() -> None:
    assert load("plotly.graph_objects").Figure
    need("app")


def test_the_command_names_the_python_that_runs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "executable", str(tmp_path / ".venv" / "bin" / "python"))
    assert install_command("app") == f'{Path(".venv", "bin", "python")} -m pip install "lab2048[app]"'
    monkeypatch.setattr(sys, "executable", "/my lab/python")
    assert install_command("app") == '"/my lab/python" -m pip install "lab2048[app]"'


def test_on_linux_the_size_of_torch_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "linux")
    assert '-m pip install "lab2048[deep]" (on Linux, torch may bring several GB' in install_command("deep")
    assert '-m pip install "lab2048[sb3]" (on Linux, torch may bring several GB' in install_command("sb3")
    monkeypatch.setattr(sys, "platform", "darwin")
    assert install_command("deep").endswith('-m pip install "lab2048[deep]"')


@pytest.mark.parametrize(
    ("words", "extra"),
    [
        ([], "app"),
        (["serve", "--no-open"], "app"),
        (["tui"], "app"),
        (["tune", "rows", "--games", "2"], "tune"),
        (["train", "c51"], "deep"),
        (["train", "distil", "--teacher", "greedy"], "deep"),
        (["hint", BOARD, "--player", "net:weights=no.safetensors"], "deep"),
        (["match", "c51:weights=no.safetensors", "--games", "1"], "deep"),
    ],
)
def test_a_command_names_the_extra_it_needs(tmp_path: Path, words: list[str], extra: str) -> None:
    done = run_without(tmp_path, *words)
    assert done.returncode == 2, done.stderr
    assert f"lab2048: this needs the extra '{extra}'" in done.stderr.splitlines()[-1]


@pytest.mark.parametrize(
    ("words", "stdin"),
    [
        (["--help"], ""),
        (["hint", BOARD, "--player", "greedy"], ""),
        (["play", "--seed", "1"], "wasdq"),
        (["match", "random", "first", "--games", "2"], ""),
        (["solve", "2x2", "--goal", "8", "--out", "table"], ""),
        (["players"], ""),
        (["study", "list"], ""),
        (["doctor"], ""),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
def test_the_core_needs_no_extra(tmp_path: Path, own_store: Path, words: list[str], stdin: str) -> None:
    done = run_without(tmp_path, *words, stdin=stdin)
    assert done.returncode == 0, done.stderr
    assert done.stdout


def test_the_core_can_be_imported_without_extras() -> None:
    modules = [
        ".".join(path.relative_to(TOP / "src").with_suffix("").parts)
        for path in (TOP / "src").rglob("*.py")
        if not {"web", "tui", "jobs", "deep", "sb3.py", "__main__.py"} & set(path.parts)
    ]
    code = f"{WITHOUT}import importlib\nfor name in {sorted(modules)!r}: importlib.import_module(name)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("words", "extras"),
    [
        ([], "app"),
        (["serve", "--port", "8000"], "app"),
        (["tui", "--rules", "3x3"], "app"),
        (["serve", "--help"], ""),
        (["study", "report", "000-optimal", "--html", "x.html"], "app"),
        (["tune", "rows"], "tune"),
        (["train", "ntuple", "--minutes", "1"], ""),
        (["train"], ""),
        (["train", "c51", "--episodes", "10"], "deep"),
        (["match", "net:weights=a.safetensors", "random"], "deep"),
        (["hint", BOARD, "--player", "shield:inner=c51"], "deep"),
        (["match", "random", "--games", "10"], ""),
        (["table", "export", "table", "--out", "x.parquet"], "parquet"),
        (["table", "export", "table", "--to", "parquet"], "parquet"),
    ],
)
def test_script_run_installs_what_its_words_need(tmp_path: Path, words: list[str], extras: str) -> None:
    (tmp_path / "script").mkdir()
    (tmp_path / ".venv" / "bin").mkdir(parents=True)
    shutil.copy(TOP / "script" / "run", tmp_path / "script" / "run")
    for name, text in (("script/setup", 'echo "setup: $*"'), (".venv/bin/lab2048", 'printf "%s\\n" "$@"')):
        (tmp_path / name).write_text(f"#!/bin/sh\n{text}\n")
        (tmp_path / name).chmod(0o755)
    done = subprocess.run([tmp_path / "script" / "run", *words], capture_output=True, text=True, check=True)
    first, *passed = done.stdout.splitlines()
    assert first == f"setup: {extras}"
    ready = [] if {"--help", "-h", "--version", "help"} & set(words) else ["prepare"]  # once
    assert [word for word in passed if word] == [*ready, *words]
    again = subprocess.run([tmp_path / "script" / "run", *words], capture_output=True, text=True, check=True)
    assert [word for word in again.stdout.splitlines()[1:] if word] == words

"""Completion: what Tab offers, in words and in real shells."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import typer

from lab2048.cli.app import make_app, run
from lab2048.cli.command_tree import walk
from lab2048.cli.complete import complete
from lab2048.rules.rules import Spawner

ROOT = typer.main.get_command(make_app())


def offered(line: str) -> list[str]:
    """What is offered for the last word of a line; a space at its end begins a new one."""
    return [one.value for one in complete(ROOT, line.split(" "))]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("pla", ["play", "players"]),
        ("games re", ["replay"]),
        ("match --resu", ["--resume"]),
        ("match --no-k", ["--no-keep"]),
        ("match rand", ["random"]),
        ("match random firs", ["first"]),
        ("match --games 3 rand", ["random"]),
        ("match --json rand", ["random"]),
        ("match expectimax:thr", ["expectimax:threads="]),
        ("match expectimax:depth=2,ev", ["expectimax:depth=2,eval="]),
        ("match expectimax:depth=2,dee", ["expectimax:depth=2,deepen="]),
        ("match expectimax:eval=sn", ["expectimax:eval=snake"]),
        ("match expectimax:mode=", ["expectimax:mode=fast", "expectimax:mode=normal", "expectimax:mode=optimal"]),
        ("match montecarlo:metric=s", ["montecarlo:metric=score", "montecarlo:metric=sum"]),
        ("hint 4x4 --player mct", ["mcts"]),
        ("hint 4x4 --player=mct", ["--player=mcts"]),
        ("play --rules hex2", ["hex2"]),
        ("play --spawner wo", ["worst"]),
        ("solve 3x", ["3x3", "3x4", "3x5"]),
        ("tune row", ["rows", "rows-tuned"]),
        ("players sho", ["show"]),
        ("players show gree", ["greedy"]),
        ("players gree", ["greedy"]),
        ("completion z", ["zsh"]),
        ("config show ma", ["match."]),
        ("config show match.ga", ["match.games"]),
        ("config show train.n", ["train.ntuple."]),
        ("config show go", ["goal"]),
        ("table export x --to p", ["parquet"]),
        ("export-table x --to p", ["parquet"]),
        ("regret tables rand", ["random"]),
        ("regret tables random gree", ["greedy"]),
        ("games import ", [":files"]),
        ("match --store ", [":files"]),
        ("table verify ", [":folders"]),
        ("games show 1", []),  # there is no store
        ("match nobody:", []),
        ("perft 4x4 2 3", []),
        ("match -- --re", []),
        ("nonsense ", []),
    ],
)
def test_what_is_offered(line: str, expected: list[str]) -> None:
    assert offered(line) == expected


def test_games_are_offered_by_number(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["match", "random", "--games", "2", "--rules", "2x2"]) == 0
    found = complete(ROOT, ["games", "show", ""])
    assert [one.value for one in found] == ["2", "1"]
    assert (found[0].help or "").startswith("random on 2x2, score ")


def test_words_come_from_what_is_declared_and_not_from_help() -> None:
    root = typer.main.get_command(make_app(["match", "solve"]))
    for _, command in walk(root):
        for parameter in command.params:
            parameter.help = "One of these: apples, pears or plums."
    assert [one.value for one in complete(root, ["match", "--spawner", ""])] == [each.value for each in Spawner]
    assert [one.value for one in complete(root, ["solve", "--objective", ""])] == ["win", "score"]
    assert complete(root, ["match", "--seed", ""]) == []


def test_every_option_is_offered() -> None:
    for name in ("--rules", "--games", "--json", "--help", "--player-file"):
        assert name in offered("match --")


def test_completing_loads_nothing_heavy() -> None:
    code = (
        "import sys; sys.argv = ['lab2048', '__complete', '--', 'match', 'expectimax:']\n"
        "from lab2048.cli import main\n"
        "try: main()\nexcept SystemExit: pass\n"
        "print(*({'numba', 'rich', 'pydantic'} & set(sys.modules)), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr == "\n"
    assert "expectimax:depth=\tsearch depth in own moves" in done.stdout


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_scripts(capsys: pytest.CaptureFixture[str], shell: str) -> None:
    assert run(["completion", shell]) == 0
    script = capsys.readouterr().out
    assert "lab2048 completion for" in script
    if shutil.which(shell):
        subprocess.run([shell, "-n"], input=script, text=True, check=True)


def test_an_unknown_shell(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["completion", "bsh"]) == 2
    assert "did you mean bash?" in capsys.readouterr().err


@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash here")
@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("lab2048 match rand", "random"),
        ("lab2048 match expectimax:thr", "threads="),  # Bash has cut the word at the colon
        ("lab2048 match expectimax:depth=2,thr", "2,threads="),
        ("lab2048 games li", "list"),
    ],
)
def test_bash(capsys: pytest.CaptureFixture[str], tmp_path: Path, line: str, expected: str) -> None:
    assert run(["completion", "bash"]) == 0
    script = capsys.readouterr().out
    command = tmp_path / "lab2048"
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -m lab2048 "$@"\n')
    command.chmod(0o755)
    ask = f"COMP_LINE='{line}'; COMP_POINT={len(line)}; _lab2048; printf '%s\\n' \"${{COMPREPLY[@]}}\""
    done = subprocess.run(
        ["bash", "-c", f"{script}\n{ask}"],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"},
    )
    assert done.stdout.split() == [expected]

"""Files that specs name are found, and replaced by the paths of another machine."""

import pytest

from lab2048.players.spec_file import files_in, with_files


@pytest.mark.parametrize(
    ("spec", "text"),
    [
        ("ntuple:weights={},depth=1", "w.safetensors"),
        ("ntuple:weights={}", "w"),  # options that are paths need no ending
        ("optimal:table={}", "w"),
        ("greedy:eval={}", "w.toml"),
        ("shield:inner=(ntuple:weights={},depth=1),depth=2", "w.safetensors"),
    ],
)
def test_files_are_found_and_moved(spec, text, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / text).write_text("")
    assert files_in(spec.format(text)) == {text: tmp_path / text}
    assert with_files(spec.format(text), {str(tmp_path / text): "/there/w"}) == spec.format("/there/w")


def test_a_part_of_an_evaluator_file_stays(tmp_path):
    path = tmp_path / "own.toml"
    path.write_text("")
    assert with_files(f"greedy:eval={path}#mine", {str(path): "/there/own.toml"}) == "greedy:eval=/there/own.toml#mine"


@pytest.mark.parametrize(
    "spec", ["random", "first:order=as", "greedy:eval={empty = 1, lost = 0.5}", "ntuple:weights=no"]
)
def test_other_options_are_no_files(spec, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "as").write_text("")
    assert files_in(spec) == {}
    assert with_files(spec, {str(tmp_path / "as"): "/there"}) == spec

"""One damaged thing in the data folder: the server starts, lists it with its reason, deletes it, and all else works."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from trained import SMALL, train
from web_server import Web, process, serving

from lab2048.library.solve import solve
from lab2048.views.web.routes import design

DEEP = "[" * 100_000


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A data folder with good and damaged jobs, tables, trainings and checkpoints."""
    bad = {"schema": "lab2048/job-1", "id": "match-1", "kind": "tournament"}
    for name, text in (("match-1", json.dumps(bad)), ("solve-2", DEEP)):
        (tmp_path / "jobs" / name).mkdir(parents=True)
        (tmp_path / "jobs" / name / "job.json").write_text(text)
    solve("2x2", goal=16, out=tmp_path / "tables" / "good", workers=1)
    shutil.copytree(tmp_path / "tables" / "good", tmp_path / "tables" / "bad")
    manifest = tmp_path / "tables" / "bad" / "manifest.json"
    manifest.write_text(json.dumps(json.loads(manifest.read_text()) | {"value": float("nan")}))
    shutil.copytree(tmp_path / "tables" / "good", tmp_path / "tables" / "deep")
    (tmp_path / "tables" / "deep" / "manifest.json").write_text(DEEP)
    trainings = tmp_path / "trainings"
    trainings.mkdir()
    assert train(trainings / "good.safetensors", *SMALL, "--moves", "1000") == 0
    (trainings / "bad.safetensors").write_bytes(b"\xff" * 100)
    (trainings / "good@1.safetensors").write_bytes(b"")
    (trainings / "good.checkpoints.json").write_text(DEEP)
    return tmp_path


@pytest.fixture
def web(folder: Path) -> Iterator[Web]:
    with serving(folder) as web:
        yield web


def test_the_server_starts_and_lists_everything(web: Web) -> None:
    jobs = {job["id"]: job for job in web.get("/api/jobs")["jobs"]}
    assert {id_: job["state"] for id_, job in jobs.items()} == {"match-1": "damaged", "solve-2": "damaged"}
    assert all(job["message"] for job in jobs.values())
    tables = web.get("/api/tables")
    assert [table["name"] for table in tables["tables"]] == ["good"]
    assert {each["name"]: each["state"] for each in tables["others"]} == {"bad": "damaged", "deep": "damaged"}
    assert all(each["reason"] and each["bytes"] for each in tables["others"])
    trainings = web.get("/api/trainings")
    assert [training["name"] for training in trainings["trainings"]] == ["good"]
    assert [each["name"] for each in trainings["damaged"]] == ["bad"]
    shown = web.get("/api/trainings/good")
    assert [each["number"] for each in shown["checkpoints"]] == [0]
    assert [each["name"] for each in shown["damaged"]] == ["good@1"]
    assert web.get("/api/players?board=2x3")["players"]
    assert web.get("/api/studies")["studies"]
    assert "is damaged" in web.error("GET", "/api/matches/match-1")
    body = {"name": "bad", "rules": {"board": "2x3"}, "resume": True}
    assert "is damaged: delete it" in web.error("POST", "/api/trainings", body)


def test_what_is_damaged_can_be_deleted(web: Web, folder: Path) -> None:
    for path in (
        "/api/jobs/match-1",
        "/api/jobs/solve-2",
        "/api/tables/bad",
        "/api/tables/deep",
        "/api/trainings/good/checkpoints/1",
        "/api/trainings/bad",
    ):
        assert web.ask("DELETE", path)["deleted"]
    assert web.get("/api/jobs")["jobs"] == []
    assert web.get("/api/tables")["others"] == []
    assert web.get("/api/trainings")["damaged"] == []
    assert web.get("/api/trainings/good")["damaged"] == []
    assert [path.name for path in (folder / "tables").iterdir()] == ["good"]
    # Good tables are deleted in the same way.
    before = web.get("/api/tables")
    gone = web.ask("DELETE", "/api/tables/good")
    web.post(f"/api/trash/{gone['undo']}/restore")
    assert web.get("/api/tables") == before
    assert web.ask("DELETE", "/api/tables/good")["deleted"] == "good"
    assert web.get("/api/tables") == {"tables": [], "others": []}


def test_a_new_process_starts_with_damaged_jobs(folder: Path) -> None:
    (folder / "lab2048").mkdir()
    shutil.move(folder / "jobs", folder / "lab2048" / "jobs")
    with process(folder) as (_, web, _):
        assert len(web.get("/api/jobs")["jobs"]) == 2


def test_a_solve_that_does_not_fit_is_refused_unless_it_is_wanted_anyway(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving(tmp_path) as web:
        body = {"rules": {"board": "4x4", "goal": 2048}, "objective": "win"}
        assert "cannot be solved here" in web.error("POST", "/api/solves", body)
        monkeypatch.setattr(design, "free_bytes", lambda _: 10)
        small = {"rules": {"board": "2x2", "goal": 16}, "objective": "win"}
        assert "cannot be solved here" in web.error("POST", "/api/solves", small)
        job = web.post("/api/solves", small | {"anyway": True})
        assert web.wait_for(job["id"], "done", "failed")["state"] == "done"

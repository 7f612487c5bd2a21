"""Read studies from TOML files: the built-in ones in definitions/, or your own."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from lab2048.errors import FileError, LabError, UnknownNameError, nearest, reason_of, unknown
from lab2048.records.input_file import parse_toml, read_text
from lab2048.studies.measure import SIZES, Measure, Unit
from lab2048.studies.model import KINDS, SPAWN, Figure, Ranking, Row, Study, TrainingSpec
from lab2048.studies.published import Published
from lab2048.studies.run.trained_games import TRAINED, TURNED, UNAVAILABLE, WEIGHTS, is_trained

FOLDER = Path(__file__).parent / "definitions"
MAX_TRAININGS = 100
_STUDY = {
    "title": str, "question": str, "source": str, "assumptions": list, "every": dict, "rows": list, "rankings": list,
    "charts": list,
}  # fmt: skip
_RANKING = {"title": str, "by": str, "rules": str}
_ROW = {
    "id": str, "title": str, "kind": str, "rules": str, "goal": int, "player": str, "full": int, "quick": int,
    "test": int, "figures": list, "objective": str, "train": dict, "trainings": int, "tests_on": str, "note": str,
    "spawn": str, "other_method": str, "stop_at_goal": bool, "null_moves": bool,
}  # fmt: skip
_FIGURE = {
    "measure": str, "published": str, "samples": list, "where": str, "against": str, "differs": str, "games": int,
}  # fmt: skip
_TRAINING = {
    "method": str, "options": dict, "preset": str, "full": int, "quick": int, "test": int, "minutes": dict, "of": str,
}  # fmt: skip


_WORDS: Mapping[type, str] = {
    str: "a text",
    int: "a whole number",
    list: "a list",
    dict: "a table",
    bool: "true or false",
}


def study_names() -> list[str]:
    """Return the names of the built-in studies, sorted.

    >>> "all-players" in study_names()
    True
    """
    return sorted(path.stem for path in FOLDER.glob("*.toml"))


def load_study(name: str) -> Study:
    """Load a built-in study by name, or a FILE.toml; raise UsageError with a suggestion for an unknown name."""
    if name.endswith(".toml"):
        path = Path(name)
        if path.stem in study_names() and Path(os.path.realpath(path)).parent != FOLDER.resolve():
            raise FileError(
                f"study file {path} has the name of a built-in study; results are stored by name: expected another"
            )
        return read_study(path)
    if name not in study_names():
        raise UnknownNameError("study", name, study_names())
    return read_study(FOLDER / f"{name}.toml")


@cache
def read_study(path: Path) -> Study:
    """Read a file; raise FileError naming the invalid row and field."""
    try:
        data = parse_toml(read_text(path))
    except OSError as error:
        raise FileError(f"study file {path} cannot be read: {reason_of(error)}", code="file.unreadable") from None
    except ValueError as error:
        raise FileError(f"study file {path} is not valid TOML: {error}") from None
    where = f"study {path.stem}"
    _check(where, data, _STUDY, needed=("title", "question", "source", "rows"))
    if not data["rows"]:
        raise FileError(f"{where} has no rows: expected at least one")
    every = data.get("every", {})
    _check(f"{where}, every", every, _ROW)
    rows: list[Row] = []
    for row in data["rows"]:
        rows.append(_read_row(where, every | row if isinstance(row, dict) else row, rows))
    study = Study(
        path.stem,
        data["title"],
        data["question"],
        data["source"],
        tuple(data.get("assumptions", ())),
        tuple(rows),
        tuple(_read_ranking(where, ranking, rows) for ranking in data.get("rankings", ())),
        tuple(_read_chart(where, text, rows) for text in data.get("charts", ())),
    )
    _check_rows(where, study)
    return study


def _read_row(where: str, data: Any, before: Sequence[Row]) -> Row:
    where = f"{where}, row {data.get('id', '?') if isinstance(data, dict) else data}"
    _check(where, data, _ROW, needed=("id", "title", "kind", "figures"))
    kind = data["kind"]
    if kind not in KINDS:
        raise FileError(f"{where}: {unknown('kind', kind, KINDS)}")
    if (kind in ("match", "regret", "threads", "cache", "train")) != bool(data.get("player")):
        raise FileError(f"{where}: expected a player for kinds match, regret, threads, cache and train only")
    if data.get("player", "").startswith(TRAINED) and (kind != "train" or not is_trained(data["player"])):
        raise FileError(f"{where}: player {data['player']!r}: expected {TRAINED} or {TURNED}, in a row of kind train")
    if (kind == "train" and "train" not in data) or (kind not in ("train", "regret") and "train" in data):
        raise FileError(f"{where}: expected train = {{method = ...}} for rows of kind train or regret only")
    if WEIGHTS in data.get("player", "") and "train" not in data:
        raise FileError(f"{where}: player {data['player']!r}: {WEIGHTS} needs a row with train = {{...}}")
    if kind == "bound" and "spawn" in data:
        raise FileError(f"{where}: spawn: not allowed for kind bound, whose formula assumes that 2s and 4s spawn")
    try:
        row = Row(
            id=data["id"],
            title=data["title"],
            kind=kind,
            board=data.get("rules", "4x4"),
            goal=data.get("goal", 2048),
            player=data.get("player", ""),
            sizes={size: data[size] for size in SIZES if size in data},
            figures=tuple(_read_figure(where, figure) for figure in data["figures"]),
            objective=data.get("objective", "win"),
            training_spec=_read_training_spec(where, data["train"], before) if "train" in data else None,
            trainings=data.get("trainings", 1),
            tests_on=data.get("tests_on", ""),
            note=data.get("note", ""),
            spawn=data.get("spawn", SPAWN),
            other_method=data.get("other_method", ""),
            stop_at_goal=data.get("stop_at_goal", False),
            null_moves=data.get("null_moves", False),
        )
        if not 1 <= row.trainings <= MAX_TRAININGS:
            raise FileError(f"{where}: trainings {row.trainings}: expected 1 to {MAX_TRAININGS}")
        untold = [figure.measure.name for figure in row.figures if figure.measure.name in UNAVAILABLE]
        if is_trained(row.player) and untold:
            raise FileError(f"{where}: measure {untold[0]!r}: not available for vectorized games of {row.player}")
        if not is_trained(row.player) and any(figure.measure.name == "pairs" for figure in row.figures):
            raise FileError(f"{where}: measure 'pairs': only available for player {TRAINED}")
        for size in SIZES:
            row.rules(size)
            if row.amount(size) < 0:
                raise FileError(f"{where}: {size} is {row.amount(size)}: expected a number of games, 0 to skip")
            if row.training_spec and row.amount(size) and not row.training_spec.trains_at(size):
                raise FileError(f"{where}: size {size} plays games but has no training: expected both")
    except LabError as error:
        raise error if str(error).startswith(where) else FileError(f"{where}: {error}") from None
    return row


def _read_ranking(where: str, data: Any, rows: Sequence[Row]) -> Ranking:
    _check(f"{where}, rankings", data, _RANKING, needed=("title", "by"))
    ranking = Ranking(data["title"], _read_measure(f"{where}, rankings", data["by"]), data.get("rules", "4x4"))
    if not any(row.board == ranking.board and ranking.by in (each.measure for each in row.figures) for row in rows):
        raise FileError(f"{where}, ranking {ranking.title!r}: no row on {ranking.board} has the figure {data['by']}")
    return ranking


def _read_chart(where: str, text: Any, rows: Sequence[Row]) -> Measure:
    measure = _read_measure(f"{where}, charts", str(text))
    if not any(measure == figure.measure for row in rows for figure in row.figures):
        raise FileError(f"{where}, charts: no row has the figure {text}")
    return measure


def _read_measure(where: str, text: str) -> Measure:
    try:
        return Measure.from_text(text)
    except FileError as error:
        raise FileError(f"{where}: {error}") from None


def _read_figure(where: str, data: Any) -> Figure:
    _check(where, data, _FIGURE, needed=("measure",))
    if len({"published", "samples", "against"} & data.keys()) > 1:
        raise FileError(f"{where}: expected only one of published, samples and against")
    published = None
    if "published" in data:
        published = Published.from_text(data["published"])
    elif "samples" in data:
        if len(data["samples"]) < 2 or not all(type(number) in (int, float) for number in data["samples"]):
            raise FileError(f"{where}: expected at least two samples, all numbers")
        published = Published.from_samples(data["samples"])
    measure, games = Measure.from_text(data["measure"]), data.get("games", 0)
    if games and (games < 2 or "published" not in data or measure.meaning.unit is Unit.RATE):
        raise FileError(f"{where}: games is {games}: expected the number of games of a published mean, 2 or more")
    words = {name: data.get(name, "") for name in ("where", "against", "differs")}
    return Figure(measure, published, **words, games=games)


def _read_training_spec(where: str, data: Any, before: Sequence[Row]) -> TrainingSpec:
    if "of" in data:  # reuse the training of another row
        _check(f"{where}, train", data, {"of": str})
        known = {
            row.id: row.training_spec for row in before if row.training_spec is not None and not row.training_spec.of
        }
        if data["of"] not in known:
            raise FileError(f"{where}, train: of {data['of']!r}: expected an earlier row with a training of its own")
        return replace(known[data["of"]], of=data["of"])
    _check(f"{where}, train", data, _TRAINING, needed=("method",))
    _check(f"{where}, train, minutes", data.get("minutes", {}), dict.fromkeys(SIZES, int))
    games = {size: data[size] for size in SIZES if size in data}
    return TrainingSpec(data["method"], data.get("options", {}), data.get("preset", ""), games, data.get("minutes", {}))


def _check(where: str, data: Any, known: Mapping[str, type], needed: tuple[str, ...] = ()) -> None:
    """Raise FileError for a field that is unknown, has the wrong type or is missing."""
    if not isinstance(data, dict):
        raise FileError(f"{where} is {str(data)[:40]!r}: expected a table")
    for name, value in data.items():
        if name not in known:
            raise FileError(f"{where} has no field {name!r}: {nearest(name, known)}")
        if type(value) is not known[name]:
            raise FileError(f"{where}: {name} is {str(value)[:40]!r}: expected {_WORDS[known[name]]}")
    for name in needed:
        if name not in data:
            raise FileError(f"{where} has no {name}: expected one")


def _check_rows(where: str, study: Study) -> None:
    ids = [row.id for row in study.rows]
    for row in study.rows:
        if ids.count(row.id) > 1 or not row.id.replace("-", "").isalnum() or not row.id.isascii():
            raise FileError(f"{where}: row id {row.id!r}: expected letters, digits and -, each id once")
        for figure in row.figures:
            if figure.against == row.id:
                raise FileError(f"{where}, row {row.id}: against itself: expected another row")
            if figure.against and figure.against not in ids:
                raise FileError(f"{where}, row {row.id}: {unknown('row', figure.against, ids)}")

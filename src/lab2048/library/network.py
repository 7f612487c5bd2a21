"""Trained networks, and the files that hold them."""

import os
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lab2048.errors import FileError, UnknownNameError
from lab2048.learning.registry import Method, Training, player_of_head
from lab2048.library.match import MatchResult, match
from lab2048.library.player import ReadyPlayer, player
from lab2048.library.unsaved import delete_with, temporary_path
from lab2048.records.atomic_file import check_target
from lab2048.rules import Rules
from lab2048.views.disk_space import need_room
from lab2048.views.number import number

if TYPE_CHECKING:
    import pandas
    import plotly.graph_objects

_EXISTS = "pass resume=True to continue it, or force=True to replace it"


def check_out(out: Path, *, resume: bool, force: bool) -> None:
    """Raise FileError if the output file cannot be written or must not be replaced."""
    if not out.parent.is_dir():
        raise FileError(f"there is no folder {out.parent}: expected a file in an existing folder", field="out")
    if out.is_dir():
        raise FileError(f"{out} is a folder: expected the name of a file", field="out")
    if resume and not out.exists():
        raise FileError(f"there is no file {out} to resume: expected a checkpoint", field="resume")
    if out.exists() and not resume and not force:
        raise FileError(f"{out} exists already", code="checkpoint.exists", hint=_EXISTS)
    if not os.access(out.parent, os.W_OK):
        raise FileError(f"{out.parent} cannot be written: expected another folder", field="out")


class TrainedNetwork:
    """A trained network.

    >>> import lab2048 as lab
    >>> network = lab.train("ntuple", rules="2x2", moves=1000, threads=1, seed=1)
    >>> network.player_name, network.rules.board.to_text()
    ('ntuple', '2x2')
    """

    def __init__(self, method: Method | None, training: Training | None, path: Path | None) -> None:
        """Use `lab2048.train` or `lab2048.open_network`."""
        self._method, self._training, self.path = method, training, path
        self._is_saved = path is not None

    @property
    def rules(self) -> Rules:
        """Return the rules that it was trained on."""
        if self._training is not None:
            return self._training.rules
        return _read_header(self._file())[1]

    @property
    def player_name(self) -> str:
        """Return the name of the player that uses this kind of network."""
        return self._method.player if self._method is not None else _read_header(self._file())[0]

    def save(self, path: "str | Path", *, force: bool = False) -> Path:
        """Write the network to a file and return its path; `lab2048.train(..., resume=True)` continues from it.

        >>> import lab2048 as lab, tempfile, pathlib
        >>> network = lab.train("ntuple", rules="2x2", moves=1000, threads=1, seed=1)
        >>> network.save(pathlib.Path(tempfile.mkdtemp()) / "my.safetensors").name
        'my.safetensors'
        """
        target = Path(path)
        check_target(target, force=force)
        check_out(target, resume=False, force=True)
        if self._training is not None:
            self._training.save(target)
        else:
            target.write_bytes(self._file().read_bytes())
        self.path, self._is_saved = target, True
        return target

    def player(self, **options: Any) -> ReadyPlayer:
        """Return a player that uses this network, with options such as `depth` or `ms`.

        >>> import lab2048 as lab
        >>> network = lab.train("ntuple", rules="2x2", moves=1000, threads=1, seed=1)
        >>> len(network.player(depth=2).ask("2 2 / # 4").values)
        3
        """
        path = self._file()
        ready = player(self.player_name, weights=str(path), **options)
        ready.source = self  # keeps a temporary file as long as the player is used
        return ready

    def evaluate(self, games: int = 1000, *, depth: int | None = None, seed: int = 1, workers: int = 0) -> MatchResult:
        """Play games with the network, by the rules that it was trained on.

        >>> import lab2048 as lab
        >>> network = lab.train("ntuple", rules="2x2", moves=1000, threads=1, seed=1)
        >>> len(network.evaluate(games=10, depth=1).scores())
        10
        """
        chosen = {"depth": depth} if depth is not None else {}
        return match([self.player(**chosen)], rules=self.rules, games=games, seed=seed, workers=workers)

    def curve(self) -> "pandas.DataFrame":
        """Return the learning curve as a data frame: moves, seconds, mean score and rates.

        >>> import lab2048 as lab
        >>> network = lab.train("ntuple", rules="2x2", moves=1000, threads=1, seed=1)
        >>> int(network.curve()["n_moves"].iloc[-1]) >= 1000
        True
        """
        from lab2048.extras import load

        frame: pandas.DataFrame = load("pandas").json_normalize(self.points())
        return frame

    def points(self) -> list[dict[str, Any]]:
        """Return the learning curve as a list of dicts.

        >>> import lab2048 as lab
        >>> network = lab.train("ntuple", rules="2x2", moves=1000, threads=1, seed=1)
        >>> network.points()[-1]["n_moves"] >= 1000
        True
        """
        if self._training is not None:
            now = self._training.progress().to_json()
            points = list(self._training.curve)
            return points if points and points[-1]["n_moves"] == now["n_moves"] else [*points, now]
        training = _read_header(self._file())[2].get("training", {})
        return list(training.get("curve", []))

    def plot(self, kind: str = "score") -> "plotly.graph_objects.Figure":
        """Return a Plotly figure of the learning curve: "score", "tiles" or "learning".

        >>> import lab2048 as lab
        >>> network = lab.train("ntuple", rules="2x2", moves=1000, threads=1, seed=1)
        >>> len(network.plot("score").data) > 0
        True
        """
        from lab2048.views.charts import training_chart

        if kind not in ("score", "tiles", "learning"):
            raise UnknownNameError("chart", kind, ("score", "tiles", "learning"))
        return training_chart(kind, self.points()).to_figure()

    def _file(self) -> Path:
        """Return the file of the network; one that was never saved is written to a temporary folder."""
        if self.path is None:
            self.path = temporary_path("network.safetensors")
            delete_with(self, self.path)
            if self._training is not None:
                need_room(self.path, self._training.config.sizes(self.rules, self._training.n_moves)[0], advice="")
                self._training.save(self.path)
        return self.path

    def __repr__(self) -> str:
        name = self._method.name if self._method is not None else "network"
        where = f", {self.path}" if self._is_saved else ""
        if self._training is not None:
            now = self._training.progress()
            facts = f"{number(now.n_moves)} moves, mean score {number(now.mean)} of the last {now.n_last} games"
            return f"TrainedNetwork({name} on {self.rules.board.to_text()}: {facts}{where})"
        return f"TrainedNetwork({name} on {self.rules.board.to_text()}{where})"

    def _repr_html_(self) -> str:
        return f"<div>{escape(repr(self))}</div>"


def open_network(path: "str | Path") -> TrainedNetwork:
    """Open a network file written by `lab2048.train` or `lab2048 train`.

    >>> import lab2048 as lab, tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "my.safetensors"
    >>> network = lab.train("ntuple", rules="2x2", moves=1000, threads=1, seed=1, out=path)
    >>> lab.open_network(path).player_name
    'ntuple'
    """
    file = Path(path)
    _read_header(file)  # raises FileError if it is no network
    return TrainedNetwork(None, None, file)


def _read_header(path: Path) -> tuple[str, Rules, dict[str, Any]]:
    """Return the player that uses a network, the rules that it was trained on, and the facts of its training."""
    from lab2048.models.ntuple.file import is_deep, read_header

    if is_deep(path):
        from lab2048.models.deep.header import read_deep_header

        design, facts = read_deep_header(path)
        return player_of_head(design.head), design.rules, facts
    header = read_header(path)
    return "ntuple", header.design.rules, header.facts

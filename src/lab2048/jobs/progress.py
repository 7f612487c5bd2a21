"""The progress of a job: what the events of each kind of command mean."""

import contextlib
import json
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, ClassVar

from lab2048.errors import FileError
from lab2048.jobs.job import EVENTS, INTERRUPTED, LOG, Job
from lab2048.records.entry import Summary
from lab2048.rules import Rules

if TYPE_CHECKING:
    from lab2048.arena.match import Match

MAX_GAMES = 100_000  # per player of a match that are listed one by one: at most 5 MB
MAX_CURVE = 2000  # points of a learning curve; longer ones are thinned out
NamePlayer = Callable[[str], str]


class JobProgress:
    """Follows a job by the files of its folder; each kind of job has a subclass."""

    needs: ClassVar[dict[str, type]] = {}  # fields of the request
    options: ClassVar[tuple[str, ...]] = ("--jsonl",)  # make the command print events
    tells_all_again: ClassVar[bool] = False  # whether a resumed command prints all earlier events again

    def __init__(self, job: Job, name_player: NamePlayer) -> None:
        """Start at the beginning of the files; `name_player` turns a player's spec into the name that a view shows.

        Raises FileError if the request of the job has not what its kind needs.
        """
        for name, kind in self.needs.items():
            if not isinstance(job.request.get(name), kind):
                raise FileError(f"job.json is damaged: its request has no {name}")
        self.job, self.name_player = job, name_player
        self.event: dict[str, Any] = {}  # the last one that describes the whole job
        self.fraction: float | None = None  # from 0 to 1; None if unknown
        self.message = ""
        self.n_read = 0  # bytes of events
        self._n_log = 0  # bytes of log

    def read(self, event: dict[str, Any]) -> None:
        """Take one event into account."""

    def result(self) -> dict[str, Any] | None:
        """Return the most important results so far, or None if there are none."""
        return None

    @property
    def n_written(self) -> int:
        """Return the bytes of disk space that the job uses already."""
        n_bytes = self.event.get("bytes", 0)
        return n_bytes if isinstance(n_bytes, int) else 0

    def catch_up(self) -> bool:
        """Read what the command has written since the last call; return True if there was anything.

        Sets the progress and the message of an active job.  Until its first event the last line of the log is the
        message, such as that kernels are being compiled.
        """
        n_before = self.n_read, self._n_log
        for event in self._events(self.n_read):
            with contextlib.suppress(LookupError, TypeError, ValueError, ArithmeticError):  # a damaged line
                self.read(event)
        try:
            self._n_log = (self.job.folder / LOG).stat().st_size
        except OSError:
            self._n_log = 0
        if self._n_log != n_before[1] and not self.event and (lines := self.job.log(1)):
            # Files and keys, which are meant for a terminal, come after what it does.
            self.message = lines[-1].removeprefix("lab2048: ").partition("; ")[0]
        is_news = n_before != (self.n_read, self._n_log)
        if is_news and (self.job.is_active or self.job.state == INTERRUPTED):  # else its last message stays
            self.job.progress, self.job.message = self.fraction, self.message
        return is_news

    def _events(self, begin: int, end: int = -1) -> Iterator[dict[str, Any]]:
        """Read the events between two offsets, by default up to the last complete line, which moves `n_read`."""
        try:
            with (self.job.folder / EVENTS).open("rb") as file:
                file.seek(begin)
                text = file.read() if end < 0 else file.read(end - begin)
        except OSError:
            return
        size = text.rfind(b"\n") + 1  # the rest of the last line is still to come
        if end < 0:
            self.n_read = begin + size
        for line in text[:size].splitlines():
            try:
                event = json.loads(line)
            except (ValueError, RecursionError):
                continue
            if isinstance(event, dict) and isinstance(event.get("event"), str):
                yield event


class MatchProgress(JobProgress):
    """Follows a match; its single games are read only when `match` is asked for.

    Of a longer match only the first MAX_GAMES games per player are listed one by one, so that the file of events
    stays small.  Its results are of all games, and all games are in the store.
    """

    needs: ClassVar[dict[str, type]] = {"specs": list, "rules": dict, "seed": int, "games": int}
    options: ClassVar[tuple[str, ...]] = ("--jsonl", "--jsonl-games", str(MAX_GAMES))
    tells_all_again: ClassVar[bool] = True

    def __init__(self, job: Job, name_player: NamePlayer) -> None:
        super().__init__(job, name_player)
        specs = [str(spec) for spec in job.request["specs"]]
        # The command knows networks and tables by their paths, and a view shows them by name.
        self._names: dict[str, str] = dict(zip(specs, job.request.get("names") or map(name_player, specs), strict=True))
        self._match: Match | None = None
        self.fraction = 0.0

    def read(self, event: dict[str, Any]) -> None:
        """Count games, or note the state of the whole match."""
        if event["event"] == "games":
            if self._match is not None:
                self._add_games(self._match, event)
        elif "n_done" in event:
            self.event = event
            n_done, n_all = event["n_done"], event["n_all"]
            self.fraction, self.message = n_done / n_all, f"{n_done:,} of {_count(n_all, 'game')}"

    @property
    def match(self) -> "Match":
        """Return the match with the games so far, at most MAX_GAMES per player."""
        if self._match is None:
            from lab2048.arena.match import Match

            about = self.event or self.job.request
            n_games = about["n_all"] // len(self._names) if self.event else about["games"]
            options = dict(about["rules"])
            rules = Rules.from_text(options.pop("board"), **options)
            match = Match(rules, list(self._names.values()), about["seed"], n_games)
            for event in self._events(0, self.n_read):
                if event["event"] == "games":
                    with contextlib.suppress(LookupError, TypeError, ValueError):  # a damaged line
                        self._add_games(match, event)
            self._match = match
        return self._match

    def _add_games(self, match: "Match", event: dict[str, Any]) -> None:
        player_result = match.results.get(self._names.get(event.get("player", ""), ""))
        if player_result is not None:
            player_result.cpu_seconds += event["cpu_seconds"]
            player_result.games |= {game.number: game for game in (Summary(*facts) for facts in event["games"])}

    def to_json(self) -> dict[str, Any]:
        """Return the results as `lab2048 match --json` prints them, of all games, with players as a view names them."""
        match = self.match
        if match.n_games <= MAX_GAMES or not self.event:
            return match.to_json()
        about = {name: self.event[name] for name in match.to_json() if name in self.event}
        players = [each | {"player": self._name(each["player"])} for each in about["players"]]
        paired = [each | {"players": [self._name(name) for name in each["players"]]} for each in about["paired"]]
        return about | {"players": players, "paired": paired}

    def _name(self, spec: str) -> str:
        return self._names.get(spec, spec)

    def result(self) -> dict[str, Any] | None:
        """Return the mean score of each player with its interval."""
        if not self.event:
            return None
        names = ("games", "mean_score", "mean_score_ci95")
        players = self.event["players"]
        return {
            "players": [
                {"player": self._name(each["player"])} | {name: each.get(name) for name in names} for each in players
            ]
        }


class TrainingProgress(JobProgress):
    """Keeps the learning curve of a training."""

    def __init__(self, job: Job, name_player: NamePlayer) -> None:
        super().__init__(job, name_player)
        minutes = job.request.get("total_minutes")
        self._total_seconds = 60.0 * minutes if isinstance(minutes, int | float) else 0.0
        self._points: list[dict[str, Any]] = []
        self._stride, self._n_points = 1, 0
        self.fraction = 0.0

    def read(self, event: dict[str, Any]) -> None:
        """Add a point to the learning curve."""
        if event["event"] not in ("progress", "end") or "n_moves" not in event:
            return
        self.event = event
        if self._n_points % self._stride == 0:
            self._points.append(_point(event))
        if len(self._points) > MAX_CURVE:
            del self._points[1::2]
            self._stride *= 2
        self._n_points += 1
        self.fraction = min(1.0, event["seconds"] / self._total_seconds) if self._total_seconds else None
        mean = f"mean score {event['mean']:,.0f} (last {event['n_last']:,})" if event["n_last"] else "no game yet"
        pace = event["pace"]
        speed = f"{pace / 1e6:.2f} million moves/s" if pace >= 1e5 else f"{pace:,.0f} moves/s"
        size = f", {event['n_bytes'] / 1e6:,.1f} MB" if "n_bytes" in event else ""
        self.message = f"{_count(event['n_games'], 'game')}, {mean}, {speed}{size}"

    @property
    def curve(self) -> list[dict[str, Any]]:
        """Return the learning curve with its last point; a long one is thinned out evenly."""
        last = self.result()
        return self._points if last is None or self._points[-1] == last else [*self._points, last]

    def result(self) -> dict[str, Any] | None:
        """Return the last point of the learning curve."""
        return _point(self.event) if self.event else None


class SolveProgress(JobProgress):
    """Follows a solve, layer by layer, forward and then backward."""

    _RESULT = (
        "rules", "objective", "value", "loss_probability", "states", "afterstates", "layers", "seconds", "bytes"
    )  # fmt: skip

    def __init__(self, job: Job, name_player: NamePlayer) -> None:
        super().__init__(job, name_player)
        self.layers: dict[int, int] = {}  # number of states up to a tile sum, for the layers that had an event
        self.valued_from: int | None = None  # the lowest tile sum whose layer has its values
        self.fraction = 0.0

    def read(self, event: dict[str, Any]) -> None:
        """Note a layer, or the answer."""
        if event["event"] == "progress":
            self.event = event
            n_all = event["afterstates"]
            if event["phase"] == "forward":
                self.layers[event["tile_sum"]] = event["states"]
            else:
                self.layers[max([event["tile_sum"], *self.layers])] = event["states"]
                self.valued_from = event["tile_sum"]
            # The number of layers is unknown during the forward phase; the backward phase takes about as long.
            self.fraction = 0.5 + 0.5 * event["valued"] / n_all if event["n_all"] and n_all else None
            self.message = event["line"]
        elif event["event"] == "end":
            self.event = event
            what = "reached with probability" if event["objective"] == "win" else "expected score"
            self.message = f"{what} {event['value']:.9g}"
            self.valued_from = 0

    def result(self) -> dict[str, Any] | None:
        """Return the answer."""
        if self.event.get("event") != "end":
            return None
        return {name: self.event[name] for name in self._RESULT if name in self.event}


class StudyProgress(JobProgress):
    """Follows a study by its log, which names the row that runs."""

    options: ClassVar[tuple[str, ...]] = ()


KINDS: dict[str, type[JobProgress]] = {
    "match": MatchProgress,
    "train": TrainingProgress,
    "solve": SolveProgress,
    "study": StudyProgress,
}


def _point(event: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in event.items() if name not in ("event", "file")}


def _count(n: int, noun: str) -> str:
    return f"{n:,} {noun}{'' if n == 1 else 's'}"

"""Followers: what the events of each kind of job mean."""

from collections.abc import Callable
from typing import Any, ClassVar

from lab2048.jobs.job import Follower, Job
from lab2048.records.entry import Summary
from lab2048.rules import Rules

MAX_CURVE = 2000  # points of a training; then every other one is dropped


class MatchFollower(Follower):
    """Counts the games of a match as they end."""

    def __init__(self, job: Job, write: Callable[[str], str]) -> None:
        """The match that the job plays, with no game yet; `write` names a player as the page does."""
        from lab2048.arena.match import Match

        request = job.request
        options = dict(request["rules"])
        rules = Rules.from_text(options.pop("board"), **options)
        specs: list[str] = request["specs"]
        # Networks and tables are paths to the command, and names to whoever looks at its results.
        self.names = dict(zip(specs, request.get("names") or map(write, specs), strict=True))
        self.match = Match(rules, list(self.names.values()), request["seed"], request["games"])
        self.progress = 0.0

    def read(self, event: dict[str, Any]) -> None:
        """Games that have ended."""
        standing = self.match.standings.get(self.names.get(event.get("player", ""), ""))
        if event["event"] != "games" or standing is None:
            return
        standing.cpu_seconds += event["cpu_seconds"]
        for facts in event["games"]:
            game = Summary(*facts)
            standing.games[game.number] = game
        n_done = sum(len(each.games) for each in self.match.standings.values())
        n_all = self.match.n_games * len(self.match.players)
        self.progress, self.message = n_done / n_all, f"{n_done:,} of {_count(n_all, 'game')}"

    def result(self) -> dict[str, Any]:
        """Means and intervals."""
        names = ("player", "games", "mean_score", "mean_score_ci95")
        data = self.match.to_json()
        return {"players": [{name: player.get(name) for name in names} for player in data["players"]]}


class TrainFollower(Follower):
    """Keeps the curve of a training."""

    def __init__(self, job: Job) -> None:
        """Nothing is learnt yet."""
        self.seconds = 60.0 * float(job.request.get("total_minutes") or 0)
        self.curve: list[dict[str, Any]] = []
        self.progress = 0.0

    def read(self, event: dict[str, Any]) -> None:
        """A point of the curve."""
        if event["event"] not in ("progress", "end") or "n_moves" not in event:
            return
        self.curve.append({name: value for name, value in event.items() if name not in ("event", "file")})
        if len(self.curve) > MAX_CURVE:
            self.curve = self.curve[::2]
        self.progress = min(1.0, event["seconds"] / self.seconds) if self.seconds else None
        mean = f"mean score {event['mean']:,.0f} of the last {event['n_last']:,}" if event["n_last"] else "no game yet"
        pace = event["pace"]
        moves = f"{pace / 1e6:.2f} million moves" if pace >= 1e5 else _count(round(pace), "move")
        self.message = f"{_count(event['n_games'], 'game')}, {mean}, {moves} a second"

    def result(self) -> dict[str, Any] | None:
        """The last point."""
        return self.curve[-1] if self.curve else None


class SolveFollower(Follower):
    """Follows a solve forward and backward, layer by layer."""

    def __init__(self, job: Job) -> None:  # noqa: ARG002 - all followers are made alike
        """Nothing is solved yet."""
        self.progress = 0.0
        self.layers: dict[int, int] = {}  # states up to a tile sum, as far as it was told
        self.valued_from: int | None = None  # the tile sum from which on all layers are valued
        self._result: dict[str, Any] | None = None

    def read(self, event: dict[str, Any]) -> None:
        """A layer, or the end."""
        if event["event"] == "progress":
            n_all = event["afterstates"]
            if event["phase"] == "forward":
                self.layers[event["tile_sum"]] = event["states"]
            else:
                self.layers[max([event["tile_sum"], *self.layers])] = event["states"]
                self.valued_from = event["tile_sum"]
            # Forward, nobody knows how much is to come; backward is about as long.
            self.progress = 0.5 + 0.5 * event["valued"] / n_all if event["n_all"] and n_all else None
            self.message = event["line"]
        elif event["event"] == "end":
            names = (
                "rules",
                "objective",
                "value",
                "loss_probability",
                "states",
                "afterstates",
                "layers",
                "seconds",
                "bytes",
            )
            self._result = {name: event[name] for name in names if name in event}
            what = "reached with probability" if event["objective"] == "win" else "expected score"
            self.message = f"{what} {event['value']:.9g}"
            self.valued_from = 0

    def result(self) -> dict[str, Any] | None:
        """The answer."""
        return self._result


class StudyFollower(Follower):
    """A study says on standard error which row it is at."""

    reads_log: ClassVar[bool] = True

    def __init__(self, job: Job) -> None:
        """Nothing is known of it yet."""


def followers(write: Callable[[str], str]) -> dict[str, Callable[[Job], Follower]]:
    """Who follows each kind of job; `write` names a player as the page does."""
    return {
        "match": lambda job: MatchFollower(job, write),
        "train": TrainFollower,
        "solve": SolveFollower,
        "study": StudyFollower,
    }


def _count(n: int, noun: str) -> str:
    return f"{n:,} {noun}{'' if n == 1 else 's'}"

"""A job as text: its state in a few words, and its results so far as tables or curves."""

import math
from collections.abc import Sequence
from typing import Any

from rich.text import Text

from lab2048.arena.statistics import Interval
from lab2048.jobs.command_line import command_line
from lab2048.jobs.job import CANCELLED, DAMAGED, DONE, ENDING, FAILED, INTERRUPTED, Job
from lab2048.jobs.progress import JobProgress, MatchProgress, SolveProgress, TrainingProgress
from lab2048.learning.registry import METHODS
from lab2048.views.game_list import printable
from lab2048.views.match_table import rate_text, spread
from lab2048.views.number import duration, number
from lab2048.views.text import shortened
from lab2048.views.tui.widgets.chart import chart

_MAX_TILES = 6
_RATE = 26  # columns of the widest rate


def state_text(job: Job) -> str:
    """Say in a few words how far a job is, or how it ended."""
    if job.state == DONE:
        return "done"
    if job.state in (FAILED, DAMAGED):
        return f"{job.state}: {job.message}"
    if job.state == ENDING:
        return "stopping; press s again to stop at once"
    if job.state in (CANCELLED, INTERRUPTED):
        return f"stopped; {'finished work is saved' if job.resume_words else 'nothing is saved without a folder'}"
    return job.message or "starting"


def next_step(job: Job) -> str:
    """Say where the result of a job is and what can be done with it; empty if there is nothing to say."""
    if job.state == CANCELLED and job.resume_words:
        return f"continue it with: {command_line(job.resume_words)}"
    if job.state != DONE or "--out" not in job.words:
        return ""
    file = job.words[job.words.index("--out") + 1]
    if job.kind == "train":
        method = METHODS.get(job.words[1])
        player = method.player if method else "ntuple"
        return f"saved in {file}; let it play: Esc, Watch, player {player}:weights={file}"
    return f"saved in {file}"


def report(progress: JobProgress, columns: int, lines: int) -> Text:
    """Show the results so far in this many columns; a curve fills the lines that are left."""
    if progress.event and isinstance(progress, MatchProgress):
        return _match(progress.event, columns)
    if progress.event and isinstance(progress, TrainingProgress):
        return _training(progress, columns, lines)
    if progress.event and isinstance(progress, SolveProgress):
        return _solve(progress, columns, lines)
    return Text()


def _interval(value: float, ends: Sequence[float | None]) -> Interval:
    low, high = ends
    return Interval(value, -math.inf if low is None else low, math.inf if high is None else high)


def _match(event: dict[str, Any], columns: int) -> Text:
    players = event["players"]
    wide = max([6, *(len(player["player"]) for player in players)])
    wide = min(wide, max(9, columns - 61))
    head = f"{'player':<{wide}}{'games':>7}{'mean score':>20}{'median':>11}{'max':>11}{'moves/s':>12}"
    text = Text().append(f"{_fitting(head, columns, wide)}\n", "bold")
    for player in players:
        name = shortened(printable(player["player"]), wide)
        if not player["games"]:
            text.append(f"{name:<{wide}}{0:>7}\n")
            continue
        mean = spread(_interval(player["mean_score"], player["mean_score_ci95"]))
        pace = player["moves_per_second"]
        line = f"{name:<{wide}}{player['games']:>7,}{mean:>20}{number(player['median_score']):>11}"
        line += f"{number(player['max_score']):>11}{number(pace) if pace else '-':>12}"
        text.append(f"{_fitting(line, columns, wide)}\n")
    played = [player for player in players if player["games"]]
    n_across = max(1, (columns - 9) // _RATE)
    for i in range(0, len(played), n_across):
        text.append_text(_reached(played[i : i + n_across]))
    text.append("\n")
    for pair in event["paired"]:
        if pair["games"] > 1:
            a, b = pair["players"]
            gap = spread(_interval(pair["mean_difference"], pair["mean_difference_ci95"]))
            text.append(f"{printable(a)} - {printable(b)}: {gap} on {pair['games']} seeds")
            more = pair["games_to_decide"]
            text.append(f", not significant; about {number(more)} games would decide\n" if more else "\n")
    return text


def _fitting(line: str, columns: int, wide: int) -> str:
    """Cut a line after the last whole column that fits."""
    ends = [wide + end for end in (27, 38, 49, 61)]
    return line[: max([ends[0], *(end for end in ends if end <= columns)])]


def _reached(players: list[dict[str, Any]]) -> Text:
    """Show how often each of the highest tiles was reached."""
    text = Text(
        "\n" + f"{'reached':<9}" + "".join(f"{shortened(printable(p['player']), _RATE - 1):>{_RATE}}" for p in players),
        "bold",
    )
    tiles = [int(tile) for tile in players[0]["reached"]]
    seen = [t for t in tiles if any(p["reached"][str(t)]["rate"] for p in players)]
    first = max(0, tiles.index(seen[-1]) + 2 - _MAX_TILES) if seen else 0
    for tile in reversed(tiles[first : first + _MAX_TILES]):
        rates = [p["reached"][str(tile)] for p in players]
        cells = "".join(f"{rate_text(_interval(rate['rate'], rate['ci95'])):>{_RATE}}" for rate in rates)
        text.append(f"\n{tile:<9}{cells}", "not bold")
    return text.append("\n")


def _training(progress: TrainingProgress, columns: int, lines: int) -> Text:
    event = progress.event
    minutes, seconds = divmod(int(event["seconds"]), 60)
    moves, pace = event["n_moves"] / 1e6, event["pace"] / 1e6
    reached = "  ".join(f"{tile} {rate:.1%}" for tile, rate in event["rates"].items() if rate > 0) or "no 2048 yet"
    text = Text(f"{minutes}:{seconds:02}  {moves:,.1f} million moves, {pace:.2f} million per second, ")
    text.append(f"{event['n_games']:,} games\n")
    text.append(f"last {event['n_last']} games: mean score ").append(number(event["mean"] or 0), "bold")
    text.append(f" (best ever {number(event['best'])})  {reached}\n")
    if "loss" in event:  # a deep network
        text.append(f"loss {event['loss'] or 0:.4g}, {event['n_steps']:,} gradient steps\n\n", "dim")
    else:
        text.append(
            f"learning rate {event['learning_rate'] or 0:.4f}, mean error {event['error'] or 0:,.1f}\n\n", "dim"
        )
    points = [(point["n_moves"] / 1e6, point["mean"]) for point in progress.curve if point.get("mean")]
    curve = chart(points, columns, max(4, lines - 6), unit="million moves")
    if curve:
        text.append("mean score of the last games\n", "bold").append("\n".join(curve))
    return text


def _solve(progress: SolveProgress, columns: int, lines: int) -> Text:
    event = progress.event
    if event.get("event") == "end":
        return _solved(event)
    text = Text().append(f"{event['phase']}, tile sum {event['tile_sum']}, layer {event['n_layers']}", "bold")
    text.append(f" of {event['n_all']}\n" if event["n_all"] else "\n")
    text.append(f"{number(event['states'])} states, {number(event['afterstates'])} afterstates, ")
    text.append(f"{number(event['valued'])} valued, {number(event['bytes'] / 2**20)} MB on disk, ")
    text.append(f"{duration(event['seconds'])}\n\n")
    curve = chart(list(progress.layers.items()), columns, max(4, lines - 5), unit="tile sum")
    if curve:
        text.append("states found, layer by layer\n", "bold").append("\n".join(curve))
    return text


def _solved(event: dict[str, Any]) -> Text:
    rules = event["rules"]
    text = Text()
    if event["objective"] == "win":
        text.append(f"{rules['board']}, goal {rules['goal']}: reached with probability ")
        text.append(f"{event['value']:.12g}\n", "bold").append(f"missed with {event['loss_probability']:.12g}\n")
    else:
        text.append(f"{rules['board']}: expected score ").append(f"{event['value']:.12g}\n", "bold")
    text.append(f"{event['states']:,} states, {event['lost']:,} lost, {event['states_raw']:,} without symmetry\n")
    text.append(f"{event['afterstates']:,} afterstates, {event['won']:,} won, in {event['layers']} layers\n")
    text.append(f"{event['seconds']:.1f} s, {number(event['bytes'] / 2**20)} MB\n")
    return text.append(
        f"table in {event['table']}: the player optimal:table={event['table']} plays by it\n" if event["table"] else ""
    )

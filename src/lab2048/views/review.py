"""Reviews as lines of text, for terminals."""

from collections.abc import Callable
from itertools import chain

from lab2048.arena.review.grade import FAULTS, Grade
from lab2048.arena.review.ledger import Entry
from lab2048.arena.review.review import Review
from lab2048.rules.move import move_name
from lab2048.views.number import number


def describe(found: Review) -> list[str]:
    """Return a review as lines of text."""
    ledger, say = found.ledger, amounts(found.unit)
    grades = ", ".join(f"{counted(grade, ledger.count(grade))}{grade.sign and f' ({grade.sign})'}" for grade in Grade)
    end = "" if found.game.is_over else ", with the value of the last board: the game is not over"
    lines = [
        f"reviewed by {found.reviewer}: accuracy {ledger.accuracy:.2f}%, {say(ledger.error_rate)} lost per 1,000 moves",
        f"{len(ledger.entries):,} moves: {grades}",
        *(
            [
                " ".join(["new tiles:", *(f"{each.tile} at move {each.move:,}," for each in found.milestones()[-6:])])[
                    :-1
                ]
            ]
            if found.milestones()
            else []
        ),
        "",
        f"  value at the start  {say(ledger.initial_value):>14}",
        f"  luck                {say(ledger.luck, signed=True):>14}   what the spawns gave",
        f"  skill               {say(ledger.skill, signed=True):>14}   what the moves lost",
        f"  drift               {say(ledger.drift, signed=True):>14}   what the reviewer changed its mind by",
        f"  result              {say(ledger.final_value):>14}   {say(ledger.adjusted_score)} without luck{end}",
    ]
    phases = list(found.phases())
    if len(phases) > 1:
        lines += ["", f"  {'phase':<22}{'moves':>8}{'accuracy':>10}{'luck':>12}{'skill':>12}"]
        lines += [
            f"  {each.name:<22}{len(each.ledger.entries):>8,}{each.ledger.accuracy:>9.2f}%"
            f"{say(each.ledger.luck, signed=True):>12}{say(each.ledger.skill, signed=True):>12}"
            for each in phases
        ]
    for title, entries, figure in (
        ("Costliest moves", found.worst_moves, _moment),
        ("Luckiest spawns", found.luckiest, _spawn),
        ("Unluckiest spawns", found.unluckiest, _spawn),
    ):
        if entries:
            lines += ["", f"{title}:", *(f"  {figure(found, entry, say)}" for entry in entries)]
    return lines


def counted(grade: Grade, n: int) -> str:
    """Return how many moves of a grade there are.

    >>> counted(Grade.BLUNDER, 1), counted(Grade.INACCURACY, 1200), counted(Grade.BEST, 2)
    ('1 blunder', '1,200 inaccuracies', '2 best')
    """
    word = grade.value
    if n != 1 and grade in FAULTS:
        word = f"{word[:-1]}ies" if word.endswith("y") else f"{word}s"
    return f"{n:,} {word}"


def amounts(unit: str) -> Callable[..., str]:
    def say(amount: float, *, signed: bool = False) -> str:
        text = f"{100 * amount:+.4g}%" if unit == "chance" else f"{amount:+,.0f}"
        return text if signed else text.lstrip("+")

    return say


def _moment(found: Review, entry: Entry, say: Callable[..., str]) -> str:
    made, best = f"{move_name(entry.turn.move)}{entry.grade.sign}", found.name(entry.best)
    return f"move {entry.turn.number:,}: {made} loses {say(entry.loss)}; {best} is better"


def _spawn(found: Review, entry: Entry, say: Callable[..., str]) -> str:
    cell, rank = entry.turn.spawn
    shape = found.game.rules.shape
    name = dict(zip(chain(*shape.rows), chain(*shape.names), strict=True))[cell]
    return f"after move {entry.turn.number:,}: {number(2**rank)} in {name}, {say(entry.luck, signed=True)}"

"""Check the facts in the header of a network: how it was trained, and how it was changed since."""

from collections.abc import Callable, Mapping
from typing import Any

_COUNT = 2**63  # above every count of moves and games
_PARTS = ("rates", "pairs", "more")  # figures of a point that have one part per tile or name
_EXPECTED: dict[type, str] = {dict: "an object", list: "a list", str: "text"}
_SCALAR = str | int | float | None


def check_facts(facts: Any) -> dict[str, Any]:
    """Return the facts of a network; raise ValueError if a reader of lab2048 could not show them.

    Older versions wrote fewer facts, so all may be missing, but what is there has its type.
    """
    _need("facts", facts, dict)
    for change in _need("changes", facts.get("changes", []), list):
        _need("changes", change, dict)
    training = facts.get("training")
    if training is not None:
        _check_training(training)
    return dict(facts)


def _check_training(training: Any) -> None:
    _need("training", training, dict)
    _check_each("training", training, dict.fromkeys(("n_moves", "n_games", "next_trial"), _is_count), ())
    _check_each("training", training, dict.fromkeys(("seconds", "best"), _is_size), ())
    _need("method", training.get("method", ""), str)
    for name, value in _need("config", training.get("config", {}), dict).items():
        if not isinstance(value, _SCALAR):
            raise ValueError(f"option {name[:40]} is {str(value)[:40]}")
    for session in _need("sessions", training.get("sessions", []), list):
        _need("sessions", session, dict)
    for point in _need("curve", training.get("curve", []), list):
        _check_point("curve", point, ("n_games", "n_moves", "mean", "seconds"))
    for trial in _need("trials", training.get("trials", []), list):
        _check_trial(trial)


def _check_point(where: str, point: Any, needed: tuple[str, ...]) -> None:
    """Check a point of the learning curve."""
    _check_each(where, _need(where, point, dict), {"n_games": _is_count, "n_moves": _is_count}, needed)
    for name, value in point.items():
        if name in _PARTS:
            if not all(_is_figure(part) for part in _need(name, value, dict).values()):
                raise ValueError(f"{name} of a point of {where} has a part that is not a number")
        elif name == "trial":
            if value is not None:
                _check_trial(value)
        elif not _is_number(value):
            raise ValueError(f"{name[:40]} of a point of {where} is {str(value)[:40]}")


def _check_trial(trial: Any) -> None:
    """Check an evaluation: its rates have intervals."""
    _check_point("trials", trial, ("n", "n_games", "n_moves", "mean", "mean_low", "mean_high", "rates"))
    if not all(isinstance(rate, list) for rate in trial["rates"].values()):
        raise ValueError("rates of an evaluation have no intervals")


def _check_each(
    where: str, data: Mapping[str, Any], checks: Mapping[str, Callable[[Any], bool]], needed: tuple[str, ...]
) -> None:
    for name in needed:
        if name not in data:
            raise ValueError(f"{where} has no {name}")
    for name, is_right in checks.items():
        if name in data and not is_right(data[name]):
            raise ValueError(f"{name} of {where} is {str(data[name])[:40]}")


def _need(name: str, value: Any, kind: type) -> Any:
    if type(value) is not kind:
        raise ValueError(f"{name} is {str(value)[:40]!r}: expected {_EXPECTED[kind]}")
    return value


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e300


def _is_count(value: Any) -> bool:
    return type(value) is int and 0 <= value < _COUNT


def _is_size(value: Any) -> bool:
    return _is_number(value) and value >= 0


def _is_figure(value: Any) -> bool:
    """Return True for a number, or a number with its interval."""
    if isinstance(value, list):
        return len(value) == 3 and all(map(_is_number, value))
    return _is_number(value)

"""Strict JSON and TOML: what could not be written again, or overflows, is refused."""

import pytest

from lab2048.records.input_file import MAX_NESTING, parse_json, parse_toml

WRONG_JSON = [
    ("1e400", "too large"),
    ("[-1e400]", "too large"),
    ("NaN", "not valid JSON"),
    ("-Infinity", "not valid JSON"),
    ("9" * 5000, "too large"),
    (str(-(2**256)), "too large"),
    ('{"a": 1, "a": 2}', "'a' occurs twice"),
    ('"\\ud800"', "half a character"),
    ("[" * 100_000, "nested too deeply"),
    ('{"a":' * 100_000, "nested too deeply"),
    ("[" * (MAX_NESTING + 1) + "]" * (MAX_NESTING + 1), "nested too deeply"),
    ("", "Expecting value"),
]


@pytest.mark.parametrize(("text", "says"), WRONG_JSON, ids=[text[:20] for text, _ in WRONG_JSON])
def test_json_that_is_refused(text: str, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        parse_json(text)


def test_json_that_is_read() -> None:
    text = '{"a": [1, -2.5, null, true, "\\ud83d\\ude00"], "b": ' + "[" * 40 + "]" * 40 + "}"
    assert parse_json(text)["a"] == [1, -2.5, None, True, "\U0001f600"]
    assert parse_json(str(2**128)) == 2**128
    assert parse_json("[Infinity, 1e400]", accept_infinite=True) == [float("inf")] * 2


@pytest.mark.parametrize("value", ["inf", "nan", "1e400", "9" * 100, "9" * 5000, "[" * 3000, "[" * 60 + "]" * 60])
def test_toml_that_is_refused(value: str) -> None:
    with pytest.raises(ValueError):
        parse_toml(f"a = {value}")
    assert parse_toml("a = 1e300") == {"a": 1e300}

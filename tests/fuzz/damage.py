"""Ways to damage a file: bits, bytes, structure, and facts replaced by hostile values.

Each takes the bytes of a valid file and a generator of random numbers, and returns the bytes of a damaged one.
"""

import json
import re
from collections.abc import Callable
from random import Random
from typing import Any

HOSTILE: tuple[Any, ...] = (
    None, True, False, 0, 1, -1, 2, 7, 0.5, -0.0, 1e308, -1e308, 2**31, 2**40, 2**53, 2**63, 2**64, -(2**63), 10**90,
    "", "x", "0", "nan", "1e400", "\x00", "\x1b[2J", "ü" * 50, "../../etc/passwd", "x" * 5000, "4x4", "99x99", "2:nan",
    [], {}, [[]], [None], {"": None}, [1, 2, 3], {"a": 1}, ["x"] * 100,
)  # fmt: skip
RAW = (b"NaN", b"Infinity", b"-Infinity", b"1e400", b"-1e400", b"9" * 5000, b'"\\ud800"', b"[" * 3000, b'{"a":' * 3000)
WORDS = (0, 1, 2, 255, 2**15, 2**16, 2**31 - 1, 2**32, 2**40, 2**53, 2**62, 2**63 - 1, 2**63, 2**64 - 1)
FLOATS = ("nan", "inf", "-inf", "3e38", "-3e38", "1e-45", "1e20")

Damage = Callable[[bytes, Random], bytes]


def flip_bits(data: bytes, random: Random) -> bytes:
    changed = bytearray(data)
    for _ in range(random.choice((1, 1, 2, 8, 64))):
        if changed:
            changed[random.randrange(len(changed))] ^= 1 << random.randrange(8)
    return bytes(changed)


def set_bytes(data: bytes, random: Random) -> bytes:
    if not data:
        return b"\xff"
    place, n = random.randrange(len(data)), random.choice((1, 2, 4, 8, 32))
    return data[:place] + random.choice((b"\0", b"\xff", bytes([random.randrange(256)]))) * n + data[place + n :]


def set_word(data: bytes, random: Random) -> bytes:
    """Replace eight bytes by a number that kernels could stumble over."""
    place = 8 * random.randrange(max(1, len(data) // 8))
    return data[:place] + random.choice(WORDS).to_bytes(8, "little") + data[place + 8 :]


def truncate(data: bytes, random: Random) -> bytes:
    return data[: random.choice((0, 1, 7, random.randrange(len(data) + 1), max(0, len(data) - 1)))]


def splice(data: bytes, random: Random) -> bytes:
    """Copy, move or repeat a part."""
    a, b, c = sorted(random.randrange(len(data) + 1) for _ in range(3))
    kinds = (data[:a] + data[b:], data[:b] + data[a:], data[:a] + data[b:c] + data[a:b] + data[c:], data + data[a:b])
    return random.choice(kinds)


def change_json(data: bytes, random: Random) -> bytes:
    """Damage one JSON value of a text file of JSON, or of JSON lines."""
    lines = data.splitlines(keepends=True) if data.count(b"\n{") else [data]
    if not lines:
        return b"{}"
    i = random.randrange(len(lines))
    try:
        lines[i] = _changed_json(lines[i], random) + (b"\n" if lines[i].endswith(b"\n") else b"")
    except (ValueError, RecursionError):
        return flip_bits(data, random)
    return b"".join(lines)


def change_header(data: bytes, random: Random) -> bytes:
    """Damage one fact in the header of a safetensors file: of a tensor, or of the JSON in its metadata."""
    size = int.from_bytes(data[:8], "little")
    try:
        header = json.loads(data[8 : 8 + size])
        metadata = header["__metadata__"]
        if random.random() < 0.8:
            name = random.choice(sorted(metadata))
            metadata[name] = _changed_json(metadata[name].encode(), random).decode("utf-8", "surrogatepass")
            text = json.dumps(header).encode()
        else:
            text = _changed_json(json.dumps(header).encode(), random)
    except (ValueError, KeyError, TypeError, RecursionError):
        return flip_bits(data, random)
    text += b" " * (-len(text) % 8)
    return len(text).to_bytes(8, "little") + text + data[8 + size :]


def change_tensor(data: bytes, random: Random) -> bytes:
    """Replace numbers of one tensor of a safetensors file by hostile ones of its type."""
    import numpy as np

    size = int.from_bytes(data[:8], "little")
    try:
        header = json.loads(data[8 : 8 + size])
        name = random.choice(sorted(name for name in header if name != "__metadata__"))
        begin, end = (8 + size + place for place in header[name]["data_offsets"])
        kind = {"F32": "<f4", "F64": "<f8", "U64": "<u8", "I64": "<i8", "I16": "<i2"}.get(header[name]["dtype"], "u1")
    except (ValueError, KeyError, TypeError, IndexError):
        return flip_bits(data, random)
    numbers = np.frombuffer(data[begin:end], kind).copy()
    for _ in range(random.choice((1, 1, 3, 100))):
        if not len(numbers):
            break
        place = random.choice((random.randrange(len(numbers)), random.randrange(min(10, len(numbers)))))
        if kind.startswith("<f"):
            numbers[place] = float(random.choice(FLOATS))
        else:
            word = random.choice(WORDS)
            numbers[place] = np.uint64(word).astype(kind)
    return data[:begin] + numbers.tobytes() + data[end:]


def change_toml(data: bytes, random: Random) -> bytes:
    """Replace the value of one key, or repeat, drop or rename a line."""
    lines = data.decode("utf-8", "replace").splitlines()
    if not lines:
        return b"a = 1"
    i = random.randrange(len(lines))
    key, equals, value = lines[i].partition("=")
    kind = random.randrange(5)
    if kind < 3 and equals:
        values = (
            "inf",
            "nan",
            "1e400",
            "-1",
            "0",
            '""',
            "'x'",
            "[]",
            "{}",
            "true",
            "9" * 5000,
            "2020-01-01",
            "[" * 3000,
        )
        values += (
            "1e300",
            "-1e300",
            "[[1, 2], [3, inf]]",
            "{measure = 7}",
            '"' + "9" * 5000 + '"',
            '"²"',
            "[[[]]]",
            "99",
        )
        lines[i] = f"{key}= {random.choice(values)}"
    elif kind == 3:
        lines.insert(i, lines[random.randrange(len(lines))])
    elif equals and value:
        part = random.choice(re.findall(r"\w+", lines[i]) or ["x"])
        lines[i] = lines[i].replace(part, random.choice(("x", "", "99", "-1", "'", "é", "1e999", part * 2)))
    else:
        del lines[i]
    return "\n".join(lines).encode()


BYTES: tuple[Damage, ...] = (flip_bits, set_bytes, set_word, truncate, splice)


def damages_for(name: str) -> tuple[Damage, ...]:
    """Return the ways to damage a file of this name: bytes, and two times as often its structure."""
    if name.endswith((".json", ".jsonl")):
        own: tuple[Damage, ...] = (change_json,)
    elif name.endswith((".toml", ".txt")):
        own = (change_toml,)
    elif name.endswith((".npy", ".u64")) or name in ("games", "trials"):
        own = (set_word, flip_bits)
    else:
        own = (change_header, change_header, change_tensor)
    return BYTES + own * (10 // len(own))


def _changed_json(text: bytes, random: Random) -> bytes:
    """Replace, remove, rename or repeat one value of JSON."""
    data = json.loads(text)
    places = list(_places(data))
    if not places:
        return json.dumps(random.choice(HOSTILE)).encode()
    inside, key = random.choice(places)
    kind = random.randrange(8)
    if kind == 0 and isinstance(inside, dict):
        del inside[key]
    elif kind == 1 and isinstance(inside, dict):
        inside[random.choice(("", "x", "n" * 50))] = inside.pop(key)
    elif kind == 2 and isinstance(inside, list):
        inside.insert(key, inside[random.randrange(len(inside))])
    elif kind == 3 and isinstance(inside, list):
        del inside[key]
    elif kind == 4:  # what Python's json does not write
        inside[key] = "@here@"
        return json.dumps(data).encode().replace(b'"@here@"', random.choice(RAW), 1)
    elif kind == 5:
        other, at = random.choice(places)
        inside[key] = json.loads(json.dumps(other[at]))
    elif kind == 6 and isinstance(inside[key], int | float) and not isinstance(inside[key], bool):
        inside[key] = random.choice(
            (-inside[key], inside[key] + 1, inside[key] * 2, inside[key] // 2, float(inside[key]))
        )
    else:
        inside[key] = random.choice(HOSTILE)
    return json.dumps(data).encode()


def _places(data: Any) -> Any:
    """Yield every container with every key in it; nothing is deep in a valid file."""
    if isinstance(data, dict | list):
        for key in list(data) if isinstance(data, dict) else range(len(data)):
            yield data, key
            yield from _places(data[key])

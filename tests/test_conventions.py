"""The checks of folders and names find what they are for."""

import pytest
from conventions import Forbidden, Reference, disagreements, forbidden_names, large_folders, read_forbidden, split

TABLE = """
## Forbidden identifiers

| identifier | say | except |
|---|---|---|
| `ring`, `slower_copy` | replay buffer | `ring_map`, a board |
"""


@pytest.mark.parametrize(
    ("name", "words"),
    [("slower_copies", "slower copie"), ("RingBuffer", "ring buffer"), ("N_RINGS", "n ring"), ("TDLoss", "td loss")],
)
def test_words_of_an_identifier(name, words):
    assert split(name) == tuple(words.split())


def test_the_table_is_read():
    rows = read_forbidden(TABLE)
    assert [row.words for row in rows] == [("ring",), ("slower", "copy")]
    assert rows[0].exceptions == {"ring_map"}


def test_public_names_are_checked_and_private_ones_are_not(tmp_path):
    (tmp_path / "replay.py").write_text(
        "class Ring:\n    n_rings: int\n\n    def add(self, ring): ring_2 = ring\n\n"
        "def _ring(): ...\nRING = 1\nstring = ''\nring_map = 0\n"
    )
    (tmp_path / "ring.py").write_text("")
    row = Forbidden(("ring",), "replay buffer", frozenset({"ring_map"}))
    assert list(forbidden_names(tmp_path, [row])) == [
        "replay.py:1: Ring: say replay buffer",
        "replay.py:2: n_rings: say replay buffer",
        "replay.py:4: ring: say replay buffer",
        "replay.py:7: RING: say replay buffer",
        "ring.py:1: ring: say replay buffer",
    ]


def test_a_folder_has_at_most_twenty_modules(tmp_path):
    for i in range(20):
        (tmp_path / f"m{i}.py").write_text("")
    (tmp_path / "__init__.py").write_text("")
    assert list(large_folders(tmp_path)) == []
    (tmp_path / "one_more.py").write_text("")
    assert len(list(large_folders(tmp_path))) == 1


def test_registries_that_disagree_are_found():
    references = [Reference("player of a method", ["net", "ntuple"], ["ntuple"]), Reference("command", ["a"], {"a": 1})]
    assert list(disagreements(references)) == ["player of a method: net is unknown there, known: ntuple"]

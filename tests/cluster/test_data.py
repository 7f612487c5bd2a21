"""Arrays of other nodes."""

import numpy as np
import pytest

pytest.importorskip("ray", reason="needs the extra cluster")

import ray
from ray.exceptions import GetTimeoutError, ObjectLostError, ObjectStoreFullError, OutOfDiskError

from lab2048.cluster.data import LostDataError, get_all, share
from lab2048.errors import LabError


def test_arrays_that_ray_has_missed_are_asked_for_again(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def get(references: list[str], timeout: float | None = None) -> list[np.ndarray]:
        asked.append(timeout)
        if timeout is not None:
            raise GetTimeoutError
        return [np.arange(3) for _ in references]

    monkeypatch.setattr(ray, "get", get)
    here = np.zeros(2)
    found = get_all(["far", here, "far"])
    assert [list(array) for array in found] == [[0, 1, 2], [0, 0], [0, 1, 2]]
    assert len(asked) > 1
    assert asked[-1] is None  # however long it takes


@pytest.mark.parametrize("kind", [ObjectStoreFullError, OutOfDiskError])
def test_a_full_store_on_this_machine_is_one_line(kind: type[Exception], monkeypatch: pytest.MonkeyPatch) -> None:
    def put(array: np.ndarray) -> None:
        raise kind("The object cannot be created\nTip: use df")

    monkeypatch.setattr(ray, "put", put)
    with pytest.raises(LabError, match=r"^the object store of a node is full[^\n]*; make room on the disk[^\n]*$"):
        share(np.zeros(2))


def test_an_array_that_is_gone_is_named_so(monkeypatch: pytest.MonkeyPatch) -> None:
    def get(references: list[str], timeout: float | None = None) -> list[np.ndarray]:
        raise ObjectLostError("00", None, "")

    monkeypatch.setattr(ray, "get", get)
    with pytest.raises(LostDataError, match="needed again"):
        get_all(["far"])

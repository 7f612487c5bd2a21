"""Arrays that stay on the node where they were made, until somebody needs them."""

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lab2048.errors import LabError
from lab2048.extras import load

Array = NDArray[Any]
Handle = Any  # an array of this process, or a reference to one in Ray's object store

worker = ""  # the name of this worker process; the driver has none
_SMALL = 1 << 12  # bytes; smaller arrays travel with the message
_PATIENCE = (0.05, 0.2)  # seconds until arrays are asked for again


class LostDataError(LabError):
    """An array is gone with the node that had it; it has to be computed again."""

    code = "cluster.data_lost"


def put(array: Array) -> Handle:
    """Return a handle of an array: the array itself, or on a node a reference, so that the array stays there."""
    return load("ray").put(array) if worker and array.nbytes > _SMALL else array


def share(array: Array) -> Handle:
    """Return a reference to an array of the driver, which every node fetches once; an argument of `Node.submit`.

    Raise LabError if the object store is full.
    """
    try:
        return load("ray").put(array)
    except Exception as error:
        if is_store_full(error):
            raise store_full() from None
        raise


def is_store_full(error: Exception) -> bool:
    """Return whether Ray says that its object store is full, and the disk, too."""
    kinds = load("ray.exceptions")
    return isinstance(error, kinds.ObjectStoreFullError | kinds.OutOfDiskError)


def store_full() -> LabError:
    return LabError(
        "the object store of a node is full, and so is the disk that it overflows to",
        code="cluster.store_full",
        hint="make room on the disk, or start Ray there with a larger object store",
    )


@contextlib.contextmanager
def watching_for_loss() -> Iterator[None]:
    """Raise LostDataError if Ray says that something is gone with its node."""
    try:
        yield
    except Exception as error:
        kinds = load("ray.exceptions")
        if isinstance(error, kinds.ObjectLostError | kinds.RayActorError | kinds.OwnerDiedError):
            raise LostDataError("the result of a lost node is needed again") from None
        raise


def get(handle: Handle) -> Array:
    """Return the array of a handle; raise LostDataError if its node is gone."""
    return get_all([handle])[0]


def get_all(handles: Sequence[Handle]) -> list[Array]:
    """Return the arrays of handles; those of other nodes are fetched at the same time."""
    far = [i for i, handle in enumerate(handles) if not isinstance(handle, np.ndarray)]
    found = list(handles)
    with watching_for_loss():
        fetched = _fetch([handles[i] for i in far]) if far else []
    for i, array in zip(far, fetched, strict=True):
        # Kernels are compiled for arrays that can be written.
        found[i] = array if array.flags.writeable else array.copy()
    return found


def _fetch(references: Sequence[Handle]) -> list[Array]:
    """Return arrays of other nodes.

    Ray asks only once per second for arrays whose arrival it has missed, which happens to one call in twenty when many
    small arrays travel at the same time.  So ask again soon.
    """
    ray, late = load("ray"), load("ray.exceptions").GetTimeoutError
    for seconds in _PATIENCE:
        try:
            found: list[Array] = ray.get(references, timeout=seconds)
        except late:
            continue
        return found
    return list(ray.get(references))

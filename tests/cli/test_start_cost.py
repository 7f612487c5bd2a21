"""What starting costs: the heavy libraries stay out until they are needed."""

import subprocess
import sys

import pytest

import lab2048


def modules_after(code: str) -> set[str]:
    script = f"import sys\n{code}\nprint(*sorted(sys.modules))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(done.stdout.splitlines()[-1].split())


@pytest.mark.parametrize(
    ("code", "absent"),
    [
        ("import lab2048", {"numba", "numpy", "typer", "rich", "gymnasium"}),
        ("import lab2048.envs", {"numba", "typer", "rich"}),
        ("import lab2048.players, lab2048.records.store", {"numba", "numpy", "typer", "rich", "gymnasium"}),
        ("from lab2048.cli.app import run; run(['--help'])", {"numba", "numpy", "gymnasium"}),
        (
            "import io; sys.stdin = io.StringIO('wasdq'); from lab2048.cli.app import run; run(['play'])",
            {"numba", "numpy"},
        ),
    ],
)
def test_heavy_libraries_stay_out(code: str, absent: set[str]) -> None:
    assert not modules_after(code) & absent


def test_exports_are_what_is_there() -> None:
    assert set(lab2048.__all__) <= set(dir(lab2048))
    assert sorted(lab2048.__all__) == lab2048.__all__
    for name in lab2048.__all__:
        assert getattr(lab2048, name).__doc__

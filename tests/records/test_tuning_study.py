"""Tunings that begin at the same moment share one new file."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest

pytest.importorskip("optuna", reason="needs the extra tune")

from lab2048.records.tuning_study import Trial, TuningStudy

N = 6


def test_a_new_file_is_opened_by_many_at_once(tmp_path: Path) -> None:
    path, begin = tmp_path / "tuning.sqlite", Barrier(N)
    identity = {"evaluator": {"name": "rows"}, "seed": 1}

    def keep(number: int) -> None:
        begin.wait()
        study = TuningStudy(path, identity)
        study.keep(Trial(number, 0, {"empty": 1.0}, 100.0 + number, {"mean_score": 100.0 + number}))
        study.close()

    with ThreadPoolExecutor(N) as threads:
        list(threads.map(keep, range(N)))
    study = TuningStudy(path, identity)
    assert sorted(study.trials) == list(range(N))
    study.close()
    assert [each.name for each in tmp_path.iterdir()] == ["tuning.sqlite"]

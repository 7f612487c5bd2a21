"""The code of the tutorial on reinforcement learning, as it stands, with a small budget of steps."""

import re
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed: pip install 'lab2048[deep]'")
sb3_contrib = pytest.importorskip("sb3_contrib", reason="sb3-contrib is not installed: pip install sb3-contrib")

PAGE = Path(__file__).parents[2] / "docs" / "tutorials" / "reinforcement-learning.md"
BUDGET = 256 * 64  # one rollout


def test_the_tutorial_runs_as_it_stands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    torch.set_num_threads(1)  # the network is small, and other tests run at the same time
    learn = sb3_contrib.MaskablePPO.learn

    def learn_briefly(model: Any, total_timesteps: int) -> Any:
        assert total_timesteps > BUDGET
        return learn(model, BUDGET)

    monkeypatch.setattr(sb3_contrib.MaskablePPO, "learn", learn_briefly)
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert len(blocks) == 4
    known: dict[str, Any] = {}
    shown = []
    for block in blocks:
        exec(block, known)
        shown.append(capsys.readouterr().out)
    assert {path.name for path in tmp_path.iterdir()} == {"ppo.monitor.csv", "ppo.zip"}
    assert len(re.findall(r"steps: mean score \d+", shown[1])) == 10
    assert re.search(r"mean score of 500 games: \d+ ± \d+", shown[2])
    assert re.search(r"highest tile \d+", shown[3])
    assert shown[3].endswith(f"score {known['info']['score']}\n")

"""The ablation from the command line, briefly, with its figure."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest
from PIL import Image


@pytest.mark.slow
def test_quick_run(load: Callable[[str], ModuleType], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ablation = load("ablation")
    pytest.importorskip("matplotlib")
    arguments = ["--json", "--quick", "--workers", "1", "--tasks", "4"]
    assert ablation.main([*arguments, "--figure", str(tmp_path / "figure.png")]) == 0
    result = json.loads(capsys.readouterr().out)
    with Image.open(tmp_path / "figure.png") as figure:
        assert figure.size[0] == 1800
    [perfect] = [row for row in result["rows"] if row["scale"] == 0 and row["arm"] == "plan+critic, keep best"]
    assert perfect["step"]["value"] == 1.0
    assert perfect["critique_price"]["value"] <= 0, "there is nothing to gain"
    corner = {
        (c["helps"], c["critic"]["false_accept"], c["critic"]["false_reject"]): c for c in result["break_even"]["map"]
    }
    assert corner[0.0, 1.0, 0.0]["step_over_plan_only"]["value"] == 0.0
    saved = tmp_path / "result.json"
    saved.write_text(json.dumps(result), encoding="utf-8")
    assert ablation.main(["--json", "--from", str(saved)]) == 0
    assert json.loads(capsys.readouterr().out) == result

"""The example of a `RemoteGraph` against `langgraph dev`."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.server
EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "remote_graph.py"


def test_it_draws_on_a_server_by_itself_and_as_a_node(
    address: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", ["remote_graph.py", address])
    runpy.run_path(str(EXAMPLE), run_name="__main__")
    alone, as_a_node = capsys.readouterr().out.split("as a node:\n")
    assert alone.startswith("by itself:\n")
    assert (alone.count("  [128x128 at "), as_a_node.count("  [128x128 at ")) == (2, 3)

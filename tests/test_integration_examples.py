"""The examples of being part of something else run, and print what they promise."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"

# The teams' packages still use names that LangGraph has moved.
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore:.*(deprecated|moved)")]


def printed(name: str, capsys: pytest.CaptureFixture[str]) -> str:
    """What an example prints, run as a program is."""
    runpy.run_path(str(EXAMPLES / f"{name}.py"), run_name="__main__")
    return capsys.readouterr().out


def test_a_subgraph_in_somebodys_graph(capsys: pytest.CaptureFixture[str]) -> None:
    before, after = printed("subgraph", capsys).split("a person is asked about the plan: 3 steps; it is accepted\n")
    assert "image" not in before and after.count("  image: artifact://") == after.count("  caption: ") == 3
    assert after.splitlines()[-3:] == [
        "Mira asks: How to plant a bean, in 3 steps",
        "illustrated: complete",
        "sent 'How to plant a bean' with 3 pictures",
    ]


def test_a_supervisor(capsys: pytest.CaptureFixture[str]) -> None:
    said = printed("supervisor", capsys).splitlines()
    assert [line for line in said if "image" in line] == [f"  as it is made: image of step {n}" for n in (1, 2, 3)]
    assert any(line.startswith("illustrator: ") and line.endswith("(3 pictures)") for line in said)
    assert said[-1] == "supervisor: There you are: three steps, with a picture each."


def test_a_swarm(capsys: pytest.CaptureFixture[str]) -> None:
    turns = [turn.splitlines() for turn in printed("swarm", capsys).split("\nYou: ")[1:]]
    assert turns[0][1].startswith("  doc_1, version 1: 3 pictures, ")
    assert turns[1][1:] == ["  doc_1, version 2: 2 pictures, 0 drawn", "illustrator: Two steps now."]
    assert turns[2][1:] == ["host: I am the host."]

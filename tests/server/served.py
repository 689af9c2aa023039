"""Graphs of the server suite beside those of `graphs/`: scripted, so that what happens when is known."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

from langgraph.graph import END, START, StateGraph
from typing_extensions import TypedDict

from langgraph_interleave import create_interleave_graph
from langgraph_interleave.background import background_loop
from langgraph_interleave.planner import PlanRequest
from langgraph_interleave.serving import server_artifacts
from langgraph_interleave.testing import ScriptedBackend, ScriptedCritic, ScriptedPlanner, noise_card, simple_plan
from langgraph_interleave.types import Capabilities, ImageRequest, Plan

#: Six steps, each from the one before, a third of a second each.
slow = create_interleave_graph(
    ScriptedPlanner(simple_plan(6)), ScriptedBackend(delay_s=0.3), ScriptedCritic(), artifacts=server_artifacts(),
    name="slow",
)  # fmt: skip

#: Three steps that depend on nothing, so that they are asked about together.
parallel = create_interleave_graph(
    ScriptedPlanner(simple_plan(3, sources=[[], [], []])), ScriptedBackend(), ScriptedCritic(),
    artifacts=server_artifacts(), name="parallel",
)  # fmt: skip

#: Every drawing of the noted graphs: a line when it begins, and one when it ends.
NOTES = Path(__file__).with_name("notes.jsonl")


def _note(what: str, prompt: str) -> None:
    with NOTES.open("a", encoding="utf-8") as file:
        file.write(json.dumps([what, prompt]) + "\n")


def _named(asked: PlanRequest) -> Plan:
    """Five steps side by side in pairs, whose prompts begin with the request."""
    plan = simple_plan(5, sources=[[], [], [0], [1], [2, 3]])
    steps = [step.model_copy(update={"prompt": f"{asked.request.text} {step.index}"}) for step in plan.steps]
    return plan.model_copy(update={"steps": tuple(steps)})


def _begun(asked: ImageRequest) -> float:
    _note("begin", asked.prompt)
    return 0.5


def _drawn(asked: ImageRequest) -> Any:
    _note("end", asked.prompt)
    return noise_card(asked.prompt, seed=asked.seed or 0)


def _noted(name: str, *, billed: bool) -> Any:
    does = Capabilities(edit="instruct", max_references=4, seed="exact", billed=billed)
    backend = ScriptedBackend(_drawn, delay_s=_begun, capabilities=does)
    return create_interleave_graph(
        ScriptedPlanner(_named), backend, ScriptedCritic(), artifacts=server_artifacts(), name=name, lookahead=False
    )


#: Runs that are cancelled: what a provider does for nothing, and for money.
noted = _noted("noted", billed=False)
billed = _noted("billed", billed=True)


class Left(TypedDict):
    """What there is of the noted graphs in this process.

    Attributes:
        about: A request.
        notes: The notes of its drawings.
        flying: The calls of any run that are under way.
    """

    about: str
    notes: list[list[str]]
    flying: list[str]


def _look(state: Left) -> dict[str, Any]:
    lines = NOTES.read_text(encoding="utf-8").splitlines() if NOTES.exists() else []
    tasks = [str(task.get_coro()) for task in asyncio.all_tasks(background_loop())]
    return {
        "notes": [note for note in map(json.loads, lines) if note[1].startswith(state["about"])],
        "flying": [task for task in tasks if "Flight" in task],
    }


left = StateGraph(Left).add_node("look", _look).add_edge(START, "look").add_edge("look", END).compile(name="left")

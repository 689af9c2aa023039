"""What the server says of the graphs: descriptions, drawings, schemas; what Studio builds its screens from."""

from __future__ import annotations

import json
from typing import Any

import pytest

pytestmark = pytest.mark.server
NODES = {"planner", "dispatch", "generate", "critique", "retry", "compose"}
#: What Open Agent Platform has a control for.
CONTROLS = {"text", "textarea", "number", "boolean", "slider", "select", "json"}


def labels(graph: Any) -> dict[tuple[str, str], str | None]:
    return {(edge["source"], edge["target"]): edge.get("data") for edge in graph["edges"]}


def test_three_graphs_are_served_and_say_what_they_are(assistants: dict[str, dict[str, Any]]) -> None:
    ours = {"slow", "parallel", "billed", "noted", "left"}  # those of the tests
    assert set(assistants) - ours == {"interleave", "illustrator", "agent"}
    for name in ("interleave", "illustrator", "agent"):
        assert 40 < len(assistants[name]["description"]) < 120


def test_the_graph_draws_itself_with_labelled_edges(sdk: Any) -> None:
    graph = sdk.assistants.get_graph("interleave")
    described = {str(node["id"]): (node.get("metadata") or {}).get("description") for node in graph["nodes"]}
    assert set(described) >= NODES | {"review_plan", "review_step"}
    assert all(described[node] for node in NODES | {"review_plan", "review_step"})
    assert labels(graph)["critique", "retry"] == "revise"
    assert labels(graph)["dispatch", "generate"] == "ready step"


def test_the_illustrator_draws_itself_with_the_graph_inside(sdk: Any) -> None:
    graph = sdk.assistants.get_graph("illustrator")
    described = {node["id"]: (node.get("metadata") or {}).get("description") for node in graph["nodes"]}
    assert set(described) == {"__start__", "receive", "illustrate", "__end__"}
    assert described["receive"] and described["illustrate"]
    assert (
        labels(sdk.assistants.get_graph("illustrator", xray=True))["illustrate:critique", "illustrate:retry"]
        == "revise"
    )


def test_the_agent_names_its_tools(sdk: Any) -> None:
    graph = sdk.assistants.get_graph("agent")
    tools = next(node for node in graph["nodes"] if node["id"] == "tools")
    names = (tools.get("metadata") or {})["__tools"]
    assert set(names) == {f"{verb}_illustrated_document" for verb in ("create", "change", "restore")}


def test_the_graph_says_what_goes_in_and_comes_out(sdk: Any, assistants: dict[str, dict[str, Any]]) -> None:
    schemas: Any = sdk.assistants.get_schemas(assistants["interleave"]["assistant_id"])
    given = schemas["input_schema"]["properties"]
    assert list(given) == ["request", "base"]
    assert all(field["description"] for field in given.values())
    assert schemas["input_schema"]["required"] == ["request"]
    assert set(schemas["output_schema"]["properties"]) == {"document", "outcome", "spend"}


@pytest.mark.parametrize("graph", ["illustrator", "agent"])
def test_the_others_take_and_give_messages(sdk: Any, assistants: dict[str, dict[str, Any]], graph: str) -> None:
    schemas: Any = sdk.assistants.get_schemas(assistants[graph]["assistant_id"])
    assert list(schemas["input_schema"]["properties"]) == ["messages"]
    assert "messages" in schemas["output_schema"]["properties"]


@pytest.mark.parametrize("graph", ["interleave", "illustrator", "agent"])
def test_every_value_of_a_run_is_described_and_has_a_control(
    sdk: Any, assistants: dict[str, dict[str, Any]], graph: str
) -> None:
    schemas: Any = sdk.assistants.get_schemas(assistants[graph]["assistant_id"])
    fields = schemas["context_schema"]["properties"]
    assert set(fields) >= {"steps", "seed", "size", "style", "approve", "draft", "on_exhausted", "limits"}
    for name, field in fields.items():
        assert field["description"], name
        assert field["x_oap_ui_config"]["type"] in CONTROLS, name
        assert field["x_oap_ui_config"]["description"] == field["description"], name
    choices = [option["value"] for option in fields["on_exhausted"]["x_oap_ui_config"]["options"]]
    assert choices == ["best", "last", "ask", "replan", "fail"]
    assert fields["style"]["langgraph_type"] == "prompt"


def test_an_assistant_of_ones_own_keeps_its_values(sdk: Any) -> None:
    made = sdk.assistants.create("interleave", name="Two small ones", context={"steps": 2, "size": "64x64", "seed": 3})
    try:
        state: Any = sdk.runs.wait(None, made["assistant_id"], input={"request": "How to plant a bean"})
        assert [step["image"]["width"] for step in state["document"]["steps"]] == [64, 64]
    finally:
        sdk.assistants.delete(made["assistant_id"])


def test_the_state_of_a_thread_is_short_and_holds_no_bytes(sdk: Any, thread: str) -> None:
    sdk.runs.wait(thread, "interleave", input={"request": "How to plant a bean, in 3 steps"}, context={"size": "64x64"})
    state: Any = sdk.threads.get_state(thread)
    assert set(state["values"]) == {"progress", "document", "outcome", "spend"}
    assert state["next"] == []
    assert len(json.dumps(state["values"]["progress"])) < 400
    assert "base64" not in json.dumps(state)
    history: Any = sdk.threads.get_history(thread, limit=50)
    assert max(len(json.dumps(each["values"])) for each in history) < 8000

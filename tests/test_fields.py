"""Every field of a context is shown with the control its type asks for."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from langgraph_interleave.context import InterleaveContext
from langgraph_interleave.fields import describe_fields
from langgraph_interleave.graph import create_interleave_graph

#: Those of Open Agent Platform.
CONTROLS = {"text", "textarea", "number", "boolean", "slider", "select", "json"}


class Described(BaseModel):
    model_config = ConfigDict(json_schema_extra=describe_fields)

    limits: dict[str, int] | None = Field(default=None, description="Caps.")
    approve: frozenset[Literal["plan", "steps"]] | None = None
    on_exhausted: Literal["best", "last"] | None = Field(default=None, description="What is kept.")
    publish: Literal["early"] = "early"
    seed: int | None = Field(default=None, ge=0, le=9)
    style: str | None = None
    draft: bool | None = None
    run_id: str | None = None


def test_the_control_follows_from_the_type() -> None:
    fields = Described.model_json_schema()["properties"]
    controls = {name: field["x_oap_ui_config"] for name, field in fields.items()}
    assert {name: control["type"] for name, control in controls.items()} == {
        "limits": "json", "approve": "json", "on_exhausted": "select", "publish": "select", "seed": "number",
        "style": "textarea", "draft": "boolean", "run_id": "text",
    }  # fmt: skip
    assert controls["on_exhausted"]["options"] == [
        {"label": "best", "value": "best"},
        {"label": "last", "value": "last"},
    ]
    assert controls["on_exhausted"]["description"] == "What is kept."
    assert (controls["seed"]["min"], controls["seed"]["max"]) == (0, 9)
    assert fields["style"]["langgraph_type"] == "prompt"
    assert fields["on_exhausted"]["langgraph_nodes"] == ["critique", "illustrate"]
    assert "langgraph_nodes" not in fields["run_id"]


def test_nodes_that_are_named_exist() -> None:
    schema: dict[str, Any] = InterleaveContext.model_json_schema()
    describe_fields(schema)
    named = {node for field in schema["properties"].values() for node in field.get("langgraph_nodes", [])}
    assert named - {"illustrate"} <= set(create_interleave_graph().nodes)
    assert {field["x_oap_ui_config"]["type"] for field in schema["properties"].values()} <= CONTROLS
    unplaced = {name for name, field in schema["properties"].items() if "langgraph_nodes" not in field}
    assert unplaced <= {"limits", "run_id"}, "a new field says at which nodes it matters, in fields.py"

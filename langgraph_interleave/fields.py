"""How front ends show the fields of a run's context: as choices, switches and sliders, at the nodes they matter to.

LangGraph Studio reads `langgraph_nodes` and `langgraph_type` of a field's JSON Schema, Open Agent Platform
`x_oap_ui_config`. What kind of control a field gets follows from its own schema; only what a schema cannot
say is written down here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

#: The nodes at which Studio offers a field. In the illustrator the whole run is one node.
_NODES: Mapping[str, tuple[str, ...]] = {
    "steps": ("planner",),
    "language": ("planner",),
    "style": ("planner",),
    "approve": ("planner",),
    "draft": ("planner",),
    "early_start": ("planner",),
    "size": ("generate",),
    "seed": ("generate",),
    "references": ("generate",),
    "anchor_inputs": ("generate",),
    "reanchor_every": ("generate",),
    "style_in_prompts": ("generate",),
    "lookahead": ("generate",),
    "second_usd": ("generate",),
    "candidates": ("generate",),
    "on_exhausted": ("critique",),
    "on_limit": ("dispatch",),
    "redraw_missing": ("generate",),
    "publish": ("critique",),
}
_ILLUSTRATOR = "illustrate"

#: What is said more exactly than the schema says it.
_CONTROLS: Mapping[str, Mapping[str, Any]] = {
    "style": {"type": "textarea", "placeholder": "watercolour, soft light, few colours"},
    "size": {"placeholder": "768x512"},
    "language": {"placeholder": "French"},
    "steps": {"type": "slider", "min": 1, "max": 12, "step": 1},
    "reanchor_every": {"type": "slider", "min": 1, "max": 12, "step": 1},
    "candidates": {"type": "slider", "min": 1, "max": 8, "step": 1},
}


def describe_fields(schema: dict[str, Any]) -> None:
    """Add to the JSON Schema of a context what front ends want to know of its fields.

    For `ConfigDict(json_schema_extra=describe_fields)`. Every field gets an `x_oap_ui_config` with its
    description and a control; those that matter to a node get `langgraph_nodes`; `style` is a prompt.

    Args:
        schema: The schema of an object; changed in place.

    Example:
        >>> schema = {"properties": {"draft": {"anyOf": [{"type": "boolean"}, {"type": "null"}]}}}
        >>> describe_fields(schema)
        >>> schema["properties"]["draft"]["x_oap_ui_config"]
        {'type': 'boolean'}
    """
    for name, field in schema.get("properties", {}).items():
        control: dict[str, Any] = {**_control(field), **_CONTROLS.get(name, {})}
        if field.get("description"):
            control["description"] = field["description"]
        field["x_oap_ui_config"] = control
        if name in _NODES:
            field["langgraph_nodes"] = [*_NODES[name], _ILLUSTRATOR]
        if name == "style":
            field["langgraph_type"] = "prompt"


def _control(field: Mapping[str, Any]) -> dict[str, Any]:
    for form in field.get("anyOf", [field]):
        if "enum" in form or "const" in form:
            values = form.get("enum", [form.get("const")])
            return {"type": "select", "options": [{"label": str(value), "value": value} for value in values]}
        match form.get("type"):
            case "boolean":
                return {"type": "boolean"}
            case "integer" | "number":
                bounds = {"min": form.get("minimum"), "max": form.get("maximum")}
                return {"type": "number", **{key: value for key, value in bounds.items() if value is not None}}
            case "string":
                return {"type": "text"}
            case "null":
                continue
            case _:
                return {"type": "json"}
    return {"type": "json"}

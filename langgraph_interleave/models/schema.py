"""The shapes asked of a model: a plan, changes of one, a critique, as JSON schemas every provider's strict mode takes.

Strict modes want each property required, none besides, and `null` as a type of its own where a value
may be missing; ranges and lengths are said in words, since not all of them take those.
"""

from __future__ import annotations

from typing import Any

_TEXT: dict[str, Any] = {"type": "string"}
_PERHAPS: dict[str, Any] = {"type": ["string", "null"]}
_SCORE: dict[str, Any] = {"type": ["number", "null"], "description": "0 to 10; null where it does not apply"}


def _object(**properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def plan_schema() -> dict[str, Any]:
    """The schema of a plan; what comes first is written first, so that steps can be drawn as they come.

    `backend` is there for all plans and null in most: a schema that changed would not be cached.

    Example:
        >>> list(plan_schema()["properties"])
        ['reasoning', 'title', 'style_guide', 'first_number', 'steps']
    """
    step = _object(
        title=_TEXT,
        op={"type": "string", "enum": ["generate", "edit", "text"]},
        instruction=_PERHAPS,
        prompt=_PERHAPS,
        caption=_PERHAPS,
        sources={"type": "array", "items": {"type": "string", "description": "input:i or step:j, counted from 0"}},
        backend={**_PERHAPS, "description": "name of the generator that draws it, where there are several to choose"},
    )
    style_guide = _object(look=_TEXT, palette=_TEXT, characters=_TEXT, keep=_TEXT)
    number = {"type": "integer", "description": "number of the first step; 1 unless a sequence is continued"}
    plan = _object(
        reasoning=_TEXT,
        title=_TEXT,
        style_guide=style_guide,
        first_number=number,
        steps={"type": "array", "items": step},
    )
    return {"title": "plan", "description": "The plan of an illustrated sequence.", **plan}


def changes_schema() -> dict[str, Any]:
    """The schema of changes: what becomes of each step of a plan; `null` in a change is what stays as it was.

    Example:
        >>> list(changes_schema()["properties"])
        ['reasoning', 'title', 'style_guide', 'changes']
    """
    source = {"type": "string", "description": "step:j of the plan that is changed, new:j or input:i, counted from 0"}
    kinds = ["keep", "redo", "insert", "delete", "reorder", "recaption"]
    change = _object(
        change={"type": "string", "enum": kinds},
        step={"type": ["integer", "null"], "description": "j of the step:j it is about; null for an insert"},
        title=_PERHAPS,
        op={**_PERHAPS, "description": "generate, edit or text; null where it stays"},
        instruction=_PERHAPS,
        prompt=_PERHAPS,
        caption=_PERHAPS,
        sources={"type": ["array", "null"], "items": source},
        backend={**_PERHAPS, "description": "name of the generator that draws it, where there are several to choose"},
    )
    empty = {"type": "string", "description": "empty where it stays"}
    changes = _object(
        reasoning=_TEXT,
        title={**_PERHAPS, "description": "a new title of the whole; null where it stays"},
        style_guide=_object(look=empty, palette=empty, characters=empty, keep=empty),
        changes={"type": "array", "items": change},
    )
    return {"title": "changes", "description": "What becomes of each step of an illustrated sequence.", **changes}


def critique_schema() -> dict[str, Any]:
    """The schema of a critique; reasons come before the verdict.

    Example:
        >>> list(critique_schema()["properties"])
        ['reasoning', 'scores', 'verdict', 'refined_prompt']
    """
    critique = _object(
        reasoning=_TEXT,
        scores=_object(semantics=_SCORE, quality=_SCORE, consistency=_SCORE),
        verdict={"type": "string", "enum": ["accept", "revise"]},
        refined_prompt=_PERHAPS,
    )
    return {"title": "critique", "description": "A judgement of one picture.", **critique}

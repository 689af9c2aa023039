"""Which of the two routes of the Images API a server has: told from the 404 of the one it lacks."""

from __future__ import annotations

import json
import re

from langgraph_interleave.errors import ConfigError

#: Statuses of a route that is not there, and those that say nothing else.
_MISSING, _PLAINLY = frozenset({404, 405, 501}), frozenset({405, 501})
#: What an error about a model speaks of; Azure calls them deployments.
_ABOUT_A_MODEL = re.compile(r"(?i)\bmodels?\b|model_not_found|\bdeployment")


def missing_route(error: Exception, *, edits: bool, drew: bool, host: str, model: str) -> ConfigError | None:
    """The error of a route that is not there, where that is what a server's refusal means.

    Args:
        error: What the SDK raised.
        edits: It was asked to edit, else to generate.
        drew: It has drawn with this model before, so that the model is there.
        host: Whom was asked.
        model: The model.

    Returns:
        `None` where the refusal is about anything else, such as a model that is not there.

    Example:
        >>> class NotFound(Exception):
        ...     status_code, body = 404, {"detail": "Not Found"}
        >>> print(missing_route(NotFound(), edits=True, drew=False, host="127.0.0.1:8000", model="flux").message)
        127.0.0.1:8000 has no /images/edits.
    """
    status = getattr(error, "status_code", None)
    if status not in _MISSING:
        return None
    told = (drew and edits) or status in _PLAINLY or not _is_about_a_model(getattr(error, "body", None), model)
    if not told:
        return None
    if not edits:
        return ConfigError(
            f"{host} has no /images/generations.",
            remedy="Check base_url (most end in /v1), and that this server draws pictures.",
        )
    return ConfigError(
        f"{host} has no /images/edits.",
        remedy="If it cannot edit, say max_references=0 (behind the model's name: ?max_references=0, or "
        "&max_references=0 after other options). If it edits in a way of its own, name its profile=.",
    )


def _is_about_a_model(body: object, model: str) -> bool:
    """Whether a refusal's body speaks of a model. What is no JSON was said by whoever routes."""
    words = body if isinstance(body, str) else json.dumps(body, default=str) if body else ""
    if words.lstrip().startswith("<"):
        return False
    return _ABOUT_A_MODEL.search(words) is not None or re.search(rf"['\"`]{re.escape(model)}['\"`]", words) is not None

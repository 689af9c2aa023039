"""The forms things are stored in, and the way from each older one to the newest.

Whatever is stored carries the number of its form, `v`. A form that was written once is read for ever: where it
changes in a way its reader would not understand, the number goes up by one and a function here takes the old
form to the new one. It is applied when something is read; nothing stored is rewritten. A field that is added with a
default is no new form, though an earlier release refuses what has it, as it refuses a newer form: never as damage,
because what is damaged may be made, and paid for, again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal, TypeVar, cast

from pydantic import BaseModel, ValidationError

from langgraph_interleave.errors import ArtifactMissing, ConfigError

M = TypeVar("M", bound=BaseModel)

Form = Literal["checkpoint", "document", "plan record", "step record", "call record", "job", "list of versions", "run"]
Upward = Callable[[dict[str, Any]], dict[str, Any]]

_REMEDY = "Use that release or a later one: pip install -U langgraph-interleave. Nothing was changed."


def _numbered(old: dict[str, Any]) -> dict[str, Any]:
    """Checkpoints and their tasks carried no number at first."""
    return {**old, "v": 1}


#: For each kind of thing the number of its oldest form, and what leads from each form to the next.
_WAYS: dict[Form, tuple[int, tuple[Upward, ...]]] = {
    "checkpoint": (0, (_numbered,)),
    "document": (1, ()),
    "plan record": (1, ()),
    "step record": (1, ()),
    "call record": (1, ()),
    "job": (1, ()),
    "list of versions": (1, ()),
    "run": (1, ()),
}


class Damaged(ArtifactMissing):
    """What is stored is not what it should be; `why` says in which place."""

    def __init__(self, name: str, form: Form, why: str) -> None:
        super().__init__(
            f"{name} is damaged, or no {form}: {why}.",
            remedy="Restore it from a backup, or make what it belongs to anew.",
        )
        self.why = why


def newest(form: Form) -> int:
    """The number of the form that is written now.

    Example:
        >>> newest("checkpoint")
        1
    """
    oldest, ways = _WAYS[form]
    return oldest + len(ways)


def to_newest(form: Form, data: Mapping[str, Any], *, name: str = "") -> dict[str, Any]:
    """Stored data in the form that is written now.

    Args:
        form: What it is.
        data: As it was stored; what carries no number is of the oldest form.
        name: What to call it in an error, such as `Step record 3fa9…`.

    Raises:
        ConfigError: It is of a form that this release does not know yet.
        Damaged: Its number is none.

    Example:
        >>> to_newest("checkpoint", {"turn": 1})
        {'turn': 1, 'v': 1}
    """
    oldest, ways = _WAYS[form]
    name = name or f"A {form}"
    number: object = data.get("v", oldest)
    if not isinstance(number, int) or isinstance(number, bool) or number < oldest:
        raise Damaged(name, form, f"v: {str(number)[:20]!r} is no number of a form")
    if number > oldest + len(ways):
        raise ConfigError(
            f"{name} was written by a newer release: it is a {form} of form {number}, and {oldest + len(ways)} is the "
            "newest known here.",
            remedy=_REMEDY,
        )
    whole = dict(data)
    for way in ways[number - oldest :]:
        whole = way(whole)
    return whole


def read_form(form: Form, model: type[M], data: object, *, name: str = "") -> M:
    """Stored data as an object, whatever form it was stored in.

    Args:
        form: What it is.
        model: Its class.
        data: As it was stored: JSON.
        name: What to call it in an error.

    Raises:
        ConfigError: It was written by a newer release.
        Damaged: It is damaged, or something else.
    """
    name = name or f"A {form}"
    if not isinstance(data, Mapping):
        raise Damaged(name, form, "it is no JSON object")
    whole = to_newest(form, cast("Mapping[str, Any]", data), name=name)
    try:
        return model.model_validate(whole)
    except ValidationError as error:
        wrong = error.errors(include_url=False, include_context=False, include_input=False)
        first = ".".join(map(str, wrong[0]["loc"]))
        # A number alone says nothing of fields: those are added with a default.
        if "v" in data and all(one["type"] == "extra_forbidden" for one in wrong):
            raise ConfigError(
                f"{name} was written by a newer release: it is a {form} with {first!r}, which is not known here.",
                remedy=_REMEDY,
            ) from None
        raise Damaged(name, form, f"{first or 'the whole'}: {wrong[0]['msg']}") from None

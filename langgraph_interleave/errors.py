"""Every exception of this package, in one tree. Each message names the thing and the remedy.

InterleaveError
├── ConfigError            the call, an option, a file or a request is wrong; nothing was spent
├── PlanError              no plan could be read from the planner's answer
├── CritiqueError          no critique could be read from the critic's answer
├── CallError              a call of a role (planner, backend, critic) failed
│   ├── InvalidRequest     the model refused the shape of the request (size, references, prompt)
│   ├── ContentBlocked     moderation refused it; never sent again unchanged
│   ├── NoImage            the model answered without a picture
│   ├── QuotaExhausted     no credit left; fatal for the run
│   ├── RateLimited        too many requests; provably not produced
│   ├── Unavailable        refused connection, overload; provably not produced unless `ambiguous`
│   ├── CallTimeout        no answer in time; may have been produced and billed
│   ├── BadResponse        an answer that is not what was promised; may have been billed
│   └── Cancelled          stopped by us
├── LimitReached           a limit of the run was reached before a call was made
├── ArtifactMissing        stored bytes are gone or damaged
└── InternalError          a fault of ours; the document made so far is attached
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from pydantic import ValidationError

    from langgraph_interleave.types.usage import Usage

#: Characters of a value that are quoted.
_GIVEN = 60

Role = Literal["planner", "backend", "critic"]


class InterleaveError(RuntimeError):
    """Base of the tree.

    It is a `RuntimeError` because LangGraph servers pass the words of those on, and of what they do not know say
    "An internal error occurred"; and because LangGraph's default retry policy sends none of them again, which
    is the ledger's to decide. Not a `ValueError`: pydantic would wrap that where an option is refused.

    Args:
        message: What went wrong, naming the thing.
        remedy: What the reader can do about it.
    """

    def __init__(self, message: str, *, remedy: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.remedy = remedy

    def __str__(self) -> str:
        return f"{self.message} {self.remedy}".strip()


class ConfigError(InterleaveError):
    """A call, an option, a file or a request is wrong. Nothing was spent."""


def refused_option(error: ValidationError, what: str) -> ConfigError:
    """What pydantic says against an option of `what`: the option, what it was given, what it may be."""
    first = error.errors(include_url=False)[0]
    name = ".".join(part for part in first["loc"] if isinstance(part, str)) or what  # not the place in a list
    given = repr(first["input"])
    given = given if len(given) <= _GIVEN else f"{given[: _GIVEN - 1]}…"
    if first["type"] == "extra_forbidden":
        return ConfigError(f"There is no option {name!r}.", remedy=f"See {what} for those there are.")
    if first["type"] == "literal_error":
        return ConfigError(f"{name}={given} is unknown.", remedy=f"Say {first.get('ctx', {})['expected']}.")
    if first["type"] == "missing":
        return ConfigError(f"{what} needs {name!r}.", remedy="Give it.")
    said = first["msg"].removeprefix("Value error, ")
    # pydantic: "String should have at least 1 character", "Unable to parse …".
    _, should, rest = said.partition(" should ")
    said = f"It should {rest}" if should else said
    return ConfigError(f"{name}={given} is not possible.", remedy=f"{said[0].upper()}{said[1:]}.")


class PlanError(InterleaveError):
    """No plan could be read from an answer.

    Args:
        message: What went wrong.
        remedy: What to do.
        raw: The planner's text.
        truncated: A token limit cut it off.
        usage: What the answer used. Given only where a model answered: then it may be asked again.
    """

    def __init__(
        self, message: str, *, remedy: str = "", raw: str = "", truncated: bool = False, usage: Usage | None = None
    ) -> None:
        super().__init__(message, remedy=remedy)
        self.raw = raw
        self.truncated = truncated
        self.usage = usage


class CritiqueError(InterleaveError):
    """No critique could be read from an answer; arguments as for `PlanError`."""

    def __init__(
        self, message: str, *, remedy: str = "", raw: str = "", truncated: bool = False, usage: Usage | None = None
    ) -> None:
        super().__init__(message, remedy=remedy)
        self.raw = raw
        self.truncated = truncated
        self.usage = usage


class CallError(InterleaveError):
    """A call failed.

    Args:
        message: What went wrong.
        remedy: What to do.
        role: Whose call it was.
        code: The provider's own code, if any.
        retry_after: Seconds the provider asks to wait.
        ambiguous: The work may have been done and billed; overrides the class's default.
        detail: The provider's further words (categories, finish reason).
        usage: What the failed call used all the same, where the provider says so.
    """

    #: Whether the same request may be sent again.
    resendable = False
    #: Whether the provider may have done (and billed) the work.
    ambiguous = False

    def __init__(
        self,
        message: str,
        *,
        remedy: str = "",
        role: Role = "backend",
        code: str | None = None,
        retry_after: float | None = None,
        ambiguous: bool | None = None,
        detail: Mapping[str, Any] | None = None,
        usage: Usage | None = None,
    ) -> None:
        super().__init__(message, remedy=remedy)
        self.usage = usage
        self.role = role
        self.code = code
        self.retry_after = retry_after
        self.detail = dict(detail or {})
        if ambiguous is not None:
            self.ambiguous = ambiguous


class InvalidRequest(CallError):
    """The model refused the shape of the request."""


class ContentBlocked(CallError):
    """Moderation refused the request."""


class NoImage(CallError):
    """The model answered without a picture; its words are in `detail["text"]`."""


class QuotaExhausted(CallError):
    """No credit left: fatal for the run."""


class RateLimited(CallError):
    """Too many requests; provably not produced."""

    resendable = True


class Unavailable(CallError):
    """Nobody answered, or the server is overloaded."""

    resendable = True


class CallTimeout(CallError):
    """No answer in time; the work may have been done and billed."""

    ambiguous = True


class BadResponse(CallError):
    """The answer is not what was promised (HTML, a broken or black picture, a cut stream)."""

    ambiguous = True


class Cancelled(CallError):
    """Stopped by us."""


class LimitReached(InterleaveError):
    """A limit of the run was reached; raised before the call that would pass it.

    Args:
        limit: Name of the limit (`max_images`, `max_cost_usd`, `step_max_calls`, …).
        used: How much was used, or reserved for calls under way.
        cap: The cap.
        wanted: How much the call would have taken, where that is known.
    """

    def __init__(self, limit: str, *, used: float, cap: float, wanted: float | None = None) -> None:
        more = "" if wanted is None or used >= cap else f", and the next call may take {wanted:g}"
        super().__init__(
            f"Limit {limit} reached: {used:g} of {cap:g} used{more}.",
            remedy=f"Raise limits.{limit}, or take the document as it is.",
        )
        self.limit = limit
        self.used = used
        self.cap = cap
        self.wanted = wanted

    def __reduce__(self) -> tuple[Any, ...]:
        # Made from its parts again, not from its message, so that it survives a process boundary.
        return partial(LimitReached, self.limit, used=self.used, cap=self.cap, wanted=self.wanted), ()


class ArtifactMissing(InterleaveError):
    """Stored bytes are gone or do not match their digest."""


class InternalError(InterleaveError):
    """A fault of ours. `document` is the document made so far, as JSON; the cause is chained."""

    def __init__(self, message: str, *, remedy: str = "", document: Mapping[str, Any] | None = None) -> None:
        super().__init__(message, remedy=remedy)
        self.document = document

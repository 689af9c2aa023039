"""What a call is, what is recorded of it, and the key both go by."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, cast

from pydantic import Field

from langgraph_interleave.artifacts import canonical_json
from langgraph_interleave.errors import (
    ArtifactMissing,
    CallError,
    Cancelled,
    ConfigError,
    ContentBlocked,
    CritiqueError,
    InterleaveError,
    InvalidRequest,
    LimitReached,
    PlanError,
    QuotaExhausted,
    Role,
)
from langgraph_interleave.ledger.resend import Repeats
from langgraph_interleave.secrecy import public
from langgraph_interleave.types.base import Frozen
from langgraph_interleave.types.record import Problem
from langgraph_interleave.types.usage import Usage

VERSION = 1

CallStatus = Literal["started", "finished", "ambiguous", "failed"]

#: Parts that differ when the same call is asked for again, and so must not be in its key.
_CHANGES_ON_REPLAY = frozenset(
    {"callbacks", "checkpoint_id", "config", "context", "owner", "run_time", "task_id", "thread_id", "time", "trace_id"}
)

_DIGEST = re.compile(r"[0-9a-f]{64}")
_LONGEST_MESSAGE = 500
_SECRET = re.compile(
    r"(?i)\b(?P<name>(?:api[_-]?key|access[_-]?token|authorization|bearer|key|password|secret|sig|signature|token)"
    r"[\"']?\s*[=:\s]\s*[\"']?(?:bearer\s+)?)(?P<value>[^\s\"'&,;]{6,})"
    r"|\b(?:sk|pk|hf|ghp|xai|r8)[-_][A-Za-z0-9_-]{8,}"
)


@dataclass(frozen=True, slots=True)
class Call:
    """One paid call, before it is made.

    Attributes:
        scope: Run scope, or the shared scope the user asks for.
        key: From `call_key`.
        role: Whose call it is.
        step: Index of the step, `None` for the plan's own calls.
        attempt: 0-based attempt.
        candidate: Which of several pictures of one attempt.
        billed: Whether it costs money: then it is not cut off lightly.
        images: Pictures it draws at most.
        calls: Requests it makes at most.
        price_usd: US dollars it is expected to cost at most, 0 where it is free; `None` where nobody knows.
            No part of what the call is.
        deadline_s: Seconds until one sending of it is given up; by default what the budget's limits say.
        repeats: How often it may be repeated; none by default. No part of what the call is.
        remake: It is made again, and paid for again, where what it made is gone from the store. One that costs
            nothing is in any case.
    """

    scope: str
    key: str
    role: Role
    step: int | None = None
    attempt: int = 0
    candidate: int = 0
    billed: bool = False
    images: int = 0
    calls: int = 1
    price_usd: float | None = field(default=None, compare=False)
    deadline_s: float | None = None
    repeats: Repeats | None = field(default=None, compare=False)
    remake: bool = field(default=False, compare=False)


@dataclass(frozen=True, slots=True)
class Produced:
    """What a call came to: a small JSON object that names stored artifacts, and what it used."""

    result: dict[str, Any]
    usage: Usage = Usage()


Produce = Callable[[], Awaitable[Produced]]


class CallRecord(Frozen):
    """One paid call as it is stored. Holds no picture: `result` names artifacts by their digests.

    Attributes:
        status: `started` (and no more known: ambiguous once its owner is gone), `finished`,
            `ambiguous` (may have been done and billed), `failed` (was not, or gave nothing).
        owner: The process that made it.
        lease_until: Until when others wait for the owner, in seconds since 1970; renewed meanwhile.
        t_start: When it was started, in seconds since 1970.
        t_end: When it ended.
        result: What was produced.
        result_ref: Digest of the stored result, where it is too large to be kept in the record.
        problem: Why there is no result.
        price_usd: What was reserved for it, in US dollars; `None` where nobody knew.
        ambiguous_before: How many earlier makings of this same call are ambiguous.
        failed: What each making used that was answered, with nothing to use; this one included.
    """

    v: int = VERSION
    scope: str
    key: str
    role: Role
    step: int | None = None
    attempt: int = 0
    candidate: int = 0
    billed: bool = False
    images: int = 0
    price_usd: float | None = Field(default=None, ge=0)
    status: CallStatus
    owner: str = ""
    lease_until: float = 0.0
    t_start: float = 0.0
    t_end: float | None = None
    usage: Usage = Usage()
    result: dict[str, Any] | None = None
    result_ref: str | None = None
    problem: Problem | None = None
    ambiguous_before: int = Field(default=0, ge=0)
    failed: tuple[Usage, ...] = ()

    @property
    def seconds(self) -> float | None:
        """How long the call took; `None` while it is not over."""
        return None if self.t_end is None else max(0.0, self.t_end - self.t_start)


@dataclass(frozen=True, slots=True)
class Finished:
    """The answer to an ask.

    Attributes:
        record: The record of the call, status `finished`, with its result.
        replayed: It was found in the store; no call was made for this ask.
        took_over: An earlier making of this call that is ambiguous: started, and its owner is gone,
            or given up while it may have been billed. Worth a warning.
    """

    record: CallRecord
    replayed: bool
    took_over: CallRecord | None = None

    @property
    def result(self) -> dict[str, Any]:
        """What was produced."""
        return self.record.result or {}

    @property
    def usage(self) -> Usage:
        """What it used."""
        return self.record.usage


def call_key(
    *,
    scope: str,
    role: Role,
    fingerprint: str,
    step: int | None = None,
    attempt: int = 0,
    candidate: int = 0,
    template: str = "",
    params: Mapping[str, Any] | None = None,
    digests: Sequence[str] = (),
    **parts: Any,
) -> str:
    """The key of a call: the same for the same question, different for any other.

    Args:
        scope: Run scope, or the shared scope.
        role: Whose call it is.
        fingerprint: Model, version and parameters of whoever answers.
        step: Index of the step.
        attempt: 0-based attempt.
        candidate: Which of several pictures of one attempt.
        template: Version of the prompt template.
        params: Prompt, seed, size and whatever else is sent; JSON types.
        digests: Digests of the artifacts sent, in order: the order is part of the question.
        **parts: Anything else that names the call; JSON types.

    Returns:
        64 hexadecimal digits.

    Raises:
        ConfigError: A part is no JSON, or one that changes when the call is asked for again.

    Example:
        >>> one = call_key(scope="run", role="critic", fingerprint="m", digests=["a", "b"])
        >>> one == call_key(scope="run", role="critic", fingerprint="m", digests=["b", "a"])
        False
    """
    unstable = sorted(_CHANGES_ON_REPLAY.intersection(parts) | _CHANGES_ON_REPLAY.intersection(params or ()))
    if unstable:
        raise ConfigError(
            f"The key of a {role} call must not contain {', '.join(unstable)}.",
            remedy="Leave out what differs when the same call is asked for again.",
        )
    named = {
        "attempt": attempt,
        "candidate": candidate,
        "digests": list(digests),
        "fingerprint": fingerprint,
        "params": dict(params or {}),
        "parts": parts,
        "role": role,
        "scope": scope,
        "step": step,
        "template": template,
        "v": VERSION,
    }
    try:
        return hashlib.sha256(canonical_json(named)).hexdigest()
    except (TypeError, ValueError) as error:
        raise ConfigError(
            f"The key of a {role} call cannot be made: {error}", remedy="Give JSON types only."
        ) from error


def artifacts_of(result: Mapping[str, Any]) -> list[str]:
    """The digests of what a result names: every reference in it, and a plan that is an artifact of its own.

    Example:
        >>> artifacts_of({"image": {"sha256": "a" * 64, "size": 1}, "model": "b" * 64}) == ["a" * 64]
        True
    """
    found: dict[str, None] = {}
    plan = result.get("plan")
    if isinstance(plan, str) and _DIGEST.fullmatch(plan):
        found[plan] = None
    waiting: list[object] = [result]
    while waiting:
        value = waiting.pop()
        if isinstance(value, Mapping):
            fields = cast("Mapping[str, object]", value)
            digest = fields.get("sha256")
            if isinstance(digest, str) and "size" in fields and _DIGEST.fullmatch(digest):
                found[digest] = None
            waiting.extend(fields.values())
        elif isinstance(value, list):
            waiting.extend(cast("list[object]", value))
    return list(found)


def problem_of(error: BaseException) -> Problem:
    """An error as it is recorded: class, message and remedy, shortened and without what looks like a secret."""
    message = error.message if isinstance(error, InterleaveError) else str(error)
    remedy = error.remedy if isinstance(error, InterleaveError) else ""
    return Problem(error=type(error).__name__, message=_safe(message), remedy=_safe(remedy))


def _safe(text: str) -> str:
    text = _SECRET.sub(lambda match: f"{match['name'] or ''}***", public(text))
    return text if len(text) <= _LONGEST_MESSAGE else text[: _LONGEST_MESSAGE - 1] + "…"


def used_by(error: BaseException, *, billed: bool) -> Usage:
    """What an answer used that gave nothing to use; where it does not say, unknown where billed, and of a refusal 0.

    Example:
        >>> used_by(ValueError("no"), billed=False).cost_usd
        0.0
    """
    used = getattr(error, "usage", None)
    # What a provider refuses it does not bill, unless it says what that used.
    free = not billed or isinstance(error, ContentBlocked)
    return used if isinstance(used, Usage) else Usage(cost_usd=0.0 if free else None)


Ending = Literal["released", "failed", "ambiguous"]

#: Raised before anything is sent, or because it was refused: nothing was produced.
_NOT_PRODUCED = (ArtifactMissing, Cancelled, ConfigError, InvalidRequest, LimitReached, QuotaExhausted)


def ending_of(error: BaseException, *, billed: bool) -> Ending:
    """What an error says about the call that raised it.

    Args:
        error: What the call raised.
        billed: Whether the call costs money.

    Returns:
        `released` (provably nothing was produced), `failed` (answered, with nothing to use), or
        `ambiguous` (may have been produced and billed).
    """
    if isinstance(error, CallError) and error.ambiguous:
        return "ambiguous" if billed else "failed"
    if isinstance(error, ContentBlocked):
        return "failed"  # also one that is sent again in other words
    if isinstance(error, _NOT_PRODUCED) or (isinstance(error, CallError) and error.resendable):
        return "released"
    if isinstance(error, (CallError, PlanError, CritiqueError)) or not billed:
        return "failed"
    return "ambiguous"

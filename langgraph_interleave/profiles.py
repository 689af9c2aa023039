"""What one call of a role takes: model, usage, seconds; as the part says, as measured, or as assumed."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Protocol, runtime_checkable

from langgraph_interleave.errors import Role
from langgraph_interleave.ledger import CallRecord
from langgraph_interleave.prices import Costs
from langgraph_interleave.types import Usage

ROLES: tuple[Role, ...] = ("planner", "backend", "critic")

#: Seconds one call is taken to last where nothing better is known. Assumptions; `calls_seconds` measures.
SECONDS: Mapping[Role, float] = {"planner": 20.0, "backend": 15.0, "critic": 6.0}
#: The same where the part is code of this machine, and no model.
CODE_SECONDS = 0.1
#: How many steps a request is taken to want where nobody says.
TYPICAL_STEPS = 5
#: Tokens one call is taken to use where the part does not say. Assumptions: a drawing of about
#: 1024x1024 pixels in medium quality with one reference, a critique of two pictures.
PLAN_USAGE = Usage(input_tokens=2000, output_tokens=500)
PLAN_TOKENS_PER_STEP = 200
DRAWING_USAGE = Usage(
    input_tokens=1150, image_input_tokens=1000, output_tokens=1100, image_output_tokens=1100, images=1
)
CRITIQUE_USAGE = Usage(input_tokens=3500, image_input_tokens=2000, output_tokens=400)


@runtime_checkable
class Priced(Protocol):
    """A part that says what a call of it takes. Optional: without it the assumptions above are used.

    `model_name` is looked up in the prices: in the part's own, where it has an attribute `prices`. A usage
    that has its own `cost_usd` is taken at that.
    """

    model_name: str
    expected_usage: Usage


@dataclass(frozen=True, slots=True)
class CallProfile:
    """What one call of a role takes.

    Attributes:
        requests: Model and usage of each request that a call makes.
        billed: Whether it costs money.
        seconds: How long it lasts.
        concurrency: How many may run at once.
        repeatable: Whether it may have to be repeated: so with every model, not with code of ours.
        prices: Prices of the part's own, by model; they go before those of `cost`.
    """

    requests: tuple[tuple[str, Usage], ...]
    billed: bool
    seconds: float
    concurrency: int = 1
    repeatable: bool = True
    prices: Mapping[str, Costs] = field(default_factory=lambda: MappingProxyType({}))

    def of_pictures(self, n: int) -> CallProfile:
        """The same of a call for `n` pictures: what is drawn is that often as much, what is sent is as it was."""
        if n == 1:
            return self
        more = [
            (model, usage.model_copy(update={
                "images": usage.images * n,
                "output_tokens": usage.output_tokens * n,
                "image_output_tokens": usage.image_output_tokens * n,
                "cost_usd": None if usage.cost_usd is None else usage.cost_usd * n,
            }))
            for model, usage in self.requests
        ]  # fmt: skip
        return replace(self, requests=tuple(more))

    def cost(self, prices: Costs) -> tuple[float | None, tuple[str, ...]]:
        """US dollars of one call; `None` and the models without a price, when there are any."""
        if not self.billed:
            return 0.0, ()
        costs = [(model, self.prices.get(model, prices).cost(model, usage)) for model, usage in self.requests]
        missing = tuple(dict.fromkeys(model for model, cost in costs if cost is None))
        return (None if missing else math.fsum(cost or 0.0 for _, cost in costs)), missing


def calls_seconds(records: Iterable[CallRecord]) -> dict[Role, float]:
    """Mean seconds per call and role over finished ledger records; a role without any is left out."""
    spans: defaultdict[Role, list[float]] = defaultdict(list)
    for record in records:
        if record.status == "finished" and record.seconds is not None:
            spans[record.role].append(record.seconds)
    return {role: math.fsum(spans[role]) / len(spans[role]) for role in ROLES if spans[role]}


def profile_of(
    role: Role, part: object | None, *, steps: int = TYPICAL_STEPS, seconds: float | None = None
) -> CallProfile:
    """What one call of a part takes, by what it says of itself (`Priced`) and else by the assumptions here.

    Args:
        role: What it is for.
        part: Planner, backend or critic, a profile that is taken as it is, or `None` for one nobody knows.
        steps: Steps of the plan that a planner writes.
        seconds: How long a call lasts, where that is known.
    """
    if isinstance(part, CallProfile):
        return part
    if part is None:
        lasts = SECONDS[role] if seconds is None else seconds
        return CallProfile(((f"the {role}", Usage()),), billed=True, seconds=lasts, concurrency=max(1, steps))
    requests = _requests(role, part, steps)
    billed = _billed(role, part)
    model = billed or any(name for name, _ in requests)
    lasts = (SECONDS[role] if model else CODE_SECONDS) if seconds is None else seconds
    can: Any = getattr(part, "capabilities", None) if role == "backend" else None
    return CallProfile(
        requests=tuple((name or f"the {role}", usage) for name, usage in requests),
        billed=billed,
        seconds=lasts,
        concurrency=max(1, int(getattr(can, "concurrency", 1))),
        repeatable=model,
        prices=MappingProxyType(dict(_own_prices(part))),
    )


def _billed(role: Role, part: object) -> bool:
    said: object = getattr(part, "capabilities", None) if role == "backend" else part
    return bool(getattr(said, "billed", False))


def _requests(role: Role, part: object, steps: int) -> list[tuple[str, Usage]]:
    members: object = getattr(part, "members", None)
    if isinstance(members, tuple) and members:
        return [request for member in members for request in _requests(role, member, steps)]
    usage: object = getattr(part, "expected_usage", None)
    if not isinstance(usage, Usage):
        plan = PLAN_USAGE.output_tokens + PLAN_TOKENS_PER_STEP * steps
        usage = {
            "planner": PLAN_USAGE.model_copy(update={"output_tokens": plan}),
            "backend": DRAWING_USAGE,
            "critic": CRITIQUE_USAGE,
        }[role]
    if not _billed(role, part):
        usage = usage.model_copy(update={"cost_usd": 0.0})
    return [(_model_name(part), usage)]


def _own_prices(part: object) -> Iterator[tuple[str, Costs]]:
    members: object = getattr(part, "members", None)
    for member in members if isinstance(members, tuple) else ():
        yield from _own_prices(member)
    own: object = getattr(part, "prices", None)
    if isinstance(own, Costs):
        yield _model_name(part), own


def _model_name(part: object) -> str:
    """The name of a part's model: its own word, or that of the chat model it holds."""
    model = getattr(part, "model", None)
    for holder in (part, model, getattr(model, "bound", None)):
        for attribute in ("model_name", "model"):
            name: object = getattr(holder, attribute, None)
            if isinstance(name, str) and name:
                return name
    return ""

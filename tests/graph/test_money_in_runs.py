"""Runs under caps on money, and on each step: what is drawn, what is left out, and what is refused at once."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from langgraph_interleave.artifacts import ArtifactStore
from langgraph_interleave.context import InterleaveContext
from langgraph_interleave.errors import ConfigError, Unavailable
from langgraph_interleave.limits import Limits
from langgraph_interleave.prices import Prices
from langgraph_interleave.testing import ScriptedBackend, ScriptedCritic, noise_card, simple_plan
from langgraph_interleave.types import Capabilities, ImageRequest, ImageResult, StepRecord, Usage

Make = Callable[..., Any]
Ends = Callable[[Any], list[tuple[str | None, str | None]]]
ASK: Any = {"request": "things"}


class Paid(ScriptedBackend):
    """A backend whose pictures cost a tenth of a dollar each, as its price says or dearer."""

    def __init__(
        self, cost_usd: float | None = 0.1, *, fails: Callable[[ImageRequest], Exception | None] = lambda _: None,
        at_once: int = 1, **options: Any,
    ) -> None:  # fmt: skip
        def draw(request: ImageRequest) -> object:
            error = fails(request)
            if error is not None:
                return error
            cards = tuple(noise_card(request.prompt, seed=(request.seed or 0) + n) for n in range(request.n))
            paid = None if cost_usd is None else cost_usd * request.n
            return ImageResult(cards, usage=Usage(images=request.n, cost_usd=paid))

        can = Capabilities(
            edit="instruct", max_references=4, seed="exact", concurrency=64, billed=True, max_images=at_once
        )
        super().__init__(draw, capabilities=can, **options)
        self.model_name = "tenth"
        self.prices = Prices().merged({"tenth": {"picture": 0.1}})


@pytest.fixture
def store() -> ArtifactStore:
    return ArtifactStore.memory()


@pytest.fixture
def build(make: Make, store: ArtifactStore) -> Make:
    return partial(make, artifacts=store)


@pytest.fixture
def ends(store: ArtifactStore) -> Ends:
    """Outcome of each step, and the limit that ended it."""

    def look(result: Any) -> list[tuple[str | None, str | None]]:
        records = [StepRecord.model_validate(store.get_json(step["record"])) for step in result["document"]["steps"]]
        return [(record.outcome, record.limit) for record in records]

    return look


def revises(first: int) -> ScriptedCritic:
    """A critic that wants step 0 otherwise so often, and nothing else."""
    return ScriptedCritic(lambda asked: "revise" if "thing 0" in asked.prompt and asked.attempt < first else "accept")


def apart(count: int) -> Any:
    return simple_plan(count, sources=[[]] * count)


async def test_a_run_stops_before_it_costs_too_much(build: Make, ends: Ends) -> None:
    graph, _, backend, _ = build(apart(4), Paid(), limits=Limits(max_cost_usd=0.25))
    result = await graph.ainvoke(ASK)
    assert sorted(ends(result)) == [("accepted", None)] * 2 + [("skipped", "max_cost_usd")] * 2
    assert len(backend.requests) == 2, "side by side as well: what is reserved counts"
    assert result["outcome"] == "partial" and result["document"]["reasons"] == ["limit"]


async def test_a_step_that_takes_too_much_ends_and_the_others_go_on(build: Make, ends: Ends) -> None:
    limits = Limits(max_attempts=4, step_max_cost_usd=0.2)
    graph, _, backend, _ = build(apart(2), Paid(), revises(9), limits=limits)
    result = await graph.ainvoke(ASK)
    assert ends(result) == [("exhausted", "step_max_cost_usd"), ("accepted", None)]
    assert len(backend.requests) == 3 and result["document"]["steps"][0]["image"] is not None


@pytest.mark.parametrize(
    ("limits", "drawn"),
    [(Limits(step_max_images=1), 2), (Limits(step_max_calls=3), 3), (Limits(step_max_calls=1), 2)],
)
async def test_pictures_and_calls_have_caps_by_step(build: Make, ends: Ends, limits: Limits, drawn: int) -> None:
    graph, _, backend, critic = build(2, Paid(), revises(9), limits=limits.model_copy(update={"max_attempts": 5}))
    result = await graph.ainvoke(ASK)
    [first, second] = ends(result)
    assert first[0] == "exhausted" and first[1] in limits.model_fields_set
    assert len(backend.requests) == drawn
    assert second[0] == ("exhausted" if limits.step_max_calls == 1 else "accepted"), "its own calls are counted anew"
    assert len(critic.requests) <= 2 * (limits.step_max_calls or 9)


async def test_a_step_that_takes_too_long_ends_and_the_others_go_on(build: Make, ends: Ends) -> None:
    backend = ScriptedBackend(delay_s=lambda asked: 30.0 if "thing 0" in asked.prompt else 0.0)
    graph, *_ = build(apart(2), backend, limits=Limits(step_max_seconds=0.2))
    result = await graph.ainvoke(ASK)
    assert ends(result) == [("skipped", "step_max_seconds"), ("accepted", None)]


async def test_without_a_price_nothing_is_begun(build: Make, ends: Ends) -> None:
    nameless = Paid()
    nameless.model_name, nameless.prices = "unheard-of", Prices()
    graph, planner, backend, _ = build(2, nameless, limits=Limits(max_cost_usd=5))
    with pytest.raises(ConfigError, match=r"max_cost_usd cannot be kept: .* the backend \(unheard-of\)") as caught:
        await graph.ainvoke(ASK)
    assert "LANGGRAPH_INTERLEAVE_PRICES" in caught.value.remedy
    assert planner.requests == backend.requests == []
    graph, *_ = build(2, nameless)
    assert (await graph.ainvoke(ASK))["outcome"] == "complete", "without a cap nobody needs a price"


async def test_several_pictures_of_one_call_cost_as_many(build: Make, ends: Ends) -> None:
    graph, _, backend, _ = build(
        apart(2), Paid(at_once=4), limits=Limits(max_cost_usd=0.45), candidates=3, lookahead=False
    )
    result = await graph.ainvoke(ASK)
    assert len(backend.requests) == 1 and backend.requests[0].n == 3
    assert sorted(ends(result)) == [("accepted", None), ("skipped", "max_cost_usd")]


async def test_what_cost_more_is_shown_and_the_next_is_reserved_at_that(build: Make, ends: Ends) -> None:
    graph, _, backend, _ = build(4, Paid(0.3), limits=Limits(max_cost_usd=0.5), lookahead=False)
    result = await graph.ainvoke(ASK)
    assert len(backend.requests) == 1, "0.3 are spent, and another 0.3 would be too much"
    assert ends(result)[1] == ("skipped", "max_cost_usd")


async def test_an_ambiguous_call_counts_in_full_and_says_what_it_may_have_cost(build: Make, ends: Ends) -> None:
    lost = [Unavailable("502", role="backend", ambiguous=True)]
    backend = Paid(fails=lambda asked: lost.pop() if lost else None)
    graph, *_ = build(3, backend, limits=Limits(max_cost_usd=0.25, max_repeats=1), lookahead=False)
    spend = (await graph.ainvoke(ASK))["spend"]
    assert len(backend.requests) == 2, "one of them perhaps in vain"
    assert (spend["ambiguous"], spend["ambiguous_cost_usd"]) == (1, 0.1)


async def test_what_was_refused_leaves_the_money_where_it_was(build: Make, ends: Ends) -> None:
    refused = [Unavailable("refused", role="backend", ambiguous=False) for _ in range(2)]
    backend = Paid(fails=lambda asked: refused.pop() if refused else None)
    graph, *_ = build(1, backend, limits=Limits(max_cost_usd=0.1), lookahead=False)
    result = await graph.ainvoke(ASK)
    assert ends(result) == [("accepted", None)] and len(backend.requests) == 3


async def test_what_an_earlier_invocation_cost_counts(build: Make, ends: Ends) -> None:
    backend = Paid()
    small = InterleaveContext(run_id="r", limits=Limits(max_cost_usd=0.1))
    more = InterleaveContext(run_id="r", limits=Limits(max_cost_usd=0.2))
    graph, *_ = build(3, backend, lookahead=False)
    for context, drawn in ((small, 1), (more, 2), (more, 2)):
        await graph.ainvoke(ASK, context=context)
        assert len(backend.requests) == drawn

"""Random plans under random reviewers and random critics: every run ends, and nothing is drawn twice for nothing."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from langgraph_interleave import ArtifactStore, Document, Limits, image_part
from langgraph_interleave.testing import noise_card, simple_plan
from langgraph_interleave.types import Change, Changes, Critique

THREAD: Any = {"configurable": {"thread_id": "t"}}
#: A reviewer asks for so many rounds at most before accepting everything.
_PATIENCE = 12


def random_plan(rng: random.Random) -> Any:
    count = rng.randint(1, 6)
    sources = [sorted(rng.sample(range(i), rng.randint(0, min(i, 2)))) for i in range(count)]
    text = [i for i in range(count) if rng.random() < 0.15]
    return simple_plan(count, sources=sources, text=text)


def random_answer(rng: random.Random, asked: Any, own: Any) -> Any:
    if asked["ask"] == "plan":
        return rng.choice([{"decision": "accept"}, {"decision": "revise", "remark": "other"}])
    if asked["ask"] == "limit":
        higher = {one["limit"]: one["cap"] + rng.randint(1, 4) for one in (asked, *asked.get("also", ()))}
        suggested = {"decision": "raise", "limits": asked.get("suggested")}
        return rng.choice(
            [{"decision": "raise", "limits": higher}] * 4
            + [suggested, {"decision": "finish"}, {"decision": "raise", "limits": {asked["limit"]: asked["cap"]}}]
        )
    return rng.choice(
        [
            {"decision": "accept"},
            {"decision": "revise"},
            {"decision": "revise", "remark": "Larger."},
            {"decision": "revise", "prompt": f"mine {rng.random()}"},
            {"decision": "replace", "image": own},
            {"decision": "skip"},
            {"decision": "accept", "attempt": 0},
            "nonsense",
        ]
    )


def last_word(asked: Any) -> Any:
    """The answer of somebody who wants to be asked no more."""
    if asked["ask"] == "limit":
        return {"decision": "finish"}
    return {"decision": "accept" if asked["ask"] == "plan" or "image" in asked else "skip"}


def random_limits(rng: random.Random) -> dict[str, Any]:
    return {
        "max_images": rng.choice([None, 1, 2, 4]), "max_calls": rng.choice([None, rng.randint(2, 8)]),
        "step_max_images": rng.choice([None, None, 2]),
    }  # fmt: skip


@pytest.mark.parametrize("seed", range(20))
async def test_every_reviewed_run_ends(make: Any, seed: int) -> None:
    await carry_out(make, random.Random(seed))


@pytest.mark.parametrize("seed", [*range(12), *(pytest.param(n, marks=pytest.mark.slow) for n in range(12, 100))])
async def test_every_run_that_asks_at_its_limits_ends(make: Any, seed: int) -> None:
    rng = random.Random(seed)
    await carry_out(make, rng, on_limit="ask", **random_limits(rng))


async def carry_out(make: Any, rng: random.Random, *, on_limit: str = "finish", **caps: Any) -> None:
    plan = random_plan(rng)

    def planned(request: Any) -> Any:
        if request.existing is None:
            return plan
        steps = [Change(change="keep", step=step.index) for step in request.existing.plan.steps]
        drawn = [step.index for step in request.existing.plan.steps if step.op != "text"]
        if drawn:
            steps[drawn[0]] = Change(change="redo", step=drawn[0], prompt=f"planned {len(planner.requests)}")
        return Changes(steps=tuple(steps))

    def judged(request: Any) -> Any:
        if rng.random() < 0.4:
            return Critique(
                verdict="revise", reasoning="no", refined_prompt=rng.choice([None, f"refined {rng.random()}"])
            )
        return "accept"

    store = ArtifactStore.memory()
    own = image_part(noise_card("own").data, store)
    approve = rng.choice([{"steps"}, {"plan", "steps"}, {"plan"}, set[str]()])
    lookahead = rng.random() < 0.5
    graph, planner, backend, _ = make(
        planned, None, judged, approve=approve, artifacts=store, checkpointer=InMemorySaver(),
        on_exhausted=rng.choice(["best", "last", "ask", "replan"]), lookahead=lookahead,
        limits=Limits(max_attempts=rng.randint(1, 3), **caps), on_limit=on_limit,
    )  # fmt: skip
    result = await graph.ainvoke({"request": "x"}, THREAD)
    rounds = 0
    while "__interrupt__" in result:
        assert result["outcome"] == "waiting"
        rounds += 1
        assert rounds < 40, "it never ends"
        patient = rounds < _PATIENCE
        kinds = {one.value["ask"] for one in result["__interrupt__"]}
        assert "limit" not in kinds or len(result["__interrupt__"]) == 1, "a limit is asked about alone"
        answers = {
            one.id: random_answer(rng, one.value, own) if patient else last_word(one.value)
            for one in result["__interrupt__"]
        }
        result = await graph.ainvoke(Command(resume=answers), THREAD)
    assert result["outcome"] in ("complete", "partial", "failed")
    assert all(step["outcome"] not in ("waiting", "cancelled") for step in result["document"]["steps"])
    if not lookahead:  # a bet that was lost may be drawn again later, and does not count where it cost nothing
        asked = Counter((r.prompt, r.seed, tuple(used.data for used in r.references)) for r in backend.requests)
        assert max(asked.values(), default=1) == 1, "the same drawing twice"
        assert result["spend"]["calls"].get("backend", 0) == len(backend.requests)
    held = store.get_json(result["document"]["plan"])["settings"]["limits"]["max_images"]
    assert held is None or result["spend"]["images"] <= held
    document = Document.load(result["document"], store)
    assert document.to_html() and document.to_markdown()
    if "steps" in approve:
        kept = [record for record in document.records() if record is not None and record.picture is not None]
        assert all(
            record.attempts[record.kept or 0].review is not None for record in kept if record.outcome == "accepted"
        )

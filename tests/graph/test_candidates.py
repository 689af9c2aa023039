"""Several pictures of one attempt: drawn, judged, the best taken; in whole runs, resumed and cut off."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from langgraph_interleave.artifacts import ArtifactStore
from langgraph_interleave.context import InterleaveContext
from langgraph_interleave.errors import Unavailable
from langgraph_interleave.graph import create_interleave_graph
from langgraph_interleave.limits import Limits
from langgraph_interleave.testing import ScriptedBackend, ScriptedCritic, ScriptedPlanner, noise_card, simple_plan
from langgraph_interleave.types import (
    Capabilities,
    CheckResult,
    Critique,
    CritiqueRequest,
    ImageRequest,
    ImageResult,
    Scores,
    StepRecord,
    Usage,
)

ASK: Any = {"request": "things"}


def drawing(asked: ImageRequest) -> ImageResult:
    cards = tuple(noise_card(asked.prompt, seed=(asked.seed or 0) + i) for i in range(asked.n))
    return ImageResult(cards, usage=Usage(images=asked.n))


def backend_of(at_once: int, draw: Any = drawing, **capabilities: Any) -> ScriptedBackend:
    can = Capabilities(
        edit="instruct", max_references=4, seed="exact", concurrency=64, max_images=at_once, **capabilities
    )
    return ScriptedBackend(draw, capabilities=can)


def score_of(asked: CritiqueRequest) -> int:
    return asked.after.data[-9] % 10


def scoring(accept: Callable[[CritiqueRequest], bool]) -> ScriptedCritic:
    return ScriptedCritic(
        lambda asked: Critique(
            verdict="accept" if accept(asked) else "revise",
            scores=Scores(quality=score_of(asked)),
            refined_prompt=None if accept(asked) else f"better {asked.prompt}",
        )
    )


def records_of(result: Any, store: ArtifactStore) -> list[StepRecord]:
    return [StepRecord.model_validate(store.get_json(step["record"])) for step in result["document"]["steps"]]


@pytest.mark.parametrize(("at_once", "asked"), [(4, [(0, 3)]), (2, [(0, 2), (2, 1)]), (1, [(0, 1), (1, 1), (2, 1)])])
async def test_all_are_drawn_and_judged_and_the_best_is_kept(at_once: int, asked: list[tuple[int, int]]) -> None:
    store, backend, critic = ArtifactStore.memory(), backend_of(at_once), scoring(lambda _: True)
    graph = create_interleave_graph(
        ScriptedPlanner(simple_plan(1)), backend, critic, candidates=3, artifacts=store, lookahead=False
    )
    result = await graph.ainvoke(ASK)
    [record] = records_of(result, store)
    attempt = record.attempts[0]
    first = backend.requests[0].seed or 0
    assert sorted(((one.seed or 0) - first, one.n) for one in backend.requests) == asked
    assert [one.seed for one in attempt.candidates] == [first, first + 1, first + 2]
    scores = [one.critique.scores.mean or 0.0 for one in attempt.candidates if one.critique is not None]
    assert len(scores) == len(critic.requests) == 3
    chosen = attempt.candidates[attempt.chosen or 0]
    assert attempt.chosen == scores.index(max(scores)), "the highest score, and of equals the first"
    assert (attempt.image, attempt.seed, attempt.critique) == (chosen.image, chosen.seed, chosen.critique)
    assert attempt.image == record.picture and result["outcome"] == "complete"
    assert len(attempt.calls) == len(set(attempt.calls)) == len(asked) + 3
    assert result["spend"]["images"] == 3 and result["spend"]["calls"]["backend"] == len(asked)


async def test_pictures_are_the_same_in_one_call_or_several() -> None:
    found: list[list[str]] = []
    for at_once in (1, 2, 4):
        store = ArtifactStore.memory()
        graph = create_interleave_graph(
            ScriptedPlanner(simple_plan(3)), backend_of(at_once), scoring(lambda asked: score_of(asked) > 5),
            candidates=4, artifacts=store, lookahead=False,
        )  # fmt: skip
        result = await graph.ainvoke(ASK)
        found.append(
            [one.image.sha256 for record in records_of(result, store) for a in record.attempts for one in a.candidates
             if one.image is not None]
        )  # fmt: skip
    assert found[0] == found[1] == found[2]


async def test_what_is_accepted_goes_before_a_higher_score() -> None:
    store = ArtifactStore.memory()
    verdicts = iter([("revise", 9.0), ("accept", 3.0), ("accept", 4.0), ("revise", 10.0)])

    def judge(asked: CritiqueRequest) -> Critique:
        verdict, score = next(verdicts)
        return Critique(verdict=verdict, scores=Scores(quality=score))  # type: ignore[arg-type]

    graph = create_interleave_graph(
        ScriptedPlanner(simple_plan(1)), backend_of(4), ScriptedCritic(judge), candidates=4, artifacts=store
    )
    [record] = records_of(await graph.ainvoke(ASK), store)
    assert record.attempts[0].chosen == 2 and record.outcome == "accepted"


async def test_none_accepted_is_refined_from_the_best() -> None:
    backend = backend_of(2)
    critic = scoring(lambda asked: asked.attempt == 1)
    graph = create_interleave_graph(
        ScriptedPlanner(simple_plan(1)), backend, critic, candidates=2, artifacts=(store := ArtifactStore.memory())
    )
    [record] = records_of(await graph.ainvoke(ASK), store)
    first, second = record.attempts
    assert first.critique is not None and second.prompt == first.critique.refined_prompt == "better thing 0"
    assert record.kept == 1 and len(backend.requests) == 2


async def test_a_drawing_that_fails_leaves_fewer_to_choose_from() -> None:
    def draw(asked: ImageRequest) -> Any:
        return Unavailable("Out of paper.") if (asked.seed or 0) % 2 else drawing(asked)

    store = ArtifactStore.memory()
    graph = create_interleave_graph(
        ScriptedPlanner(simple_plan(1)), backend_of(1, draw), ScriptedCritic(), candidates=2, artifacts=store,
        limits=Limits(max_repeats=0),
    )  # fmt: skip
    told = [event async for event in graph.astream(ASK, stream_mode="custom")]
    result = await graph.ainvoke(ASK, context=InterleaveContext(run_id="again"))
    [record] = records_of(result, store)
    attempt = record.attempts[0]
    assert [one.image is None for one in attempt.candidates].count(True) == 1
    failed = next(one for one in attempt.candidates if one.image is None)
    assert failed.problem is not None and failed.problem.error == "Unavailable"
    assert record.outcome == "accepted" and result["outcome"] == "complete"
    assert [event["message"] for event in told if event.get("code") == "candidates"] == [
        "One picture less to choose from: Out of paper."
    ]


async def test_a_backend_that_gives_fewer_than_asked_for() -> None:
    store = ArtifactStore.memory()
    graph = create_interleave_graph(
        ScriptedPlanner(simple_plan(1)), backend_of(4, lambda asked: noise_card(asked.prompt)), ScriptedCritic(),
        candidates=3, artifacts=store,
    )  # fmt: skip
    result = await graph.ainvoke(ASK)
    [record] = records_of(result, store)
    assert [one.problem.error if one.problem else None for one in record.attempts[0].candidates] == [
        None, "NoImage", "NoImage",
    ]  # fmt: skip
    assert result["outcome"] == "complete"


async def test_no_drawing_at_all_is_the_steps_problem() -> None:
    graph = create_interleave_graph(
        ScriptedPlanner(simple_plan(2, sources=[[], []])),
        backend_of(1, lambda asked: Unavailable("Out of paper.") if asked.prompt == "thing 0" else drawing(asked)),
        ScriptedCritic(), candidates=2, limits=Limits(max_repeats=0),
    )  # fmt: skip
    result = await graph.ainvoke(ASK)
    assert [step["outcome"] for step in result["document"]["steps"]] == ["backend_failed", "accepted"]


class FewDark:
    """Turns down every picture whose first seed is even."""

    name = "few_dark"

    def check(self, step: Any, before: Any, after: Any, references: Any) -> CheckResult:
        return CheckResult(name=self.name, passed=bool((after.seed or 0) % 2), reason="Too dark.")


async def test_the_critic_is_asked_only_about_what_no_check_objects_to() -> None:
    store, critic = ArtifactStore.memory(), ScriptedCritic()
    graph = create_interleave_graph(
        ScriptedPlanner(simple_plan(1)), backend_of(4), critic, candidates=4, checks=[FewDark()], artifacts=store
    )
    [record] = records_of(await graph.ainvoke(ASK), store)
    attempt = record.attempts[0]
    assert len(critic.requests) == 2
    assert [one.critique.judge for one in attempt.candidates if one.critique] == [
        "critic" if (one.seed or 0) % 2 else "check" for one in attempt.candidates
    ]
    assert attempt.critique is not None and attempt.critique.judge == "critic" and record.outcome == "accepted"


async def test_where_a_check_objects_to_all_the_critic_refines_the_first() -> None:
    class Never(FewDark):
        def check(self, step: Any, before: Any, after: Any, references: Any) -> CheckResult:
            return CheckResult(name=self.name, passed=False, reason="Too dark.")

    store, critic = ArtifactStore.memory(), ScriptedCritic(lambda _: "revise")
    graph = create_interleave_graph(
        ScriptedPlanner(simple_plan(1)), backend_of(4), critic, candidates=3, checks=[Never()], artifacts=store,
        limits=Limits(max_attempts=2),
    )  # fmt: skip
    [record] = records_of(await graph.ainvoke(ASK), store)
    assert len(critic.requests) == 1, "on the last attempt nobody is asked"
    assert record.outcome == "exhausted" and len(record.attempts) == 2


async def test_a_limit_between_two_candidates() -> None:
    store = ArtifactStore.memory()
    graph = create_interleave_graph(
        ScriptedPlanner(simple_plan(2)), backend_of(1), ScriptedCritic(), candidates=2, artifacts=store,
        limits=Limits(max_images=3), lookahead=False,
    )  # fmt: skip
    result = await graph.ainvoke(ASK)
    first, second = records_of(result, store)
    assert first.outcome == second.outcome == "accepted" and result["spend"]["images"] == 3
    assert [one.limit for one in second.attempts[0].candidates] == [None, "max_images"]


async def test_a_limit_before_any_is_judged_keeps_the_first() -> None:
    store = ArtifactStore.memory()
    graph = create_interleave_graph(
        ScriptedPlanner(simple_plan(1)), backend_of(2), ScriptedCritic(), candidates=2, artifacts=store,
        limits=Limits(max_calls=2), lookahead=False,
    )  # fmt: skip
    result = await graph.ainvoke(ASK)
    [record] = records_of(result, store)
    assert (record.outcome, record.limit, record.kept) == ("exhausted", "max_calls", 0)
    assert result["outcome"] == "partial" and result["spend"]["calls"] == {"planner": 1, "backend": 1}


async def test_the_same_run_sent_again_calls_nobody() -> None:
    store, backend, critic = ArtifactStore.memory(), backend_of(1), scoring(lambda asked: score_of(asked) > 4)
    graph = create_interleave_graph(ScriptedPlanner(simple_plan(3)), backend, critic, candidates=3, artifacts=store)
    context = InterleaveContext(run_id="mine")
    one = await graph.ainvoke(ASK, context=context)
    asked = len(backend.requests), len(critic.requests)
    two = await graph.ainvoke(ASK, context=context)
    assert (len(backend.requests), len(critic.requests)) == asked
    assert [step["record"] for step in one["document"]["steps"]] == [
        step["record"] for step in two["document"]["steps"]
    ]


async def test_equal_pictures_are_judged_once() -> None:
    critic = ScriptedCritic()
    graph = create_interleave_graph(
        ScriptedPlanner(simple_plan(1)), ScriptedBackend(lambda asked: noise_card("same")), critic, candidates=3
    )
    assert (await graph.ainvoke(ASK))["outcome"] == "complete" and len(critic.requests) == 1


async def test_a_reviewers_remark_is_about_the_chosen_one() -> None:
    store, critic = ArtifactStore.memory(), scoring(lambda _: True)
    graph = create_interleave_graph(
        ScriptedPlanner(simple_plan(1)), backend_of(2), critic, candidates=2, artifacts=store, approve={"steps"},
        checkpointer=InMemorySaver(),
    )  # fmt: skip
    thread: Any = {"configurable": {"thread_id": "t"}}
    await graph.ainvoke(ASK, thread)
    judged = len(critic.requests)
    await graph.ainvoke(Command(resume={"decision": "revise", "remark": "Bigger."}), thread)
    result = await graph.ainvoke(Command(resume={"decision": "accept"}), thread)
    [record] = records_of(result, store)
    first, second = record.attempts
    assert critic.requests[judged].after.sha256 == (first.image.sha256 if first.image else None)
    assert len(critic.requests) == judged + 1 + 2, "the remark once, then both pictures of the next attempt"
    assert second.chosen is not None and record.outcome == "accepted"


def test_lookahead_bets_on_every_picture_that_may_be_chosen() -> None:
    judged: list[str] = []

    async def slowly(asked: CritiqueRequest) -> Any:
        await asyncio.sleep(0.1)
        judged.append(asked.after.sha256)
        return Critique(verdict="accept", scores=Scores(quality=score_of(asked)))

    backend = backend_of(2)
    graph = create_interleave_graph(
        ScriptedPlanner(simple_plan(2)), backend, ScriptedCritic(slowly), candidates=2, lookahead="always"
    )
    result = graph.invoke(ASK)
    second = [asked for asked in backend.requests if asked.prompt == "thing 1"]
    assert len({asked.references[0].sha256 for asked in second}) == 2, "one bet on each"
    assert result["spend"]["calls"]["backend"] == 3 and result["spend"]["wasted"] == 1


@pytest.mark.parametrize("seed", range(8))
async def test_random_runs_end_in_order(seed: int, complaints: Callable[..., list[str]]) -> None:
    luck = random.Random(seed)
    count, k, at_once = luck.randint(1, 5), luck.randint(2, 4), luck.randint(1, 4)
    sources = [[j for j in range(i) if luck.random() < 0.4] for i in range(count)]
    chances = luck.random()

    async def draw(asked: ImageRequest) -> Any:
        await asyncio.sleep(luck.random() * 0.01)
        return Unavailable("No.") if luck.random() < 0.1 else drawing(asked)

    async def judge(asked: CritiqueRequest) -> Any:
        await asyncio.sleep(luck.random() * 0.01)
        if luck.random() < 0.05:
            return Unavailable("No.")
        accept = luck.random() < chances
        return Critique(verdict="accept" if accept else "revise", scores=Scores(quality=luck.randint(0, 10)))

    store = ArtifactStore.memory()
    graph = create_interleave_graph(
        ScriptedPlanner(simple_plan(count, sources=sources)), backend_of(at_once, draw), ScriptedCritic(judge),
        candidates=k, artifacts=store, lookahead=luck.choice(["never", "value", "always"]),
        limits=Limits(max_repeats=1, max_images=luck.choice([None, luck.randint(1, 30)])),
    )  # fmt: skip
    events = [event async for event in graph.astream(ASK, stream_mode="custom")]
    assert complaints(events) == []
    finish = events[-1]
    assert finish["outcome"] in ("complete", "partial", "failed")
    images = [event for event in events if event["type"] == "interleave.segment" and event["kind"] == "image"]
    assert max(Counter(event["step"] for event in images).values(), default=0) <= 1


def test_a_graph_of_one_picture_says_nothing_of_candidates() -> None:
    store = ArtifactStore.memory()
    graph = create_interleave_graph(
        ScriptedPlanner(simple_plan(1)), ScriptedBackend(), ScriptedCritic(), artifacts=store
    )
    [record] = records_of(graph.invoke(ASK), store)
    assert record.attempts[0].candidates == () and record.attempts[0].chosen is None


async def test_a_critique_sent_again_restarts_the_words_of_its_own_picture_only() -> None:
    first: set[str] = set()

    class Speaking(ScriptedCritic):
        async def acritique(self, request: CritiqueRequest, *, on_text: Any = None) -> Any:
            on_text("As ")  # the beginning of what it says in the end
            if not first:
                first.add(request.after.sha256)
                await asyncio.sleep(0.1)  # the other one speaks meanwhile
            elif request.after.sha256 not in first and len(first) == 1:
                first.add(request.after.sha256)
                raise Unavailable("The line broke off.")
            return await super().acritique(request)

    graph = create_interleave_graph(
        ScriptedPlanner(simple_plan(1)), backend_of(2), Speaking(), candidates=2, limits=Limits(max_repeats=1)
    )
    events = [event async for event in graph.astream(ASK, stream_mode="custom")]
    starts = Counter(
        event.get("candidate", 0) for event in events if event.get("kind") == "reasoning" and event["phase"] == "start"
        and event["step"] == 0
    )  # fmt: skip
    assert sorted(starts.values()) == [1, 2], "the one that was sent again begins anew, the other goes on"

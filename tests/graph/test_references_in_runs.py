"""Reference policies, the style in prompts, lineage and drift in whole runs."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any, get_args

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from langgraph_interleave.artifacts import ArtifactStore
from langgraph_interleave.context import InterleaveContext
from langgraph_interleave.document import Document
from langgraph_interleave.errors import ConfigError, ContentBlocked, NoImage
from langgraph_interleave.graph import create_interleave_graph
from langgraph_interleave.imaging import image_part
from langgraph_interleave.references import References
from langgraph_interleave.testing import (
    RephrasingPlanner,
    ScriptedBackend,
    ScriptedCritic,
    ScriptedPlanner,
    noise_card,
    simple_plan,
)
from langgraph_interleave.types import (
    Capabilities,
    Critique,
    CritiqueRequest,
    ImageRequest,
    ImageResult,
    Plan,
    PlanDelta,
    PlanFinished,
    StepDelta,
    StepRecord,
    StyleDelta,
    StyleGuide,
)

Make = Callable[..., Any]
ASK: Any = {"request": "four things"}
THREAD: Any = {"configurable": {"thread_id": "t"}}
STYLE = StyleGuide(look="ink drawing", characters="Mira: red boots", keep="the table")
SAID = "\n\nStyle of the whole sequence: ink drawing; characters: Mira: red boots; keep the same: the table."


def styled(count: int = 4, **fields: Any) -> Plan:
    return simple_plan(count, **fields).model_copy(update={"style_guide": STYLE})


def seen(backend: ScriptedBackend, result: dict[str, Any], photo: str | None = None) -> list[tuple[str, list[Any]]]:
    """For each drawing the last line of its prompt before the style, and its references as step numbers."""
    named = {step["image"]["sha256"]: step["index"] for step in result["document"]["steps"] if step.get("image")}
    sheet = result["document"].get("sheet")
    named |= {sheet["image"]["sha256"]: "sheet"} if sheet else {}
    named |= {photo: "photo"} if photo else {}
    return [
        (
            asked.prompt.partition("\n\nStyle")[0].splitlines()[-1],
            [named.get(one.sha256, "?") for one in asked.references],
        )
        for asked in backend.requests
    ]


async def test_each_policy_gives_its_references(make: Make) -> None:
    expected: dict[str, list[list[Any]]] = {
        "explicit": [[], [0], [0], [2]],
        "previous": [[], [0], [1], [2]],
        "first": [[], [0], [0], [0]],
        "all": [[], [0], [0, 1], [2, 1, 0]],
        "sheet": [[], [0, "sheet"], [0], [2, "sheet"]],
    }
    plan = styled(4, sources=[[], [0], [0], [2]])
    steps = [
        step.model_copy(update={"prompt": f"Mira {n}" if n % 2 else f"a table {n}", "instruction": "It happens."})
        for n, step in enumerate(plan.steps)
    ]
    for policy, references in expected.items():
        graph, _, backend, _ = make(plan.model_copy(update={"steps": tuple(steps)}), references=policy, lookahead=False)
        result = await graph.ainvoke(ASK)
        assert result["outcome"] == "complete", policy
        found = dict(seen(backend, result))
        assert [found[words] for words in ("a table 0", "Mira 1")] == references[:2], policy
        drawn = [refs for words, refs in seen(backend, result) if words.endswith(("2", "3"))]
        assert drawn == references[2:], policy


async def test_the_critic_compares_with_the_picture_before_when_the_drawing_starts_again(make: Make) -> None:
    graph, _, backend, critic = make(styled(3), references="first", lookahead=False)
    document = (await graph.ainvoke(ASK))["document"]
    first, second, third = (step["image"]["sha256"] for step in document["steps"])
    assert [one.sha256 for one in backend.requests[2].references] == [first]
    judged: CritiqueRequest = critic.requests[2]
    assert judged.before is not None and judged.before.sha256 == second
    assert [one.sha256 for one in judged.references] == [second, first] and judged.after.sha256 == third
    assert backend.requests[2].prompt == (
        "Make all of these changes to the first picture, in order, and show only the result of the last:\n"
        f"1. thing 1\n2. thing 2{SAID}"
    )
    assert judged.prompt == "thing 2"
    assert [step["depth"] for step in document["steps"]] == [0, 1, 1]
    assert [step["sources"] for step in document["steps"]] == [[], ["step:0"], ["step:0"]]


async def test_what_is_asked_for_again_is_what_was_accepted(make: Make) -> None:
    def judge(asked: CritiqueRequest) -> Any:
        tried = asked.attempt or not asked.prompt.endswith("1")
        return "accept" if tried else Critique(verdict="revise", refined_prompt="thing 1, in blue")

    graph, _, backend, _ = make(3, verdicts=judge, reanchor_every=2, lookahead=False)
    await graph.ainvoke(ASK)
    assert backend.requests[-1].prompt.splitlines()[1:] == ["1. thing 1, in blue", "2. thing 2"]


async def test_changes_with_pictures_of_their_own_are_not_merged(make: Make) -> None:
    """Their words count pictures ("image 2") that would be others here."""
    graph, _, backend, _ = make(simple_plan(4, sources=[[], [], [0, 1], [2]]), references="first", lookahead=False)
    result = await graph.ainvoke(ASK)
    assert result["outcome"] == "complete"
    assert backend.requests[-1].prompt == "Start again from the first picture. thing 3"
    assert [refs for _, refs in seen(backend, result)][-1] == [0]


async def test_the_style_goes_to_the_backend_and_the_critic_never_sees_it(make: Make) -> None:
    def judge(asked: CritiqueRequest) -> Any:
        if asked.attempt:
            return "accept"
        # A critic that has read the whole text and hands it back.
        return Critique(verdict="revise", refined_prompt=f"a better {asked.prompt}{SAID}")

    artifacts = ArtifactStore.memory()
    graph, _, backend, critic = make(styled(2), verdicts=judge, lookahead=False, artifacts=artifacts)
    document = (await graph.ainvoke(ASK))["document"]
    assert [asked.prompt for asked in backend.requests] == [
        f"thing 0{SAID}", f"a better thing 0{SAID}", f"thing 1{SAID}", f"a better thing 1{SAID}",
    ]  # fmt: skip
    assert [asked.prompt for asked in critic.requests] == [
        "thing 0", "a better thing 0", "thing 1", "a better thing 1",
    ]  # fmt: skip
    record = StepRecord.model_validate(artifacts.get_json(document["steps"][1]["record"]))
    assert [(one.prompt, one.sent) for one in record.attempts] == [
        ("thing 1", f"thing 1{SAID}"),
        ("a better thing 1", f"a better thing 1{SAID}"),
    ]


async def test_what_is_said_in_other_words_keeps_the_style() -> None:
    planner = RephrasingPlanner(styled(1))
    backend = ScriptedBackend(lambda r: ContentBlocked("No.") if "gentle" not in r.prompt else noise_card(r.prompt))
    graph = create_interleave_graph(planner, backend, ScriptedCritic())
    assert (await graph.ainvoke(ASK))["outcome"] == "complete"
    assert planner.rephrased == ["thing 0"]
    assert backend.requests[-1].prompt == f"a gentle thing 0{SAID}"


async def test_no_style_in_the_prompts_of_the_built_in_world_or_where_it_is_not_wanted(make: Make) -> None:
    graph, _, backend, _ = make(styled(2), style_in_prompts=False, lookahead=False)
    await graph.ainvoke(ASK)
    assert [asked.prompt for asked in backend.requests] == ["thing 0", "thing 1"]
    context = InterleaveContext(style_in_prompts=True)
    await graph.ainvoke(ASK, context=context)
    assert backend.requests[-1].prompt == f"thing 1{SAID}"
    world = create_interleave_graph(size="64x64")
    document = (await world.ainvoke({"request": "How to plant a bean, in 3 steps"}))["document"]
    assert document["style_guide"]["look"] and document["outcome"] == "complete"


async def test_without_the_style_in_the_prompts_nothing_of_a_chain_is_lost(make: Make) -> None:
    graph, _, backend, _ = make(styled(3), references="first", style_in_prompts=False, lookahead=False)
    await graph.ainvoke(ASK)
    assert backend.requests[-1].prompt == (
        "Make all of these changes to the first picture, in order, and show only the result of the last:\n"
        "1. thing 1\n2. thing 2"
    )


async def test_a_planner_that_describes_whole_pictures_has_nothing_said_again(make: Make) -> None:
    class Whole(ScriptedPlanner):
        whole_prompts = True

    backend = ScriptedBackend()
    graph = create_interleave_graph(Whole(styled(3)), backend, ScriptedCritic(), references="first", lookahead=False)
    assert (await graph.ainvoke(ASK))["outcome"] == "complete"
    assert backend.requests[-1].prompt == f"thing 2{SAID}"


async def test_nothing_is_drawn_before_the_style_is_known(make: Make) -> None:
    """An early start must not draw a picture that the style guide would have made another."""
    graph, planner, backend, _ = make(styled(3), early_start=True)
    planner._pace_s = 0.05
    assert (await graph.ainvoke(ASK))["outcome"] == "complete"
    assert all(asked.prompt.endswith(SAID) for asked in backend.requests) and len(backend.requests) == 3


async def test_what_was_drawn_in_another_style_is_drawn_anew() -> None:
    class Fickle(ScriptedPlanner):
        async def aplan(self, request: Any) -> AsyncIterator[PlanDelta]:
            plan = styled(2)
            yield StyleDelta(StyleGuide(look="oils"))
            for step in plan.steps:
                yield StepDelta(step)
            await asyncio.sleep(0.05)
            yield PlanFinished(plan)

    backend = ScriptedBackend(delay_s=lambda asked: 0.2 if "oils" in asked.prompt and "1" in asked.prompt else 0)
    artifacts = ArtifactStore.memory()
    graph = create_interleave_graph(Fickle(styled(1)), backend, ScriptedCritic(), artifacts=artifacts)
    document = (await graph.ainvoke(ASK))["document"]
    assert any("oils" in asked.prompt for asked in backend.requests), "it was begun early"
    for step in document["steps"]:
        record = StepRecord.model_validate(artifacts.get_json(step["record"]))
        assert [attempt.sent for attempt in record.attempts] == [f"thing {step['index']}{SAID}"]


@pytest.fixture
def photo(tmp_path: Path) -> tuple[ArtifactStore, Any, str]:
    artifacts = ArtifactStore.memory()
    card = noise_card("a photo")
    part = image_part(card.data, artifacts)
    return artifacts, {"request": [{"type": "text", "text": "my cat"}, part]}, part["url"].rpartition("/")[2]


async def test_the_users_photo_is_anchored_to_every_step(make: Make, photo: tuple[ArtifactStore, Any, str]) -> None:
    artifacts, ask, digest = photo
    graph, _, backend, critic = make(styled(3), anchor_inputs=True, artifacts=artifacts, lookahead=False)
    result = await graph.ainvoke(ask)
    assert [refs for _, refs in seen(backend, result, digest)] == [["photo"], [0, "photo"], [1, "photo"]]
    assert [len(asked.references) for asked in critic.requests] == [1, 2, 2]


async def test_what_a_backend_does_not_take_is_left_out_with_a_warning(
    make: Make, photo: tuple[ArtifactStore, Any, str]
) -> None:
    artifacts, ask, digest = photo
    small = ScriptedBackend(capabilities=Capabilities(edit="instruct", max_references=2))
    graph, *_ = make(styled(3), small, references="all", artifacts=artifacts, lookahead=False)
    events: list[dict[str, Any]] = []
    result: dict[str, Any] = {}
    async for mode, data in graph.astream(ask, stream_mode=["custom", "values"]):
        if mode == "custom":
            events.append(data)
        else:
            result = data
    assert [refs for _, refs in seen(small, result, digest)] == [["photo"], [0, "photo"], [1, "photo"]]
    told = [event["message"] for event in events if event["type"] == "interleave.warning"]
    assert told == ["The backend takes 2 references; of 3, it was not given: the picture of step 1."]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"references": "previous"}, "references='previous'"),
        ({"anchor_inputs": True, "reanchor_every": 2}, "anchor_inputs=True and reanchor_every=2"),
    ],
)
async def test_a_policy_for_a_backend_that_takes_no_pictures_is_refused(
    make: Make, options: dict[str, Any], says: str
) -> None:
    graph, planner, *_ = make(2, ScriptedBackend(capabilities=Capabilities()))
    with pytest.raises(ConfigError, match=says):
        await graph.ainvoke(ASK, context=InterleaveContext(**options))
    assert planner.requests == []


async def test_a_step_without_a_picture_is_left_out_where_it_was_only_added(make: Make) -> None:
    def draw(asked: ImageRequest) -> Any:
        return NoImage("Nothing.") if asked.prompt.startswith("thing 1") else noise_card(asked.prompt)

    graph, _, backend, _ = make(styled(3, sources=[[], [0], [0]]), draw, references="all", lookahead=False)
    result = await graph.ainvoke(ASK)
    assert [step["outcome"] for step in result["document"]["steps"]] == ["accepted", "backend_failed", "accepted"]
    assert seen(backend, result)[-1] == ("thing 2", [0])


# --- the sheet --------------------------------------------------------------------------------


async def test_a_sheet_is_one_more_drawing_and_no_step(make: Make) -> None:
    artifacts = ArtifactStore.memory()
    graph, _, backend, _ = make(styled(2), references="sheet", artifacts=artifacts)
    events: list[dict[str, Any]] = []
    result: dict[str, Any] = {}
    async for mode, data in graph.astream(ASK, stream_mode=["custom", "values"]):
        if mode == "custom":
            events.append(data)
        else:
            result = data
    document = result["document"]
    assert len(backend.requests) == 3 and result["spend"]["images"] == 3
    assert [step["index"] for step in document["steps"]] == [0, 1]
    sheet = document["sheet"]
    assert (sheet["outcome"], sheet["title"]) == ("accepted", "Reference sheet")
    [asked] = [asked.prompt for asked in backend.requests if "for reference" in asked.prompt]
    assert "Mira: red boots" in asked and "Style of" not in asked
    assert {event.get("step") for event in events if event["type"] != "interleave.run"} <= {None, 0, 1}
    assert next(event for event in reversed(events) if event["type"] == "interleave.run")["steps"] == 2
    page = Document.load(document, artifacts).to_html()
    assert "Reference sheet" in page


@pytest.mark.parametrize("told", [True, False])
async def test_where_prompts_hold_no_style_that_of_the_sheet_does_not_either(make: Make, told: bool) -> None:
    # The built-in world would draw the "light" of its own look as a lamp.
    graph, _, backend, _ = make(styled(2), references="sheet", style_in_prompts=told)
    await graph.ainvoke(ASK)
    [asked] = [asked.prompt for asked in backend.requests if "for reference" in asked.prompt]
    assert ("ink drawing" in asked) is told and asked.endswith(": Mira: red boots.")


async def test_a_warning_about_the_sheet_is_about_no_step(make: Make) -> None:
    def draw(asked: ImageRequest) -> Any:
        warned = ("It has three boots.",) if "for reference" in asked.prompt else ()
        return ImageResult((noise_card(asked.prompt),), warnings=warned)

    graph, _, _, _ = make(styled(2), draw, references="sheet")
    told = [event async for event in graph.astream(ASK, stream_mode="custom")]
    [warning] = [event for event in told if event["type"] == "interleave.warning"]
    assert warning["message"] == "Reference sheet: It has three boots." and warning.get("step") is None


async def test_without_characters_there_is_no_sheet(make: Make) -> None:
    graph, _, backend, _ = make(2, references="sheet")
    told: list[str] = []
    result: Any = None
    async for mode, data in graph.astream(ASK, stream_mode=["custom", "values"]):
        if mode == "values":
            result = data
        elif data["type"] == "interleave.warning":
            told.append(data["code"])
    assert result["outcome"] == "complete" and "sheet" not in result["document"] and len(backend.requests) == 2
    assert told == ["no_sheet"]


async def test_a_sheet_that_cannot_be_drawn_costs_no_step(make: Make) -> None:
    def draw(asked: ImageRequest) -> Any:
        return NoImage("Nothing.") if "for reference" in asked.prompt else noise_card(asked.prompt)

    graph, _, backend, _ = make(styled(2), draw, references="sheet", limits=None)
    result = await graph.ainvoke(ASK)
    assert result["outcome"] == "complete" and result["document"]["sheet"]["outcome"] == "backend_failed"
    assert [len(asked.references) for asked in backend.requests[1:]] == [0, 1]


# --- resuming, ahead of the graph ---------------------------------------------------------------


@pytest.mark.parametrize("policy", get_args(References))
async def test_cut_off_at_every_node_a_run_draws_what_it_would_have_drawn(make: Make, policy: References) -> None:
    options: dict[str, Any] = {"references": policy, "reanchor_every": 2, "lookahead": False}
    context = InterleaveContext(run_id="one")
    plan = styled(4)
    verdict: Any = lambda asked: "revise" if asked.attempt == 0 and "2" in asked.prompt else "accept"  # noqa: E731
    whole, _, drawn, _ = make(plan, verdicts=verdict, **options)
    expected = await whole.ainvoke(ASK, context=context)
    graph, _, backend, _ = make(plan, verdicts=verdict, checkpointer=InMemorySaver(), **options)
    result = await graph.ainvoke(ASK, THREAD, context=context, interrupt_before="*")
    for _ in range(60):
        if (await graph.aget_state(THREAD)).next == ():
            break
        result = await graph.ainvoke(None, THREAD, context=context, interrupt_before="*")
    named = [(step["image"]["sha256"], step["depth"], step["sources"]) for step in expected["document"]["steps"]]
    assert [(step["image"]["sha256"], step["depth"], step["sources"]) for step in result["document"]["steps"]] == named
    # A call that was under way when the run was cut off is made again; another one never is.
    assert {(asked.prompt, asked.seed) for asked in backend.requests} == {
        (asked.prompt, asked.seed) for asked in drawn.requests
    }


@pytest.mark.parametrize("policy", get_args(References))
async def test_what_is_drawn_on_a_bet_is_what_is_drawn_anyway(make: Make, policy: References) -> None:
    shown: list[list[str]] = []
    for ahead in (False, True):
        graph, _, backend, _ = make(styled(4), references=policy, lookahead=ahead)
        result = await graph.ainvoke(ASK, context=InterleaveContext(run_id="one"))
        assert result["outcome"] == "complete"
        assert len(backend.requests) == 4 + (policy == "sheet")
        shown.append([step["image"]["sha256"] for step in result["document"]["steps"]])
    assert shown[0] == shown[1]


# --- lineage and drift --------------------------------------------------------------------------


async def test_lineage_and_drift_are_in_the_document_and_on_the_page() -> None:
    artifacts = ArtifactStore.memory()
    graph = create_interleave_graph(artifacts=artifacts, size="128x128")
    document = (await graph.ainvoke({"request": "How to plant a bean, in 4 steps"}))["document"]
    steps = document["steps"]
    assert [step["depth"] for step in steps] == [0, 1, 2, 3]
    assert "drift" not in steps[0]
    assert steps[1]["drift"]["first"] == steps[1]["drift"]["previous"] > 0
    assert all(0 < step["drift"][which] <= 1 for step in steps[1:] for which in ("first", "previous"))
    page = Document.load(document, artifacts).to_html()
    assert "3 edits from the first picture. Drift: " in page


async def test_drift_is_against_a_given_photo_where_the_chain_began_with_it(
    make: Make, photo: tuple[ArtifactStore, Any, str]
) -> None:
    artifacts, ask, _ = photo
    plan = styled(2)
    steps = (plan.steps[0].model_copy(update={"op": "edit", "sources": ("input:0",)}), plan.steps[1])
    graph, *_ = make(plan.model_copy(update={"steps": steps}), artifacts=artifacts)
    document = (await graph.ainvoke(ask))["document"]
    assert [step["depth"] for step in document["steps"]] == [1, 2]
    assert document["steps"][0]["drift"]["first"] == document["steps"][0]["drift"]["previous"] > 0

"""Documents changed over turns: what is drawn again, what is kept, and what the ledger has of it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from langgraph_interleave import ArtifactStore, Document, InterleaveContext, image_part
from langgraph_interleave.changes import compare
from langgraph_interleave.errors import ArtifactMissing, ConfigError, InvalidRequest, PlanError
from langgraph_interleave.testing import noise_card, simple_plan
from langgraph_interleave.types import Change, Changes, Critique, DocumentData, Plan, Step, StyleGuide

THREAD: Any = {"configurable": {"thread_id": "t"}}
ASK: Any = {"request": "Two chains"}
#: 0 → 1 → 2 and 3 → 4, and words at the end.
CHAINS = simple_plan(6, sources=[[], [0], [1], [], [3], []], text=[5])


def keep(*steps: int) -> tuple[Change, ...]:
    return tuple(Change(change="keep", step=step) for step in steps)


def redo(step: int, prompt: str, **fields: Any) -> Change:
    return Change(change="redo", step=step, prompt=prompt, **fields)


def changes(*steps: Change, **fields: Any) -> Changes:
    return Changes(steps=steps, **fields)


def pictures(result: Any) -> list[str | None]:
    return [(step.get("image") or {}).get("sha256") for step in result["document"]["steps"]]


async def turn(graph: Any, request: Any, base: Any = "latest", **kwargs: Any) -> Any:
    return await graph.ainvoke({"request": request, "base": base}, THREAD, **kwargs)


async def test_only_what_depends_on_a_change_is_drawn_again(make: Any) -> None:
    script = [CHAINS, changes(*keep(0), redo(1, "thing 1, at night"), *keep(2, 3, 4, 5))]
    graph, planner, backend, critic = make(script, checkpointer=InMemorySaver())
    first = await graph.ainvoke(ASK, THREAD)
    backend.requests.clear()
    critic.requests.clear()
    second = await turn(graph, "Make step 2 night-time")
    assert sorted(request.prompt for request in backend.requests) == ["thing 1, at night", "thing 2"]
    assert len(critic.requests) == 2
    assert second["outcome"] == "complete"
    same = [old == new for old, new in zip(pictures(first), pictures(second), strict=True)]
    assert same == [True, False, False, True, True, True]
    assert second["spend"]["calls"] == {"planner": 1, "backend": 2, "critic": 2}
    assert (second["document"]["version"], first["document"]["version"]) == (2, 1)
    asked = planner.requests[1]
    assert asked.existing is not None and asked.existing.change.text == "Make step 2 night-time"
    assert asked.existing.plan == CHAINS and set(asked.existing.pictures) == {0, 1, 2, 3, 4}
    assert [asked.request.images[number].sha256 for number in asked.existing.pictures.values()] == pictures(first)[:5]


async def test_the_ledger_has_no_call_of_a_step_that_was_kept(make: Any) -> None:
    store = ArtifactStore.memory()
    script = [CHAINS, changes(*keep(0), redo(1, "other"), *keep(2, 3, 4, 5))]
    graph, *_ = make(script, checkpointer=InMemorySaver(), artifacts=store)
    await graph.ainvoke(ASK, THREAD)
    second = await turn(graph, "Otherwise")
    records = store.list_calls(second["document"]["run_id"])
    assert {record["step"] for record in records if record["role"] != "planner"} == {1, 2}


async def test_a_document_changed_keeps_its_earlier_versions(make: Any) -> None:
    store = ArtifactStore.memory()
    script = [
        CHAINS,
        changes(redo(0, "other"), *keep(1, 2, 3, 4, 5)),
        changes(*keep(0, 1, 2), Change(change="delete", step=3), *keep(4, 5)),
    ]
    graph, _, backend, _ = make(script, checkpointer=InMemorySaver(), artifacts=store)
    first = await graph.ainvoke(ASK, THREAD)
    second = await turn(graph, "Another start")
    third = await turn(graph, "Without the other", base=first["document"])
    parents = [result["document"].get("parent") for result in (first, second, third)]
    digest = store.put_json(first["document"])
    assert parents == [None, digest, digest], "the third forks from the first"
    assert pictures(third)[:3] == pictures(first)[:3]
    old = Document.load(second["document"], store).versions()
    assert [document.data.version for document in old] == [1, 2]
    assert Document.load(store.get_json(digest), store).data == old[0].data
    told = [change.change for change in compare(old[0].data, old[1].data)]
    assert told == ["redo", "redo", "redo", "keep", "keep", "keep"]
    assert [change.change for change in old[1].diff(old[0])] == told
    before = len(backend.requests)
    assert Document.load(store.get_json(digest), store).to_markdown()
    assert len(backend.requests) == before


@pytest.mark.parametrize("form", ["dict", "digest", "uri", "latest"])
async def test_a_base_is_named_in_any_of_its_forms(make: Any, form: str) -> None:
    store = ArtifactStore.memory()
    script = [CHAINS, changes(*keep(0, 1, 2, 3, 4, 5), title="Another")]
    graph, _, backend, _ = make(script, checkpointer=InMemorySaver(), artifacts=store)
    first = await graph.ainvoke(ASK, THREAD)
    digest = store.put_json(first["document"])
    base = {"dict": first["document"], "digest": digest, "uri": f"artifact://{digest}", "latest": "latest"}[form]
    drawn = len(backend.requests)
    second = await turn(graph, "As it is", base=base)
    assert len(backend.requests) == drawn
    assert pictures(second) == pictures(first)
    assert second["spend"]["calls"] == {"planner": 1}


@pytest.mark.parametrize(
    ("base", "says"),
    [
        ("latest", "There is no document in this thread yet"),
        ("last week's", "which names no document"),
        ("a" * 64, "is not in the artifact store"),
        ({"title": "no"}, "base is not a document: outcome"),
        ({"run_id": "r", "request": {"parts": [{"type": "text", "text": "x"}]}, "outcome": "failed"}, "has no plan"),
        (7, "base is a int, no document"),
    ],
)  # fmt: skip
async def test_a_base_that_is_none_is_refused_with_what_to_do(make: Any, base: Any, says: str) -> None:
    graph, planner, *_ = make(checkpointer=InMemorySaver())
    with pytest.raises((ConfigError, ArtifactMissing), match=says) as caught:
        await turn(graph, "Otherwise", base=base)
    assert caught.value.remedy
    assert not planner.requests


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (lambda d: {**d, "plan": d["steps"][0]["record"]}, "The plan of the document in base is something else"),
        (lambda d: with_record(d, d["plan"]), "The record of a step is something else"),
        (lambda d: with_record(d, d["steps"][1]["record"]), "Step 0 .* is not what its record says"),
        (lambda d: {**d, "steps": [{**d["steps"][0], "index": 7}]}, "Step 7 .* is not what its record says"),
        (lambda d: {**d, "v": 2}, "in base was written by a newer release: it is a document of form 2"),
    ],
)  # fmt: skip
async def test_a_base_that_was_put_together_by_hand_is_refused(make: Any, wrong: Any, says: str) -> None:
    graph, planner, *_ = make(CHAINS)
    first = await graph.ainvoke(ASK)
    with pytest.raises(ConfigError, match=says) as caught:
        await graph.ainvoke({"request": "Otherwise", "base": wrong(first["document"])})
    assert caught.value.remedy and len(planner.requests) == 1


def with_record(document: Any, digest: str) -> Any:
    return {**document, "steps": [{**document["steps"][0], "record": digest}, *document["steps"][1:]]}


async def test_the_latest_is_the_last_that_was_finished(make: Any) -> None:
    all_of_it = changes(*keep(0, 1, 2, 3, 4, 5), title="Another")
    graph, _, backend, _ = make([CHAINS, all_of_it, all_of_it], checkpointer=InMemorySaver())
    first = await graph.ainvoke(ASK, THREAD)
    left = await turn(graph, "Otherwise", context=InterleaveContext(approve=("plan",)))
    assert left["outcome"] == "waiting"
    third = await turn(graph, "Then otherwise")
    assert (third["outcome"], third["document"]["version"]) == ("complete", 2)
    assert pictures(third) == pictures(first) and len(backend.requests) == 5


async def test_a_change_of_what_waits_keeps_what_was_accepted(make: Any) -> None:
    script = [CHAINS, changes(*keep(0, 1, 2, 3, 4, 5))]
    graph, _, backend, _ = make(script, checkpointer=InMemorySaver())
    reviewed = InterleaveContext(approve=("steps",))
    waits = await graph.ainvoke(ASK, THREAD, context=reviewed)
    accepts = {question.id: "accept" for question in waits["__interrupt__"]}
    waits = await graph.ainvoke(Command(resume=accepts), THREAD, context=reviewed)
    assert [step["outcome"] for step in waits["document"]["steps"]] == [
        "accepted", "waiting", "waiting", "accepted", "waiting", "text_only",
    ]  # fmt: skip
    backend.requests.clear()
    changed = await turn(graph, "Go on alone", base=waits["document"])
    assert changed["outcome"] == "complete"
    assert sorted(request.prompt for request in backend.requests) == ["thing 1", "thing 2", "thing 4"]
    assert pictures(changed)[0] == pictures(waits)[0]


async def test_a_base_in_another_store_names_the_remedy(make: Any) -> None:
    graph, *_ = make()
    other, *_ = make()
    first = await graph.ainvoke(ASK)
    with pytest.raises(ArtifactMissing, match="Use the store the document was made with"):
        await other.ainvoke({"request": "Otherwise", "base": first["document"]})


async def test_words_alone_draw_nothing(make: Any) -> None:
    french = [Change(change="recaption", step=i, caption=f"Légende {i}") for i in range(6)]
    graph, _, backend, critic = make([CHAINS, changes(*french, title="Deux")], checkpointer=InMemorySaver())
    first = await graph.ainvoke(ASK, THREAD)
    counts = len(backend.requests), len(critic.requests)
    second = await turn(graph, "In French")
    assert (len(backend.requests), len(critic.requests)) == counts
    assert [step["caption"] for step in second["document"]["steps"]] == [f"Légende {i}" for i in range(6)]
    assert second["document"]["title"] == "Deux" and pictures(second) == pictures(first)


async def test_steps_are_inserted_deleted_and_moved_without_drawing_the_others(make: Any) -> None:
    new = Change(
        change="insert", op="edit", title="New", instruction="New.", prompt="new", caption="N", sources=("step:1",)
    )
    script = [
        CHAINS,
        changes(
            *keep(3, 4), Change(change="delete", step=1), *keep(0, 2), new.model_copy(update={"sources": ("step:2",)})
        ),
    ]
    graph, _, backend, _ = make(script, checkpointer=InMemorySaver())
    first = await graph.ainvoke(ASK, THREAD)
    backend.requests.clear()
    second = await turn(graph, "Move, drop, add")
    assert [request.prompt for request in backend.requests] == ["new"]
    old = pictures(first)
    assert pictures(second)[:4] == [old[3], old[4], old[0], old[2]]
    steps = second["document"]["steps"]
    assert [step["index"] for step in steps] == [0, 1, 2, 3, 4]
    assert steps[3]["sources"] == ["step:2"], "what was built on the deleted step builds on what that one was built on"
    assert backend.requests[0].references[0].data, "it starts from the picture that was kept"


async def test_another_style_draws_every_picture_again(make: Any) -> None:
    watercolour = StyleGuide(look="watercolour")
    graph, _, backend, critic = make(
        [CHAINS, changes(*keep(0, 1, 2, 3, 4, 5), style_guide=watercolour)], checkpointer=InMemorySaver()
    )
    await graph.ainvoke(ASK, THREAD)
    backend.requests.clear()
    critic.requests.clear()
    await turn(graph, "As watercolour")
    assert len(backend.requests) == 5
    assert {request.style_guide.look for request in critic.requests} == {"watercolour"}


async def test_a_step_may_start_from_its_present_picture(make: Any) -> None:
    """The pictures that were drawn are inputs of the change; those nothing builds on are not kept as such."""

    def darker(asked: Any) -> Any:
        if asked.existing is None:
            return CHAINS
        present = asked.existing.pictures[2]
        return changes(*keep(0, 1), redo(2, "darker", op="edit", sources=(f"input:{present}",)), *keep(3, 4, 5))

    graph, _, backend, _ = make(darker, checkpointer=InMemorySaver())
    first = await graph.ainvoke(ASK, THREAD)
    backend.requests.clear()
    second = await turn(graph, "Make step 3 darker")
    assert len(backend.requests) == 1
    parts = second["document"]["request"]["parts"]
    assert [part["type"] for part in parts] == ["text", "text", "image"]
    assert parts[2]["image"]["sha256"] == pictures(first)[2]
    assert second["document"]["steps"][2]["sources"] == ["input:0"]
    third = await turn(graph, "And again darker")
    assert [part["type"] for part in third["document"]["request"]["parts"]] == [
        "text",
        "text",
        "image",
        "text",
        "image",
    ]


async def test_a_photo_of_what_was_done_is_a_part_and_the_rest_goes_on_from_it(make: Any) -> None:
    store = ArtifactStore.memory()

    def observe(asked: Any) -> Any:
        if asked.existing is None:
            return CHAINS
        (photo,) = asked.existing.given
        assert asked.request.images[photo].uri == mine["url"]
        return changes(*keep(0, 1), redo(2, "go on", op="edit", sources=(f"input:{photo}",)), *keep(3, 4, 5))

    graph, _, backend, _ = make(observe, checkpointer=InMemorySaver(), artifacts=store)
    card = noise_card("what I did")
    mine = image_part(card.data, store, name="mine.png")
    await graph.ainvoke(ASK, THREAD)
    backend.requests.clear()
    second = await turn(graph, [{"type": "text", "text": "Mine looks like this"}, mine])
    assert [request.references[0].data for request in backend.requests] == [store.get(mine["url"])]
    assert second["document"]["request"]["parts"][2]["name"] == "mine.png"


async def test_a_planner_that_knows_nothing_of_changes_gives_a_whole_plan(make: Any) -> None:
    """Its unchanged steps are found by comparing."""
    steps = list(CHAINS.steps)
    steps[1] = steps[1].model_copy(update={"prompt": "another thing 1"})
    graph, _, backend, _ = make(
        [CHAINS, CHAINS.model_copy(update={"steps": tuple(steps)})], checkpointer=InMemorySaver()
    )
    await graph.ainvoke(ASK, THREAD)
    backend.requests.clear()
    await turn(graph, "Otherwise")
    assert sorted(request.prompt for request in backend.requests) == ["another thing 1", "thing 2"]


async def test_what_was_never_drawn_is_drawn_now(make: Any) -> None:
    broken = True

    def refuse(asked: Any) -> Any:
        if broken and asked.prompt == "thing 1":
            raise InvalidRequest("no such thing", role="backend")
        return noise_card(asked.prompt, seed=asked.seed or 0)

    graph, _, backend, _ = make([CHAINS, changes(*keep(0, 1, 2, 3, 4, 5))], refuse, checkpointer=InMemorySaver())
    first = await graph.ainvoke(ASK, THREAD)
    assert [step["outcome"] for step in first["document"]["steps"]][:3] == ["accepted", "backend_failed", "skipped"]
    broken = False
    backend.requests.clear()
    second = await turn(graph, "Again, please")
    assert [request.prompt for request in backend.requests] == ["thing 1", "thing 2"]
    assert second["outcome"] == "complete"


async def test_drawn_again_is_not_drawn_the_same(make: Any) -> None:
    graph, _, backend, _ = make(
        [CHAINS, changes(*keep(0, 1, 2, 3), Change(change="redo", step=4), *keep(5))], checkpointer=InMemorySaver()
    )
    first = await graph.ainvoke(ASK, THREAD)
    second = await turn(graph, "Draw step 5 again")
    assert pictures(first)[4] != pictures(second)[4]
    assert backend.requests[-1].prompt == "thing 4"


async def test_a_change_that_cannot_be_planned_leaves_the_document_as_it_was(make: Any) -> None:
    script = [CHAINS, PlanError("no idea"), changes(*keep(0, 1, 2, 3, 4, 5), title="Another")]
    graph, *_ = make(script, checkpointer=InMemorySaver())
    first = await graph.ainvoke(ASK, THREAD)
    second = await turn(graph, "Hm")
    assert second["outcome"] == "failed"
    third = await turn(graph, "As it is")
    assert pictures(third) == pictures(first) and third["document"]["version"] == 2


async def test_its_stream_tells_the_whole_document(make: Any, complaints: Any) -> None:
    graph, *_ = make([CHAINS, changes(*keep(0), redo(1, "x"), *keep(2, 3, 4, 5))], checkpointer=InMemorySaver())
    await graph.ainvoke(ASK, THREAD)
    given: Any = {"request": "Otherwise", "base": "latest"}
    events = [event async for event in graph.astream(given, THREAD, stream_mode="custom")]
    images = [event["step"] for event in events if event.get("kind") == "image"]
    assert sorted(images) == [0, 1, 2, 3, 4]
    assert [
        event["step"] for event in events if event["type"] == "interleave.attempt" and event["phase"] == "start"
    ] == [1, 2]
    assert not complaints(events)


@pytest.mark.parametrize("references", ["previous", "first", "all"])
async def test_the_policy_says_what_depends(make: Any, references: Any) -> None:
    chain = simple_plan(4)
    graph, _, backend, _ = make(
        [chain, changes(*keep(0, 1), redo(2, "x"), *keep(3))], checkpointer=InMemorySaver(), references=references
    )
    await graph.ainvoke(ASK, THREAD)
    backend.requests.clear()
    await turn(graph, "Otherwise")
    assert len(backend.requests) == 2


async def test_a_sheet_is_kept_while_the_characters_are_the_same(make: Any) -> None:
    style = StyleGuide(characters="Mia: a girl with a red hat")
    steps = tuple(
        Step(index=i, op="generate", instruction=f"Mia {i}.", prompt=f"Mia {i}", caption="c") for i in range(3)
    )
    plan = Plan(steps=steps, style_guide=style)
    graph, _, backend, _ = make(
        [plan, changes(*keep(0), redo(1, "Mia runs"), *keep(2))], checkpointer=InMemorySaver(), references="sheet"
    )
    await graph.ainvoke(ASK, THREAD)
    assert len(backend.requests) == 4
    backend.requests.clear()
    result = await turn(graph, "Otherwise")
    assert [request.prompt.splitlines()[0] for request in backend.requests] == ["Mia runs"]
    assert len(backend.requests[0].references) == 1, "the sheet"
    assert result["document"]["sheet"]["outcome"] == "accepted"


async def test_a_number_of_steps_that_was_insisted_on_does_not_bind_a_change(make: Any) -> None:
    new = Change(change="insert", op="generate", instruction="New.", prompt="new", caption="N")
    graph, *_ = make([CHAINS, changes(*keep(0, 1, 2, 3, 4, 5), new)], checkpointer=InMemorySaver(), steps=6)
    await graph.ainvoke(ASK, THREAD)
    assert len((await turn(graph, "One more"))["document"]["steps"]) == 7


def test_changes_work_under_sync_calls(make: Any) -> None:
    graph, _, backend, _ = make(
        [CHAINS, changes(*keep(0, 1, 2, 3), redo(4, "x"), *keep(5))], checkpointer=InMemorySaver()
    )
    graph.invoke(ASK, THREAD)
    backend.requests.clear()
    graph.invoke({"request": "Otherwise", "base": "latest"}, THREAD)
    assert len(backend.requests) == 1


async def test_a_document_stays_plain_json_without_bytes(make: Any) -> None:
    graph, *_ = make([CHAINS, changes(redo(0, "x"), *keep(1, 2, 3, 4, 5))], checkpointer=InMemorySaver())
    await graph.ainvoke(ASK, THREAD)
    result = await turn(graph, "Otherwise", context=InterleaveContext(seed=5))
    assert DocumentData.model_validate(json.loads(json.dumps(result["document"]))).version == 2


async def test_an_exhausted_step_that_is_kept_stays_marked(make: Any) -> None:
    graph, *_ = make(
        [simple_plan(2), changes(*keep(0, 1))],
        verdicts=lambda asked: Critique(verdict="revise", reasoning="no"),
        checkpointer=InMemorySaver(),
    )
    first = await graph.ainvoke(ASK, THREAD)
    second = await turn(graph, "As it is")
    assert second["outcome"] == first["outcome"] == "partial"
    assert [step["mark"] for step in second["document"]["steps"]] == [
        step["mark"] for step in first["document"]["steps"]
    ]


async def test_a_change_that_changes_nothing_is_no_version(make: Any) -> None:
    graph, _, backend, _ = make([CHAINS, changes(*keep(0, 1, 2, 3, 4, 5))], checkpointer=InMemorySaver())
    first = await graph.ainvoke(ASK, THREAD)
    given: Any = {"request": "Flurb", "base": "latest"}
    events = [event async for event in graph.astream(given, THREAD, stream_mode="custom")]
    assert [e["code"] for e in events if e["type"] == "interleave.warning"] == ["nothing_changed"]
    state = (await graph.aget_state(THREAD)).values
    assert state["document"] == first["document"] and state["spend"]["calls"] == {"planner": 1}
    assert state["outcome"] == "complete" and len(backend.requests) == 5


async def test_a_change_that_is_given_up_leaves_the_latest_as_it_was(make: Any) -> None:
    script = [CHAINS, changes(*keep(0), redo(1, "at night"), *keep(2, 3, 4, 5)), changes(*keep(0, 1, 2, 3, 4))]
    graph, _, backend, _ = make(script, checkpointer=InMemorySaver())
    first = await graph.ainvoke(ASK, THREAD)
    await turn(graph, "At night", context=InterleaveContext(approve=("plan",)))
    given_up = await graph.ainvoke(Command(resume="cancel"), THREAD)
    assert given_up["outcome"] == "cancelled"
    third = await turn(graph, "Without the end")
    assert [request.prompt for request in backend.requests].count("at night") == 0
    assert pictures(third) == pictures(first)[:5] and third["document"]["version"] == 2


async def test_a_turn_that_came_to_nothing_hides_no_document(make: Any) -> None:
    script = [CHAINS, PlanError("no idea"), changes(*keep(0, 1, 2, 3, 4))]
    graph, *_ = make(script, checkpointer=InMemorySaver())
    first = await graph.ainvoke(ASK, THREAD)
    assert (await graph.ainvoke({"request": "Something else"}, THREAD))["outcome"] == "failed"
    assert pictures(await turn(graph, "Without the end")) == pictures(first)[:5]

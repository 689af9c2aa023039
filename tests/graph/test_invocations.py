"""Every way to call a graph: from threads, nodes, tools and backends, twice at once, paused, and back in time."""

from __future__ import annotations

import asyncio
import operator
from collections.abc import Callable
from typing import Annotated, Any

import pytest
from langchain_core.callbacks import BaseCallbackHandler
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph
from langgraph.types import Send
from typing_extensions import TypedDict

from langgraph_interleave.artifacts import ArtifactStore
from langgraph_interleave.context import InterleaveContext
from langgraph_interleave.errors import ArtifactMissing, InternalError
from langgraph_interleave.graph import create_interleave_graph
from langgraph_interleave.ledger import Ledger
from langgraph_interleave.limits import Limits
from langgraph_interleave.testing import ScriptedBackend, ScriptedCritic, ScriptedPlanner, noise_card, simple_plan
from langgraph_interleave.types import Capabilities

ASK: Any = {"request": "things"}
THREAD: Any = {"configurable": {"thread_id": "t"}}
MINE = InterleaveContext(run_id="mine")
Make = Callable[..., Any]
Complaints = Callable[..., list[str]]


class Parent(TypedDict, total=False):
    request: str
    outcomes: Annotated[list[str], operator.add]


def parent(work: Any, sends: int = 1, **options: Any) -> Any:
    graph: Any = StateGraph(Parent)
    graph.add_node("work", work)
    graph.add_conditional_edges(START, lambda _: [Send("work", {}) for _ in range(sends)], ["work"])
    return graph.compile(**options)


# --- at once ----------------------------------------------------------------------------------


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("gathered", [False, True])
async def test_one_run_id_at_once_inside_another_graph(
    make: Make, complaints: Complaints, streamed: bool, gathered: bool
) -> None:
    """Streamed as a part of another graph, all of them have the other's writer."""
    inner, planner, backend, critic = make(2, drawings=ScriptedBackend(delay_s=0.02))

    async def work(_: Any) -> Any:
        results = await asyncio.gather(*[inner.ainvoke(ASK, context=MINE) for _ in range(3 if gathered else 1)])
        return {"outcomes": [result["outcome"] for result in results]}

    graph = parent(work, sends=1 if gathered else 3)
    if not streamed:
        assert (await graph.ainvoke({}))["outcomes"] == ["complete"] * 3
    else:
        told: dict[Any, list[Any]] = {}
        async for part in graph.astream({}, stream_mode=["custom", "values"], version="v2", subgraphs=True):
            if part["type"] == "custom":
                told.setdefault(part["ns"], []).append(part["data"])
            elif not part["ns"]:
                assert part["data"].get("outcomes", []) in ([], ["complete"] * 3)
        ends = [event for events in told.values() for event in events if event["type"] == "interleave.run"]
        assert [event["phase"] for event in ends].count("finish") == 3
        if not gathered:
            assert [complaints(events) for events in told.values()] == [[], [], []]
    assert [len(role.requests) for role in (planner, backend, critic)] == [1, 2, 2]


async def test_one_run_id_at_once_when_one_of_them_is_cancelled(make: Make) -> None:
    graph, _, backend, _ = make(3, drawings=ScriptedBackend(delay_s=0.05))
    tasks = [asyncio.create_task(graph.ainvoke(ASK, context=MINE)) for _ in range(3)]
    while not backend.requests:  # noqa: ASYNC110 - somewhere in the first drawing
        await asyncio.sleep(0.005)
    tasks[0].cancel()
    results = await asyncio.gather(*tasks, return_exceptions=True)
    assert isinstance(results[0], asyncio.CancelledError)
    assert [result["outcome"] for result in results[1:] if isinstance(result, dict)] == ["complete"] * 2
    assert len(backend.requests) <= 4, "at most the drawing that only the cancelled one had asked for so far"


async def test_graphs_that_share_a_ledger_share_what_is_in_flight(make: Make) -> None:
    ledger = Ledger(ArtifactStore.memory())
    roles: Any = ScriptedPlanner(simple_plan(3)), ScriptedBackend(delay_s=0.02), ScriptedCritic()
    graphs = [create_interleave_graph(*roles, ledger=ledger) for _ in range(4)]
    results = await asyncio.gather(*[graph.ainvoke(ASK, context=MINE) for graph in graphs])
    assert [result["outcome"] for result in results] == ["complete"] * 4
    assert [len(role.requests) for role in roles] == [1, 3, 3] and ledger.in_flight() == []


async def test_from_many_threads_and_many_at_once(make: Make) -> None:
    graph, *_ = make(3, verdicts=lambda a: "revise" if a.attempt == 0 else "accept")
    threads = [asyncio.to_thread(lambda: graph.invoke(ASK)) for _ in range(6)]
    results = await asyncio.gather(*threads, *[graph.ainvoke(ASK) for _ in range(20)])
    assert {result["outcome"] for result in results} == {"complete"}
    assert len({result["document"]["run_id"] for result in results}) == 26


# --- from inside --------------------------------------------------------------------------------


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("inner_sync", [False, True])
@pytest.mark.parametrize("outer_sync", [False, True])
async def test_from_inside_a_backend(make: Make, outer_sync: bool, inner_sync: bool, shared: bool) -> None:
    ledger = Ledger(ArtifactStore.memory()) if shared else None
    options: Any = {"ledger": ledger, "artifacts": None}
    inner, *_ = make(2, **options)

    async def draw(asked: Any) -> Any:
        result = inner.invoke(ASK) if inner_sync else await inner.ainvoke(ASK)
        return noise_card(f"{asked.prompt} {result['outcome']}")

    outer, *_ = make(2, drawings=draw, **options)
    running = asyncio.to_thread(lambda: outer.invoke(ASK)) if outer_sync else outer.ainvoke(ASK)
    assert (await asyncio.wait_for(running, 20))["outcome"] == "complete"


async def test_from_inside_its_own_backend(make: Make) -> None:
    graphs: list[Any] = []

    def draw(asked: Any) -> Any:
        words = "" if len(backend.requests) > 1 else graphs[0].invoke(ASK)["outcome"]
        return noise_card(asked.prompt + words)

    backend = ScriptedBackend(draw)
    graphs.append(make(2, drawings=backend)[0])
    assert (await asyncio.wait_for(graphs[0].ainvoke(ASK), 20))["outcome"] == "complete"


def test_from_a_node_of_a_parent(make: Make) -> None:
    inner, *_ = make(2)
    graph = parent(lambda _: {"outcomes": [inner.invoke(ASK)["outcome"]]})
    assert graph.invoke({})["outcomes"] == ["complete"]
    assert asyncio.run(graph.ainvoke({}))["outcomes"] == ["complete"]


async def test_a_cut_off_parent_resumes_the_graph_within(make: Make) -> None:
    inner, planner, backend, critic = make(3, drawings=ScriptedBackend(delay_s=0.04), lookahead=False)
    outer: Any = StateGraph(Parent)
    outer.add_node("draw", inner)
    outer.add_edge(START, "draw")
    graph = outer.compile(checkpointer=InMemorySaver())
    for attempt in range(40):
        task = asyncio.create_task(graph.ainvoke({"request": "x"} if attempt == 0 else None, THREAD))
        await asyncio.wait([task], timeout=0.07 if attempt < 3 else 10)
        task.cancel()
        await asyncio.wait([task])
        if not task.cancelled():
            break
    assert len(planner.requests) <= 4
    assert 3 <= len(backend.requests) <= 6 and 3 <= len(critic.requests) <= 6, "each cut may repeat one call"


# --- paused, and back in time -------------------------------------------------------------------


async def test_paused_before_every_node(make: Make) -> None:
    graph, planner, *_ = make(
        3, verdicts=lambda a: "revise" if a.attempt == 0 else "accept", checkpointer=InMemorySaver(), lookahead=False
    )
    result = await graph.ainvoke(ASK, THREAD, interrupt_before="*")
    while graph.get_state(THREAD).next:
        result = await graph.ainvoke(None, THREAD, interrupt_before="*")
    assert result["outcome"] == "complete" and [s["attempts"] for s in result["document"]["steps"]] == [2, 2, 2]
    assert len(planner.requests) == 1
    assert result["spend"]["images"] == result["spend"]["calls"]["backend"] == 6, "of all invocations together"


async def test_every_moment_of_the_past_leads_to_the_same_document(make: Make) -> None:
    graph, planner, backend, critic = make(2, checkpointer=InMemorySaver(), lookahead=False)
    result = await graph.ainvoke(ASK, THREAD)
    counts = [len(role.requests) for role in (planner, backend, critic)]
    for past in [past async for past in graph.aget_state_history(THREAD)]:
        if "planner" in past.next or "__start__" in past.next:
            continue  # from here it is a turn of its own
        again = await graph.ainvoke(None, past.config)
        assert again["document"]["steps"] == result["document"]["steps"], past.next
    assert [len(role.requests) for role in (planner, backend, critic)] == counts, "for free"


async def test_a_state_changed_by_hand(make: Make) -> None:
    graph, *_ = make(2, checkpointer=InMemorySaver())
    first = await graph.ainvoke(ASK, THREAD)
    changed = graph.update_state(THREAD, {"request": "other"}, as_node="__start__")
    other = await graph.ainvoke(None, changed)
    assert other["outcome"] == "complete" and other["document"]["request"]["parts"][0]["text"] == "other"
    assert other["document"]["run_id"] != first["document"]["run_id"]
    foreign = {"turn": 9, "run_id": "x", "plan": "0" * 64, "steps": {}}
    changed = graph.update_state(THREAD, {"progress": foreign}, as_node="planner")
    with pytest.raises(ArtifactMissing, match="Use the store the run was made with"):
        await graph.ainvoke(None, changed)
    assert (await graph.ainvoke(ASK, THREAD))["outcome"] == "complete", "the thread can be used on"


@pytest.mark.parametrize("durability", ["sync", "async", "exit"])
async def test_any_durability(make: Make, durability: Any) -> None:
    graph, _, backend, _ = make(2, checkpointer=InMemorySaver())
    for _ in range(2):
        assert (await graph.ainvoke(ASK, THREAD, durability=durability))["outcome"] == "complete"
    assert len(backend.requests) == 4


@pytest.mark.parametrize("lookahead", [False, True])
async def test_caps_hold_for_all_invocations_of_a_run(lookahead: bool) -> None:
    """Every invocation is cut off after another event; a billed picture counts once it is sent."""
    drawn: list[str] = []

    def draw(asked: Any) -> Any:
        drawn.append(asked.prompt)
        return noise_card(asked.prompt, seed=asked.seed)

    cap = 4
    saver, ledger = InMemorySaver(), Ledger(ArtifactStore.memory(), grace_s=0.05)
    result: Any = None
    for many in (1, 4, 6, 9, 12, 15, 10**6):
        graph: Any = create_interleave_graph(
            ScriptedPlanner(simple_plan(6)),
            ScriptedBackend(draw, capabilities=Capabilities(edit="instruct", max_references=4, billed=True)),
            ScriptedCritic(lambda a: "revise" if a.attempt == 0 else "accept"),
            limits=Limits(max_images=cap), lookahead=lookahead, ledger=ledger, checkpointer=saver,
        )  # fmt: skip
        ask = None if (await graph.aget_state(THREAD)).next else ASK
        seen = 0
        modes: Any = ["custom", "values"]
        async for part in graph.astream(ask, THREAD, context=MINE, stream_mode=modes, version="v2"):
            seen += 1
            if seen == many:
                break
            if part["type"] == "values":
                result = part["data"]
    assert len(drawn) <= cap and result["spend"]["images"] <= cap
    assert result["outcome"] == "partial" and result["document"]["reasons"] == ["limit"]


# --- the rest ------------------------------------------------------------------------------------


async def test_batches_and_every_stream_mode(make: Make) -> None:
    graph, *_ = make(2, checkpointer=InMemorySaver())
    configs: Any = [{"configurable": {"thread_id": str(n)}} for n in range(3)]
    assert [r["outcome"] for r in await graph.abatch([ASK] * 3, configs)] == ["complete"] * 3
    modes: Any = ["values", "updates", "messages", "debug", "tasks", "checkpoints", "custom"]
    seen = {part["type"] async for part in graph.astream(ASK, THREAD, stream_mode=modes, version="v2", subgraphs=True)}
    assert seen == set(modes) - {"messages"}
    names = [event["name"] async for event in graph.astream_events(ASK, THREAD, version="v2")]
    assert {"generate_image", "critique_image", "plan"} <= set(names)


async def test_one_node_at_a_time(make: Make) -> None:
    graph, *_ = make(simple_plan(4, sources=[[]] * 4))
    assert (await graph.ainvoke(ASK, {"max_concurrency": 1}))["outcome"] == "complete"


async def test_a_hundred_steps(make: Make) -> None:
    graph, *_ = make(100, limits=Limits(max_steps=100), checkpointer=InMemorySaver(), lookahead=False)
    result = await graph.ainvoke(ASK, THREAD)
    assert result["outcome"] == "complete" and len(result["document"]["steps"]) == 100


class Tree(BaseCallbackHandler):
    def __init__(self) -> None:
        self.names: dict[Any, str] = {}
        self.parents: set[tuple[str, str | None]] = set()
        self.open: set[Any] = set()

    def _start(self, name: str, run_id: Any, parent_run_id: Any) -> None:
        self.names[run_id] = name
        self.parents.add((name, self.names.get(parent_run_id)))
        self.open.add(run_id)

    def on_chain_start(self, serialized: Any, inputs: Any, *, run_id: Any, **kwargs: Any) -> None:
        self._start(str(kwargs.get("name")), run_id, kwargs.get("parent_run_id"))

    def on_tool_start(self, serialized: Any, input_str: str, *, run_id: Any, **kwargs: Any) -> None:
        self._start(serialized["name"], run_id, kwargs.get("parent_run_id"))

    def on_chain_end(self, outputs: Any, *, run_id: Any, **kwargs: Any) -> None:
        self.open.discard(run_id)

    def on_chain_error(self, error: BaseException, *, run_id: Any, **kwargs: Any) -> None:
        self.open.discard(run_id)

    def on_tool_end(self, output: Any, *, run_id: Any, **kwargs: Any) -> None:
        self.open.discard(run_id)

    def on_tool_error(self, error: BaseException, *, run_id: Any, **kwargs: Any) -> None:
        self.open.discard(run_id)


@pytest.mark.parametrize("how", ["async", "sync", "cancelled"])
async def test_each_call_is_traced_below_the_node_that_waits_for_it(make: Make, how: str) -> None:
    tree = Tree()
    config: Any = {"callbacks": [tree]}
    backend = ScriptedBackend(delay_s=30 if how == "cancelled" else 0.0)
    graph, *_ = make(2, drawings=backend, lookahead=False)
    if how == "sync":
        await asyncio.to_thread(lambda: graph.invoke(ASK, config))
    elif how == "async":
        await graph.ainvoke(ASK, config)
    else:
        task = asyncio.create_task(graph.ainvoke(ASK, config))
        while "generate_image" not in tree.names.values():  # noqa: ASYNC110
            await asyncio.sleep(0.005)
        await asyncio.sleep(0.2)  # a handler that is cut off while it is told of a start hears of no end
        task.cancel()
        await asyncio.wait([task])
    expected = {("plan", "planner"), ("generate_image", "generate"), ("critique_image", "critique")}
    if how == "cancelled":
        expected.discard(("critique_image", "critique"))
    assert expected <= tree.parents
    assert {above for name, above in tree.parents if name in graph.nodes and name != "__start__"} == {"interleave"}
    assert tree.open == set(), "each run that was opened is closed"


async def test_a_callback_that_raises_ends_the_run_with_its_document(make: Make) -> None:
    class Raises(BaseCallbackHandler):
        raise_error = True

        def on_tool_end(self, output: Any, **kwargs: Any) -> None:
            raise ZeroDivisionError

    graph, *_ = make(2)
    with pytest.raises(InternalError) as caught:
        await graph.ainvoke(ASK, {"callbacks": [Raises()]})
    assert isinstance(caught.value.__cause__, ZeroDivisionError) and caught.value.document is not None

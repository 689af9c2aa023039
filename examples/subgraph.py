"""The interleave graph as a part of somebody's own graph: another state, another context, one checkpointer.

python examples/subgraph.py

A help desk writes an answer to a ticket and has it illustrated. Its state and its context know nothing of
ours: the node in between translates, and passes on what this run is to be like. The desk's checkpointer is
ours too, so that the desk waits while a person looks at the plan, and what was made is not made again.
"""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime
from langgraph.types import Command
from pydantic import BaseModel
from typing_extensions import TypedDict

from langgraph_interleave import (
    ArtifactStore,
    Document,
    InterleaveContext,
    astream_segments,
    create_interleave_graph,
)

artifacts = ArtifactStore.memory()
interleave = create_interleave_graph(artifacts=artifacts, approve={"plan"})


class Customer(BaseModel):
    """The help desk's own context."""

    name: str
    screen: str = "256x256"


class Ticket(TypedDict, total=False):
    """The help desk's own state."""

    question: str
    guide: dict[str, Any]
    log: Annotated[list[str], lambda before, more: before + more]


def read(state: Ticket, runtime: Runtime[Customer]) -> Ticket:
    """Somebody takes the ticket."""
    return {"log": [f"{runtime.context.name} asks: {state.get('question')}"]}


async def illustrate(state: Ticket, runtime: Runtime[Customer]) -> Ticket:
    """Have the answer illustrated. The context is our own: without `context=` the graph would see the desk's."""
    result = await interleave.ainvoke(
        {"request": state.get("question", "")}, context=InterleaveContext(size=runtime.context.screen, seed=7)
    )
    return {"guide": result["document"], "log": [f"illustrated: {result['outcome']}"]}


def answer(state: Ticket) -> Ticket:
    """Send it."""
    document = Document.load(state.get("guide", {}), artifacts)
    return {"log": [f"sent {document.title!r} with {len(list(document.images()))} pictures"]}


def make_graph() -> Any:
    """The help desk's graph."""
    graph = StateGraph(Ticket, context_schema=Customer)
    for node in (read, illustrate, answer):
        graph.add_node(node.__name__, node)
    graph.add_edge(START, "read")
    graph.add_edge("read", "illustrate")
    graph.add_edge("illustrate", "answer")
    graph.add_edge("answer", END)
    return graph.compile(checkpointer=InMemorySaver())


async def main() -> None:
    """One ticket: the plan is approved by a person, then it is drawn, and every segment is seen outside."""
    desk, config = make_graph(), {"configurable": {"thread_id": "ticket-1"}}
    asked = {"question": "How to plant a bean, in 3 steps"}
    await listen(desk, asked, config)
    [question] = (await desk.aget_state(config)).interrupts
    print(f"a person is asked about the {question.value['ask']}: {len(question.value['steps'])} steps; it is accepted")
    await listen(desk, Command(resume={"decision": "accept"}), config)
    for line in (await desk.aget_state(config)).values["log"]:
        print(line)


async def listen(desk: Any, given: Any, config: Any) -> None:
    """Print the answer as it comes, from however deep inside."""
    async for segment in astream_segments(desk, given, config, context=Customer(name="Mira")):
        if segment.track == "answer":
            print(f"  {segment.kind}: {segment.text or (segment.image.uri[:24] if segment.image else '')}")


if __name__ == "__main__":
    asyncio.run(main())

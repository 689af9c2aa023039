"""The interleave graph on a server, used like a local one: `RemoteGraph` against `langgraph dev`.

langgraph dev --no-browser &
python examples/remote_graph.py http://127.0.0.1:2024

It is called by itself, and as a node of a graph that runs here; segments arrive from both as they happen.
Where a person is to approve something, run that graph on the server itself: LangGraph restarts a remote
node when it goes on after an interrupt.
"""

from __future__ import annotations

import argparse
from typing import Any

from langgraph.graph import END, START, StateGraph
from langgraph.pregel.remote import RemoteGraph
from langgraph_sdk import get_sync_client
from typing_extensions import TypedDict

from langgraph_interleave import stream_segments


class Lesson(TypedDict, total=False):
    """The state of the graph here. What a remote graph has in common with it is what goes in and out."""

    topic: str
    request: str
    document: dict[str, Any]


def main() -> None:
    """Draw twice on a server."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("url", nargs="?", default="http://127.0.0.1:2024")
    options = parser.parse_args()
    config: Any = {"configurable": {"size": "128x128", "seed": 7}}
    with get_sync_client(url=options.url) as client:
        remote = RemoteGraph("interleave", sync_client=client)
        print("by itself:")
        listen(remote, {"request": "How to plant a bean, in 2 steps"}, config)
        print("as a node:")
        listen(make_graph(remote), {"topic": "plant a bean"}, config)


def ask(state: Lesson) -> Lesson:
    """What to draw."""
    return {"request": f"How to {state.get('topic')}, in 3 steps"}


def make_graph(remote: RemoteGraph) -> Any:
    """A graph here with the remote one as a node."""
    graph = StateGraph(Lesson)
    graph.add_node("ask", ask)
    graph.add_node("interleave", remote)
    graph.add_edge(START, "ask")
    graph.add_edge("ask", "interleave")
    graph.add_edge("interleave", END)
    return graph.compile()


def listen(graph: Any, given: Any, config: Any) -> None:
    """Print captions and pictures as they come."""
    for segment in stream_segments(graph, given, config):
        if segment.kind == "caption":
            print(f"  {segment.text}")
        elif segment.kind == "image" and segment.image is not None:
            print(f"  [{segment.image.width}x{segment.image.height} at {segment.image.url or segment.image.uri}]")


if __name__ == "__main__":
    main()

"""The stream of a graph as typed segments: from a local graph, inside an agent, or over a server."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from typing import Any

from langgraph_interleave.events import Event, SegmentEvent, from_dict


def read_event(part: object) -> Event | None:
    """The event in one part of a `version="v2"` stream; `None` for every other part.

    Raises:
        ValueError: The part says it is ours and is not valid.
    """
    if not isinstance(part, Mapping) or part.get("type") != "custom":
        return None
    return from_dict(part.get("data"))


class Segments:
    """Picks segments out of events, each once.

    Args:
        deltas: Pass on `start` and `delta` phases too; else only whole segments.
    """

    def __init__(self, *, deltas: bool = False) -> None:
        self._deltas = deltas
        self._seen: set[str] = set()

    def pick(self, event: Event | None) -> SegmentEvent | None:
        """The segment to pass on for an event, if any. After a resume segments come again: once is enough."""
        if not isinstance(event, SegmentEvent) or event.segment_id in self._seen:
            return None
        if event.phase == "finish":
            self._seen.add(event.segment_id)
            return event
        return event if self._deltas else None


def in_order(segments: Iterable[SegmentEvent]) -> list[SegmentEvent]:
    """Segments in the order of the document: the plan's own first, then by step and place.

    Of steps of a plan that another took the place of, nothing is left. Give them as they happened.
    """
    left: list[SegmentEvent] = []
    for segment in segments:
        if segment.replaces is not None and segment.kind == "plan":
            left = [before for before in left if before.step is None or before.run_id != segment.run_id]
        left.append(segment)
    return sorted(left, key=lambda s: (-1 if s.step is None else s.step, s.seq))


def stream_segments(
    graph: Any, graph_input: Any, config: Any = None, *, deltas: bool = False, **kwargs: Any
) -> Iterator[SegmentEvent]:
    """Run a graph and yield its segments as they happen.

    Args:
        graph: A compiled graph that is, or contains, an interleave graph; also a `RemoteGraph`.
        graph_input: Its input.
        config: Its config.
        deltas: Yield text as it grows too, not only whole segments.
        kwargs: Passed to `graph.stream` (`context=`, `durability=`).

    Yields:
        Segments in the order they happened; `in_order` sorts them.

    Example:
        >>> from langgraph_interleave import create_interleave_graph
        >>> graph = create_interleave_graph()
        >>> kinds = [s.kind for s in stream_segments(graph, {"request": "How to plant a bean, in 2 steps"})]
        >>> kinds.count("image")
        2
    """
    picker = Segments(deltas=deltas)
    for part in graph.stream(graph_input, config, stream_mode=["custom"], version="v2", subgraphs=True, **kwargs):
        segment = picker.pick(read_event(part))
        if segment is not None:
            yield segment


async def astream_segments(
    graph: Any, graph_input: Any, config: Any = None, *, deltas: bool = False, **kwargs: Any
) -> AsyncIterator[SegmentEvent]:
    """The async twin of `stream_segments`."""
    picker = Segments(deltas=deltas)
    async for part in graph.astream(
        graph_input, config, stream_mode=["custom"], version="v2", subgraphs=True, **kwargs
    ):
        segment = picker.pick(read_event(part))
        if segment is not None:
            yield segment

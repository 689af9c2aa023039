"""LangGraph's v3 event stream: the segments of a run, whatever it is nested in, as one channel."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any, ClassVar

from langgraph.stream import CustomTransformer, ProtocolEvent, StreamChannel, StreamTransformer

from langgraph_interleave.events import from_dict
from langgraph_interleave.segments import Segments

log = logging.getLogger(__name__)

#: Name of the channel: `run.extensions["segments"]` here, `custom:segments` over a server.
CHANNEL = "segments"


class SegmentTransformer(StreamTransformer):
    """Gathers the segments of a whole run in `run.extensions["segments"]`, each once, as plain JSON.

    However deep the interleave graph is (a node of another graph, a tool of an agent), its segments
    come out at the root: a tool that passes them on and the graph within it tell the same ones, and
    one of each is kept. Only whole segments are; text as it grows is on the `custom` channel.

    Example:
        >>> import warnings
        >>> from langgraph_interleave import create_interleave_graph
        >>> graph = create_interleave_graph(size="64x64")
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("ignore")  # LangGraph calls v3 experimental
        ...     run = graph.stream_events(
        ...         {"request": "How to plant a bean, in 2 steps"}, version="v3", transformers=stream_transformers()
        ...     )
        ...     kinds = [segment["kind"] for segment in run.extensions["segments"]]
        >>> kinds.count("image")
        2
    """

    required_stream_modes: ClassVar[tuple[str, ...]] = ("custom",)

    def __init__(self, scope: tuple[str, ...] = ()) -> None:
        super().__init__(scope)
        self._segments: StreamChannel[dict[str, Any]] = StreamChannel(CHANNEL)
        self._picker = Segments()

    def init(self) -> dict[str, Any]:
        """The channel."""
        return {CHANNEL: self._segments}

    def process(self, event: ProtocolEvent) -> bool:
        """Take a segment out of an event; every event is passed on."""
        # Each nested graph has a transformer of its own; what they see, the root's sees as well.
        if event["method"] != "custom" or self.scope:
            return True
        data = event["params"]["data"]
        try:
            picked = self._picker.pick(from_dict(data))
        except ValueError as error:
            log.warning("an event was passed over: %s", error)
            return True
        if picked is not None:
            # As it was written: whoever passed it on may have added to it.
            self._segments.push(data)
        return True


def stream_transformers() -> list[Callable[[tuple[str, ...]], StreamTransformer]]:
    """What makes a run's own events visible in LangGraph's v3 event stream.

    Give it to `compile(transformers=…)`, `create_agent(transformers=…)` or `stream_events(transformers=…)`,
    or name it in the module of a graph that a LangGraph server serves. Without it v3 shows nothing of
    what graphs write to their stream.

    Returns:
        LangGraph's `CustomTransformer`, and `SegmentTransformer`.
    """
    return [CustomTransformer, SegmentTransformer]

"""The ends of a graph's invocations, heard at once: whatever ends one, its runs let go of their calls.

A node that is cancelled says so itself. An invocation that is cancelled, closed or interrupted *between*
two nodes tells no node; LangGraph tells the callbacks of the graph, and so this listens there.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, cast
from uuid import UUID

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.config import merge_configs
from langgraph.config import get_config
from langgraph.graph import StateGraph
from langgraph.graph.state import CompiledStateGraph

#: Called when an invocation is over, in whatever thread it ended in: whether it came to its end, or a pause.
OnEnd = Callable[[bool], None]


class Invocations(BaseCallbackHandler):
    """What is to be done when an invocation of a graph ends.

    Guaranteed: each is called once, whether the invocation came to its end, raised, was cancelled, or its
    stream was closed. Not guaranteed: that it is called for a stream nobody closes; the collector does that.
    """

    run_inline = True  # a handler of async code that is not waits for a thread
    ignore_llm = ignore_agent = ignore_retriever = ignore_chat_model = ignore_retry = ignore_custom_event = True  # pyright: ignore[reportAssignmentType, reportIncompatibleMethodOverride]

    def __init__(self) -> None:
        self._lock = threading.Lock()
        #: The runs of callbacks under way, each with the one it is a part of.
        self._within: dict[UUID, UUID | None] = {}
        self._ends: dict[UUID, list[OnEnd]] = {}

    def __deepcopy__(self, memo: dict[int, Any]) -> Invocations:
        """A config that is copied listens in the same place."""
        return self

    def at_end(self, end: OnEnd) -> None:
        """Have something done when the invocation that the calling node belongs to is over.

        Nothing happens where the graph was compiled without this handler.
        """
        node = getattr(get_config().get("callbacks"), "parent_run_id", None)
        with self._lock:
            invocation = self._within.get(node) if node is not None else None
            if invocation is not None:
                self._ends.setdefault(invocation, []).append(end)

    # LangChain's own signatures.
    def on_chain_start(
        self, serialized: Any, inputs: Any, *, run_id: UUID, parent_run_id: UUID | None = None, **kwargs: Any
    ) -> None:
        """Remember what it is a part of."""
        with self._lock:
            self._within[run_id] = parent_run_id

    def on_chain_end(self, outputs: Any, *, run_id: UUID, **kwargs: Any) -> None:
        """It came to its end, or to a pause between two nodes."""
        self._over(run_id, whole=True)

    def on_chain_error(self, error: BaseException, *, run_id: UUID, **kwargs: Any) -> None:
        """It raised, was cancelled, or its stream was closed."""
        self._over(run_id, whole=False)

    def _over(self, run_id: UUID, *, whole: bool) -> None:
        with self._lock:
            self._within.pop(run_id, None)
            ends = self._ends.pop(run_id, [])
        for end in ends:
            end(whole)


class WatchedGraph(StateGraph[Any, Any, Any, Any]):
    """A `StateGraph` whose compiled form tells `invocations` of the end of each invocation."""

    invocations: Invocations | None = None

    def compile(self, *args: Any, **kwargs: Any) -> CompiledStateGraph[Any, Any, Any, Any]:
        """As `StateGraph.compile`."""
        compiled = super().compile(*args, **kwargs)
        if self.invocations is not None:
            mine = cast("RunnableConfig", {"callbacks": [self.invocations]})
            compiled.config = merge_configs(compiled.config, mine)
        return compiled

"""The bridge from synchronous code to async nodes."""

from __future__ import annotations

import concurrent.futures
import contextvars
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeVar

from langchain_core.runnables import Runnable, RunnableConfig

from langgraph_interleave import background

T = TypeVar("T")

#: How long an interrupted caller waits for the cancelled task to tidy up, in seconds.
_TIDY_S = 0.5


def run_sync(coro_factory: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Call an async function from synchronous code and wait for its result.

    It runs on the background loop with a copy of the caller's context, so it works inside a running
    event loop too (a notebook). Called from code that itself runs on the background loop, it uses
    another loop in another thread, because the first one is blocked until this returns.

    Args:
        coro_factory: Called without arguments, in the copied context.

    Returns:
        What the async function returns.

    Raises:
        KeyboardInterrupt: The user pressed Ctrl-C in the main thread; the task was cancelled first.
        Exception: Whatever the async function raises.

    Not guaranteed: that Ctrl-C reaches a call made in a thread other than the main one. LangGraph's
    `.invoke` runs the nodes of a super-step in such threads when there are several, and waits for them.

    Example:
        >>> async def double(n: int) -> int:
        ...     return 2 * n
        >>> run_sync(lambda: double(21))
        42
    """
    level = background.current_level() + 1
    context = background.context_at(level, contextvars.copy_context())
    future, cancel = background.start_on(level, coro_factory, context)
    try:
        return future.result()
    except BaseException:
        if not future.done():
            # Interrupted here, not failed there.
            cancel()
            concurrent.futures.wait([future], timeout=_TIDY_S)
        raise


class Node(Runnable[Any, Any]):
    """A graph node from one async function, for `.invoke` and `.ainvoke` alike.

    LangGraph cannot run an async-only node under `.invoke`, and a pair of a sync and an async
    function shows up twice in a trace. Inside the function use `get_runtime()` and
    `get_stream_writer()`: nothing is injected.

    Args:
        func: Takes the state (or what `Send` carries), returns a state update or a `Command`.
        name: Name in traces; the function's own by default.
    """

    def __init__(self, func: Callable[[Any], Awaitable[Any]], *, name: str | None = None) -> None:
        self.func = func
        self.name = name or getattr(func, "__name__", type(func).__name__)

    # LangChain names the parameter.
    def invoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:  # noqa: A002
        """Run the function on the background loop and wait for it."""
        return run_sync(lambda: self._call(input))

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:  # noqa: A002
        """Run the function on the caller's loop."""
        return await self.func(input)

    async def _call(self, state: Any) -> Any:
        return await self.func(state)

"""The live runs of a graph: found by a node, built again from the state after a restart."""

from __future__ import annotations

import hashlib
import threading
import weakref
from contextvars import copy_context
from functools import partial
from typing import Any

from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.config import var_child_runnable_config
from langgraph.config import get_config, get_stream_writer
from langgraph.runtime import get_runtime
from pydantic import ValidationError

from langgraph_interleave.ambiguity import tell_ambiguous
from langgraph_interleave.background import background_loop
from langgraph_interleave.base import Base
from langgraph_interleave.context import Settings
from langgraph_interleave.emitter import Writer
from langgraph_interleave.errors import ConfigError
from langgraph_interleave.invocations import Invocations
from langgraph_interleave.roles import Roles
from langgraph_interleave.run import Run
from langgraph_interleave.state import Progress
from langgraph_interleave.stored import aread_plan, aread_step
from langgraph_interleave.types import PlanRecord, Request, StepRecord

#: The live runs of every graph of this process.
_everyone: weakref.WeakSet[Runs] = weakref.WeakSet()


class Runs:
    """Live runs by invocation and id.

    LangGraph makes a writer for each invocation and drops it when the invocation is over, whatever
    ended it; so a run lives no longer than its writer. A graph that is streamed as a part of another
    gets the other's writer: there the namespace tells its invocations apart. Who holds an error of the
    invocation holds its writer too, so its end is also heard from `invocations`, at once.
    """

    def __init__(self, roles: Roles) -> None:
        self.roles = roles
        self.invocations = Invocations()
        self._live: weakref.WeakKeyDictionary[Writer, dict[tuple[str, str], Run]] = weakref.WeakKeyDictionary()
        self._lock = threading.Lock()
        _everyone.add(self)

    async def start(self, run_id: str, request: Request, settings: Settings, base: Base | None = None) -> Run:
        """A new run of this invocation; one that lived under the same id is let go of, and its time goes on."""
        writer, name = get_stream_writer(), (run_id, _place())
        with self._lock:
            replaced = self._live.setdefault(writer, {}).pop(name, None)
        if replaced is not None:
            replaced.close()
        began = replaced.emitter.began if replaced is not None else None
        run = await self._make(run_id, request, settings, base=base, began=began)
        if replaced is not None:
            run.budget.go_on(replaced.budget)
        with self._lock:
            self._live.setdefault(writer, {})[name] = run
        return run

    async def find(self, run_id: str, plan_digest: str, progress: Progress | None = None, *, tells: bool = True) -> Run:
        """The live run of this invocation, or one built from what was committed.

        Args:
            run_id: Its id.
            plan_digest: The record of its plan.
            progress: All of it that is committed, where the caller knows that.
            tells: Whether one that is built says which calls may have been made twice. Not where it is soon
                built anew: each says it once.

        Raises:
            ArtifactMissing: The plan or a record is not in this store.
        """
        writer, name = get_stream_writer(), (run_id, _place())
        with self._lock:
            live = self._live.get(writer, {}).get(name)
        if live is None:
            record = await aread_plan(self.roles.artifacts, plan_digest)
            made = await self._make(run_id, record.request, settings_of(record))
            made.restore(record, plan_digest)
            if tells:
                tell_ambiguous(made.emitter, made.scope.lost)
            with self._lock:
                # Two tasks of one resumed invocation may ask at the same moment: the first one counts.
                live = self._live.setdefault(writer, {}).setdefault(name, made)
        if progress is not None and not live.knows_all:
            live.restore_steps(await self._committed(progress))
            live.budget.carry(progress.get("seconds", 0.0))
        elif progress is not None and _lacks(live, progress):
            # A task that an earlier invocation had finished is committed in this one, and nobody here took part.
            live.standing.adopt(await self._committed(progress))
        return live

    async def _committed(self, progress: Progress) -> list[StepRecord]:
        digests = [step["record"] for step in progress["steps"].values() if "record" in step]
        return [await aread_step(self.roles.artifacts, digest) for digest in digests]

    def end(self, run: Run) -> None:
        """Forget a run."""
        with self._lock:
            for mine in self._live.values():
                for name in [name for name, live in mine.items() if live is run]:
                    del mine[name]
        if run.watch is not None:
            run.watch.detach()

    def _over(self, ended: weakref.ref[Run], whole: bool) -> None:
        """Its invocation is over: what is under way is let go of; at a pause, what is certain is let finish."""
        run = ended()
        if run is not None and not run.closed:
            self.end(run)
            run.close(cancelled=not whole)

    def stop(self, run_id: str) -> bool:
        """Stop every live invocation of a run in good order; whether there was one."""
        with self._lock:
            found = [run for mine in self._live.values() for (live, _), run in mine.items() if live == run_id]
        for run in found:
            run.stop()
        return bool(found)

    async def _make(
        self, run_id: str, request: Request, settings: Settings, *, base: Base | None = None, began: float | None = None
    ) -> Run:
        writer = get_stream_writer()
        run = Run(run_id, request, settings, self.roles, writer=_weakly(writer), base=base, began=began)
        # Earlier invocations of the run count against its caps.
        await run.scope.resume()
        # A node that is cancelled lets go of the run's calls, but no node hears of an invocation that
        # ends between two of them.
        self.invocations.at_end(partial(self._over, weakref.ref(run)))
        # For a stream that nobody closes. On the loop, because the collector may find the writer in a
        # thread that holds any lock.
        run.watch = weakref.finalize(writer, background_loop().call_soon_threadsafe, run.close)
        run.watch.atexit = False
        return run


def _lacks(run: Run, progress: Progress) -> bool:
    """Whether a step has come to an end, or waits, by what is committed, and not by what the run knows."""
    for index, step in progress["steps"].items():
        record = run.view.records.get(int(index))
        open_here = record is None or (record.outcome is None and record.proposed is None)
        if "record" in step and step.get("outcome", "started") != "started" and open_here:
            return True
    return False


def _place() -> str:
    """The namespace of this invocation: that of the node without its own last part."""
    namespace: str = (get_config().get("configurable") or {}).get("checkpoint_ns", "")
    return namespace.rpartition("|")[0]


def _weakly(writer: Writer) -> Writer:
    """A writer that may be called from anywhere, and does not keep its invocation alive."""
    alive = weakref.ref(writer)
    # The writer reads the namespace from the config; the rest of that would keep everything alive.
    configurable = get_config().get("configurable") or {}
    config: RunnableConfig = {"configurable": {"checkpoint_ns": configurable.get("checkpoint_ns", "")}}
    context = copy_context()
    context.run(var_child_runnable_config.set, config)

    def write(event: Any) -> None:
        target = alive()
        if target is not None:
            context.run(target, event)

    return write


def stop_run(run_id: str) -> bool:
    """Stop a run of this process in good order: its graph goes on to `compose`, with outcome `cancelled`.

    Calls in flight are cancelled (a billed one is let finish within the ledger's `grace_s`); what
    was drawn and kept is in the document. Safe to call from any thread.

    Args:
        run_id: Its id, as every event carries it and `InterleaveContext.run_id` sets it.

    Returns:
        Whether such a run was alive.
    """
    # Every one of them, not only until the first says yes.
    return sum(runs.stop(run_id) for runs in list(_everyone)) > 0


def settings_of(record: PlanRecord) -> Settings:
    """The values of an earlier invocation of a run, so that it goes on with the same.

    What may be made again is what the caller of this invocation says.

    Raises:
        ConfigError: They were written by a newer release, or a per-run value is not valid.
    """
    try:
        known = Settings.model_validate(record.settings)
    except ValidationError as error:
        name = ".".join(map(str, error.errors(include_url=False)[0]["loc"]))
        raise ConfigError(
            f"The plan of run {record.run_id} was made with {name!r}, which is not possible here: a newer release "
            "made it.",
            remedy="Go on with that release or a later one: pip install -U langgraph-interleave. Nothing was changed.",
        ) from error
    now = known.resolve(get_runtime().context, get_config().get("configurable") or {})[0]
    return known.model_copy(update={"redraw_missing": now.redraw_missing})


def this_run(settings: Settings) -> tuple[str, Settings]:
    """Id and settings of the run that the planner node begins.

    The id is the caller's own, or made from the first planner task of the turn: it stays the same
    when that task is resumed and is another on the next turn.

    Raises:
        ConfigError: A per-run value is not valid.
    """
    runtime: Any = get_runtime()
    resolved, own = settings.resolve(runtime.context, get_config().get("configurable") or {})
    info = runtime.execution_info
    if resolved.asks and (info is None or info.thread_id is None):
        raise ConfigError(
            "Somebody is to be asked, and without a thread nothing can wait for the answer.",
            remedy="Give the graph a checkpointer (create_interleave_graph(checkpointer=…)) and the call a thread_id; "
            'or leave out approve, draft, on_exhausted="ask" and on_limit="ask".',
        )
    if own is not None:
        return own, resolved
    if info is None:
        raise ConfigError(
            "The graph runs outside LangGraph.", remedy="Call it through invoke, stream or their async twins."
        )
    return hashlib.sha256(info.task_id.encode()).hexdigest()[:16], resolved

"""The live runs of a graph: found by a node, built again from the state after a restart."""

from __future__ import annotations

import hashlib
import threading
import weakref
from typing import Any

from langgraph.config import get_config, get_stream_writer
from langgraph.runtime import get_runtime

from langgraph_interleave.context import Settings
from langgraph_interleave.errors import ConfigError
from langgraph_interleave.roles import Roles
from langgraph_interleave.run import Run
from langgraph_interleave.state import Progress
from langgraph_interleave.types import PlanRecord, Request, StepRecord

#: The live runs of every graph of this process.
_everyone: weakref.WeakSet[Runs] = weakref.WeakSet()


class Runs:
    """Live runs by id and invocation.

    The writer is one object per invocation; with the id it tells two invocations apart that carry
    the same run id, and a resumed invocation gets a run of its own, with its own writer.
    """

    def __init__(self, roles: Roles) -> None:
        self.roles = roles
        self._live: dict[tuple[str, int], Run] = {}
        self._lock = threading.Lock()
        _everyone.add(self)

    def start(self, run_id: str, request: Request, settings: Settings) -> Run:
        """A new run of this invocation; one that lived under the same id is let go of."""
        return self._keep(self._make(run_id, request, settings))

    async def find(self, run_id: str, plan_digest: str, progress: Progress | None = None) -> Run:
        """The live run of this invocation, or one built from what was committed.

        Raises:
            ArtifactMissing: The plan or a record is not in this store.
        """
        with self._lock:
            live = self._live.get((run_id, id(get_stream_writer())))
        if live is None:
            record = PlanRecord.model_validate(await self.roles.artifacts.aget_json(plan_digest))
            settings = Settings.model_validate(record.settings)
            live = self._make(run_id, record.request, settings)
            live.restore(record, plan_digest)
            live = self._keep(live, replace=False)
        if progress is not None and not live.knows_all:
            live.restore_steps(await self._committed(progress))
        return live

    async def _committed(self, progress: Progress) -> list[StepRecord]:
        digests = [step["record"] for step in progress["steps"].values() if "record" in step]
        return [StepRecord.model_validate(await self.roles.artifacts.aget_json(digest)) for digest in digests]

    def end(self, run: Run) -> None:
        """Forget a run."""
        with self._lock:
            for key in [key for key, live in self._live.items() if live is run]:
                del self._live[key]

    def stop(self, run_id: str) -> bool:
        """Stop every live invocation of a run in good order; whether there was one."""
        with self._lock:
            found = [run for (live_id, _), run in self._live.items() if live_id == run_id]
        for run in found:
            run.stop()
        return bool(found)

    def _make(self, run_id: str, request: Request, settings: Settings) -> Run:
        return Run(run_id, request, settings, self.roles, writer=get_stream_writer(), on_abandoned=self.end)

    def _keep(self, run: Run, *, replace: bool = True) -> Run:
        key = (run.run_id, id(get_stream_writer()))
        with self._lock:
            if not replace and key in self._live:
                # Two tasks of one resumed invocation asked at the same moment: the first one counts.
                return self._live[key]
            replaced = self._live.pop(key, None)
            self._live[key] = run
        if replaced is not None:
            replaced.close()
        return run


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


def this_run(settings: Settings) -> tuple[str, Settings]:
    """Id and settings of the run that the planner node begins.

    The id is the caller's own, or made from the first planner task of the turn: it stays the same
    when that task is resumed and is another on the next turn.

    Raises:
        ConfigError: A per-run value is not valid.
    """
    runtime: Any = get_runtime()
    resolved, own = settings.resolve(runtime.context, get_config().get("configurable") or {})
    if own is not None:
        return own, resolved
    info = runtime.execution_info
    if info is None:
        raise ConfigError(
            "The graph runs outside LangGraph.", remedy="Call it through invoke, stream or their async twins."
        )
    return hashlib.sha256(info.task_id.encode()).hexdigest()[:16], resolved

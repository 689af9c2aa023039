"""What the nodes share: a live run at work, what is committed of it, and the document of what exists."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

from langgraph_interleave import routing
from langgraph_interleave.compose import compose_document
from langgraph_interleave.errors import ConfigError, InternalError
from langgraph_interleave.roles import Roles
from langgraph_interleave.run import Run
from langgraph_interleave.runs import Runs
from langgraph_interleave.state import Progress, StepProgress, record_digests, same_plan
from langgraph_interleave.types import DocumentData, Drift, StepRecord


class Work:
    """The roles and live runs of one graph, and what every node does with them."""

    def __init__(self, roles: Roles) -> None:
        self.roles = roles
        self.runs = Runs(roles)

    @contextmanager
    def at_work(self, run: Run) -> Generator[None]:
        """While a node works on a run. What goes wrong here is of no step: the run is over."""
        with run.active():
            try:
                yield
            except ConfigError:
                raise  # nothing was spent
            except Exception as error:
                # Not by the view of the graph: what was drawn and is not committed is paid for.
                document = self.document(run, run.view, cancelled=True)
                run.emitter.run_finished(document.outcome, document.reasons, len(run.view.planned), document.spend)
                self.runs.end(run)
                where = f" in {self.roles.artifacts!r}" if isinstance(error, OSError) else ""
                raise InternalError(
                    f"The run was ended by an unexpected {type(error).__name__}{where}.",
                    remedy="See the chained exception; what was made so far is in `.document`. With a checkpointer the "
                    "run can be resumed, and finished calls are not made again.",
                    document=document.model_dump(mode="json", exclude_none=True),
                ) from error

    def document(
        self,
        run: Run,
        view: routing.RunView,
        *,
        cancelled: bool = False,
        waiting: bool = False,
        record_digests: dict[int, str] | None = None,
        drifts: dict[int, Drift] | None = None,
    ) -> DocumentData:
        """The document of what a view holds; see `compose_document`."""
        outcome, reasons = ("waiting", ()) if waiting else routing.run_outcome(view, cancelled=cancelled)
        return compose_document(
            run.plan_record,
            view,
            plan_digest=run.plan_digest,
            record_digests=record_digests or {},
            outcome=outcome,
            reasons=reasons,
            spend=run.budget.spend(),
            notes=self.roles.notes,
            drifts=drifts,
        )

    def wait(self, run: Run, view: routing.RunView, steps: dict[str, StepProgress]) -> dict[str, Any]:
        """Nothing goes on until somebody answers: the run is let go of, and what exists is delivered meanwhile.

        What is delivered names the records of its steps, so that a change of it draws nothing twice.
        """
        document = self.document(run, view, waiting=True, record_digests=record_digests(steps))
        run.emitter.run_waiting(len(view.planned), document.spend)
        run.close()
        self.runs.end(run)
        return {
            "document": document.model_dump(mode="json", exclude_none=True),
            "outcome": "waiting",
            "spend": document.spend.model_dump(mode="json"),
        }

    async def store(self, record: StepRecord) -> str:
        """Store a step's record; its digest."""
        # With its nulls: a check that does not apply has passed=None, and that is to be read back.
        return await self.roles.artifacts.aput_json(record.model_dump(mode="json"))

    async def commit(self, record: StepRecord, sent_back: int = 0) -> StepProgress:
        """What the state says of a step that has its outcome, or waits for somebody who is asked.

        Args:
            record: The step's record.
            sent_back: How often a reviewer has sent it back.
        """
        digest = await self.store(record)
        if record.outcome is None:
            attempt = record.attempts[-1].number if record.attempts else 0  # a limit may leave a step without any
            waits = StepProgress(outcome="waiting", attempt=attempt, record=digest)
            return {**waits, "round": sent_back} if sent_back else waits
        return StepProgress(outcome=record.outcome, attempt=record.kept or 0, record=digest)

    @staticmethod
    def update(progress: Progress, changes: dict[str, StepProgress]) -> dict[str, Any]:
        """The state's update about some steps; nothing where there are none."""
        if not changes:
            return {}
        return {"progress": {**same_plan(progress), "steps": changes}}

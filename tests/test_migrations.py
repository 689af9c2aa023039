"""What was stored once is read for ever: every form has a golden file, and the newest is the one that is written."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from langgraph_interleave.agents.mcp_server.names import Name
from langgraph_interleave.agents.mcp_server.record import Job
from langgraph_interleave.agents.mcp_server.shelf import Shelf
from langgraph_interleave.artifacts import ArtifactStore
from langgraph_interleave.cli.versions import Versions
from langgraph_interleave.errors import ArtifactMissing, ConfigError
from langgraph_interleave.files import FolderFiles
from langgraph_interleave.graph import create_interleave_graph
from langgraph_interleave.ledger import CallRecord, Ledger
from langgraph_interleave.migrations import Damaged, newest, read_form, to_newest
from langgraph_interleave.state import known_progress, own_task
from langgraph_interleave.stored import as_document, as_plan_record, as_step_record
from langgraph_interleave.testing import ScriptedBackend, ScriptedCritic, ScriptedPlanner, simple_plan
from langgraph_interleave.types import DocumentData, PlanRecord, StepRecord

GOLDEN = Path(__file__).parent / "golden" / "stored"
ASK: Any = {"request": "things"}
THREAD: Any = {"configurable": {"thread_id": "t"}}


def golden(name: str) -> dict[str, Any]:
    return json.loads((GOLDEN / f"{name}.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", ["checkpoint.v0", "checkpoint.v1"])
def test_checkpoints(name: str) -> None:
    progress = known_progress({"progress": golden(name)})  # pyright: ignore[reportArgumentType]
    assert progress is not None and progress.get("v") == newest("checkpoint")
    assert (progress["run_id"], progress.get("seconds")) == ("golden", 12.5)
    assert progress["steps"]["0"] == {"outcome": "accepted", "attempt": 1, "record": "b" * 64}
    assert progress["steps"]["1"].get("round") == 1


@pytest.mark.parametrize("name", ["task.v0", "task.v1"])
def test_tasks_under_way(name: str) -> None:
    task = own_task(golden(name))  # pyright: ignore[reportArgumentType]
    assert (task.get("v"), task["step"], task["sources"]) == (1, 2, {"0": "b" * 64})


def test_documents_and_their_records() -> None:
    document = as_document(golden("document.v1"))
    assert (document.outcome, len(document.steps), document.steps[0].attempts) == ("complete", 3, 2)
    assert document.request.text == "How to plant a bean, in 3 steps"
    plan = as_plan_record(golden("plan_record.v1"))
    assert plan.plan is not None and len(plan.plan.steps) == 3 and plan.settings["seed"] == 3
    step = as_step_record(golden("step_record.v1"))
    assert [attempt.critique and attempt.critique.verdict for attempt in step.attempts] == ["revise", "accept"]
    assert step.picture is not None and step.picture.width == 64


@pytest.mark.parametrize("role", ["planner", "backend", "critic", "first"])
async def test_call_records_are_found_by_a_ledger(role: str) -> None:
    """Of the first ones, some fields are not there: those were added with a default."""
    store, record = ArtifactStore.memory(), golden(f"call_record_{role}.v1")
    store.write_call(record["scope"], record["key"], record)
    (read,) = await Ledger(store).records("golden")
    assert (read.status, read.usage.cost_usd, read.result) == ("finished", 0.0, record["result"])


def test_jobs_of_the_mcp_server(tmp_path: Path) -> None:
    (tmp_path / "jobs").mkdir()
    (tmp_path / "jobs" / "doc_0123456789abcdef.v2.json").write_text(json.dumps(golden("job.v1")), encoding="utf-8")
    job = Shelf(FolderFiles(tmp_path)).find(Name("doc_0123456789abcdef", 2))
    assert (job.outcome, job.order.changes, job.order.choices) == ("complete", 1, {"seed": 7})


def test_the_list_of_versions(tmp_path: Path) -> None:
    file = tmp_path / ".interleave" / "versions.json"
    file.parent.mkdir()
    file.write_text(json.dumps(golden("list_of_versions.v1")), encoding="utf-8")
    versions = Versions.of(tmp_path)
    assert [one.outcome for one in versions.all] == ["complete", "partial"] and versions.numbered(None).before == 1
    file.write_text(json.dumps({**golden("list_of_versions.v1"), "v": 2}), encoding="utf-8")
    with pytest.raises(ConfigError, match="newer release") as caught:
        Versions.of(tmp_path)
    assert "Delete" not in str(caught.value)


def test_what_is_written_is_of_the_newest_form() -> None:
    for form, model in (
        ("document", DocumentData),
        ("plan record", PlanRecord),
        ("step record", StepRecord),
        ("call record", CallRecord),
        ("job", Job),
    ):
        assert model.model_fields["v"].default == newest(form)  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize("name", sorted(path.stem for path in GOLDEN.glob("*.json")))
def test_a_newer_form_is_refused_by_name_and_a_damaged_one_is_not_called_newer(name: str) -> None:
    forms: dict[str, Any] = {"checkpoint": "checkpoint", "task": "checkpoint", "document": "document", "job": "job"}
    models: dict[str, Any] = {
        "document": DocumentData,
        "job": Job,
        "step_record": StepRecord,
        "plan_record": PlanRecord,
    }
    kind = name.partition(".")[0]
    form: Any = forms.get(kind) or ("call record" if kind.startswith("call") else kind.replace("_", " "))
    data = golden(name)
    with pytest.raises(ConfigError, match=rf"^Thing 7 was written by a newer release: it is a {form} of form 99, .*-U"):
        to_newest(form, {**data, "v": 99}, name="Thing 7")
    for wrong in ("1", None, True, -1, 1.5):
        with pytest.raises(Damaged, match="Thing 7 is damaged"):
            to_newest(form, {**data, "v": wrong}, name="Thing 7")
    model = CallRecord if form == "call record" else models.get(kind)
    if model is not None:
        with pytest.raises(ConfigError, match=r"newer release: it is a .* with 'later'"):
            read_form(form, model, {**data, "later": 1})
        for damaged in ({**data, next(iter(data)): object()}, {}, [], None, "text", {"v": 1, "later": 1}):
            with pytest.raises(ArtifactMissing):
                read_form(form, model, damaged)


class Rewritten(InMemorySaver):
    """A saver whose checkpoints come back as another release wrote them."""

    form: int | None = newest("checkpoint")

    def _other(self, value: Any) -> Any:
        if isinstance(value, dict):
            mapped = {key: self._other(item) for key, item in value.items()}
            if "run_id" in mapped and "turn" in mapped:
                mapped.pop("v", None)
                return mapped if self.form is None else {**mapped, "v": self.form}
            return mapped
        if isinstance(value, (list, tuple)):
            return type(value)(self._other(item) for item in value)
        if type(value).__name__ == "Send":
            return type(value)(value.node, self._other(value.arg))
        return value

    async def aget_tuple(self, config: Any) -> Any:
        found = await super().aget_tuple(config)
        if found is None:
            return None
        values = self._other(found.checkpoint["channel_values"])
        return found._replace(
            checkpoint={**found.checkpoint, "channel_values": values}, pending_writes=self._other(found.pending_writes)
        )


@pytest.mark.parametrize("paused", [{"interrupt_after": ["planner"]}, {"interrupt_before": ["critique"]}])
async def test_a_thread_of_an_older_release_goes_on_and_one_of_a_newer_is_left_alone(paused: Any) -> None:
    saver, planner, backend = Rewritten(), ScriptedPlanner(simple_plan(2)), ScriptedBackend()
    graph: Any = create_interleave_graph(planner, backend, ScriptedCritic(), checkpointer=saver, lookahead=False)
    await graph.ainvoke(ASK, THREAD, **paused)
    before, saver.form = len(backend.requests), 99
    with pytest.raises(ConfigError, match="of this thread was written by a newer release"):
        await graph.ainvoke(None, THREAD)
    assert (len(planner.requests), len(backend.requests)) == (1, before), "and nothing was paid for"
    saver.form = None  # as before there were numbers
    result = await graph.ainvoke(None, THREAD)
    assert result["outcome"] == "complete"
    assert (len(planner.requests), len(backend.requests)) == (1, 2)
    assert (await graph.ainvoke(ASK, THREAD))["outcome"] == "complete"
    assert (await graph.aget_state(THREAD)).values["progress"]["turn"] == 2
    saver.form = 99
    with pytest.raises(ConfigError, match="of this thread was written by a newer release"):
        await graph.ainvoke(ASK, THREAD)
    assert len(planner.requests) == 2

"""One random run among random faults, and what has to hold of it. See `faults.py`."""

from __future__ import annotations

import asyncio
import json
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any, Protocol

from langchain_core.messages import BaseMessage
from langgraph.checkpoint.memory import InMemorySaver

from langgraph_interleave import ArtifactStore, InterleaveContext, InterleaveError, Limits, create_interleave_graph
from langgraph_interleave.budget import Budget
from langgraph_interleave.critics.chat import ChatCritic
from langgraph_interleave.ledger import CallRecord, Ledger
from langgraph_interleave.planners.chat import ChatPlanner
from langgraph_interleave.testing import DRAWING, SPEAKING, FaultyBackend, FaultyChatModel, ScriptedBackend, noise_card
from langgraph_interleave.testing.faults import SECRET, Tally
from langgraph_interleave.types import Capabilities, ImageRequest, ImageResult, Usage

#: What the ledger gives a billed call that nobody waits for, and any call that is cancelled, in seconds.
GRACE_S, STOP_S = 0.2, 0.5
#: How late a run may end, in seconds; twice what the loop itself is late comes on top.
MARGIN_S = 0.75
ROLES = ("planner", "backend", "critic")
#: What a call is recorded with that was given up.
_LATE = ("CallTimeout", "LimitReached", "Cancelled")
WAYS = ("ainvoke", "astream", "invoke", "stream")


class Lateness(Protocol):
    """Knows how late the loops were that everything runs on."""

    def since(self, moment: float) -> float:
        """At most, since that moment, in seconds."""
        ...


@dataclass(slots=True)
class Result:
    """What came of a run.

    Attributes:
        number: Which one it was.
        end: Its outcome, or the class of the error.
        way: How it was called.
        late_s: Seconds after its deadline it ended; below 0, before it.
        faults: How often each fault happened, by role and name.
        marks: What became of its steps.
        calls: Its calls by role.
        ambiguous: How many of those are ambiguous.
        exact: What was counted is for every role exactly what it did.
        wrong: What should not be.
    """

    number: int
    end: str = ""
    way: str = ""
    late_s: float = float("-inf")
    faults: Counter[str] = field(default_factory=Counter[str])
    marks: Counter[str] = field(default_factory=Counter[str])
    calls: dict[str, int] = field(default_factory=dict[str, int])
    ambiguous: int = 0
    exact: bool = True
    wrong: list[str] = field(default_factory=list[str])


class FaultyRun:
    """A run whose every choice comes from a seed and its number.

    Args:
        seed: Seed of all runs.
        number: Which of them this is.
        folder: Where some keep their store.
        threads: Where synchronous calls are made.
    """

    def __init__(self, seed: int, number: int, folder: Path, threads: ThreadPoolExecutor) -> None:
        self.number = number
        self.threads = threads
        self.rng = rng = Random(f"{seed}/{number}")
        self.run_id = f"run_{number}"
        self.count = rng.randint(1, 5)
        self.steps: list[dict[str, Any]] = []
        for index in range(self.count):
            self.steps.append(self._step(index))
        self.way = rng.choice(WAYS)
        self.cut_after_s = rng.uniform(0.0, 0.6) if self.way != "invoke" and rng.random() < 0.2 else None
        self.cut_at: float | None = None
        self.options = self._options()
        self.limits = self.options["limits"]
        store = ArtifactStore.folder(folder / self.run_id) if rng.random() < 0.15 else ArtifactStore.memory()
        self.ledger = Ledger(store, grace_s=GRACE_S)
        billed = {role: rng.random() < 0.5 for role in ROLES}
        self.billed = billed
        accepting = rng.choice([0.3, 0.8, 1.0])

        def plan(messages: Sequence[BaseMessage]) -> str:
            if len(messages) == 1:
                return f"gently, {self.run_id}"
            return f"<think>So.</think><answer>{json.dumps({'steps': self.steps})}</answer>"

        def judge(messages: Sequence[BaseMessage]) -> str:
            words = "\n".join(message.text for message in messages)
            good = Random(f"{self.run_id}/{words}").random() < accepting
            said = {"verdict": "accept" if good else "revise", "reasoning": "Seen.", "refined_prompt": "a better pot"}
            return json.dumps(said)

        def draw(asked: ImageRequest) -> ImageResult:
            cards = tuple(noise_card(asked.prompt, seed=(asked.seed or 0) + nth) for nth in range(asked.n))
            return ImageResult(cards, usage=Usage(images=len(cards)))

        does = Capabilities(
            edit="instruct", max_references=16, max_images=8, seed="exact", concurrency=64, billed=billed["backend"]
        )
        pace = rng.choice([0.0, 0.003, 0.02])
        inner = ScriptedBackend(draw, delay_s=pace, capabilities=does)
        self.planner = FaultyChatModel(plan, self._mix(list(SPEAKING), 0.35), seed=rng.randrange(2**32))
        self.backend = FaultyBackend(inner, self._mix(list(DRAWING), 0.8), seed=rng.randrange(2**32))
        self.critic = FaultyChatModel(judge, self._mix(list(SPEAKING), 0.6), seed=rng.randrange(2**32))
        self.graph = create_interleave_graph(
            ChatPlanner(self.planner, output="tagged", billed=billed["planner"]),
            self.backend,
            ChatCritic(self.critic, output="tagged", billed=billed["critic"]),
            ledger=self.ledger,
            checkpointer=InMemorySaver() if rng.random() < 0.3 else None,
        )

    def _step(self, index: int) -> dict[str, Any]:
        rng = self.rng
        sources = sorted(rng.sample(range(index), rng.randint(0, min(index, 2))))
        if index and rng.random() < 0.1:
            return {"op": "text", "caption": f"Words {index}."}
        drawn = [f"step:{source}" for source in sources if self.steps[source]["op"] != "text"]
        return {"op": "edit" if drawn else "generate", "instruction": f"Thing {index}.", "prompt": f"thing {index}",
                "caption": f"Caption {index}.", "sources": drawn}  # fmt: skip

    def _options(self) -> dict[str, Any]:
        rng = self.rng
        hurried = rng.random() < 0.85
        limits = Limits(
            call_timeout_s=rng.uniform(0.2, 0.5),
            max_seconds=rng.uniform(0.3, 2.5) if hurried else None,
            max_attempts=rng.randint(1, 3 if hurried else 2),
            max_repeats=rng.randint(0, 3 if hurried else 1),
            max_replans=rng.randint(0, 1),
            max_images=rng.choice([None, None, 2, 5]),
            max_calls=rng.choice([None, None, None, 3, 8]),
            step_max_images=rng.choice([None, None, None, 2]),
            step_max_calls=rng.choice([None, None, None, 3]),
            step_max_seconds=rng.choice([None, None, None, 0.5]),
        )
        return {
            "limits": limits,
            "lookahead": rng.choice([True, False, "value"]),
            "early_start": rng.choice([None, True, False]),
            "publish": rng.choice(["early", "verified"]),
            "on_exhausted": rng.choice(["best", "best", "last", "replan", "fail"]),
            "seed": rng.randrange(1000),
            "candidates": rng.randint(1, 3),
        }

    def _mix(self, names: list[str], chance: float) -> dict[str, float]:
        rng = self.rng
        if rng.random() > chance:
            return {}
        chosen = rng.sample(names, rng.randint(1, 3))
        together = rng.choice([0.1, 0.3, 0.6, 1.0])
        return {name: together / len(chosen) for name in chosen}

    # --- running ------------------------------------------------------------------------------

    @property
    def due_s(self) -> float:
        """Seconds the run may take: its own limit, and what its last call is given to stop; or else all it may do."""
        limits = self.limits
        if limits.max_seconds is not None:
            return limits.max_seconds + STOP_S
        sendings, pauses = 1 + limits.max_repeats, 0.65 * (2**limits.max_repeats - 1)
        asking = sendings * (limits.call_timeout_s + STOP_S) + pauses
        plans = 1 + (limits.max_replans if self.options["on_exhausted"] == "replan" else 0)
        return plans * asking * (2 + 2 * limits.max_attempts * self.count)

    async def measure(self, lag: Lateness) -> Result:
        """Make the run, and look at it from all sides."""
        result = Result(self.number, way=self.way if self.cut_after_s is None else f"{self.way}, cut off")
        told: list[Any] = []
        started = time.monotonic()
        try:
            # Only a hang comes this far.
            async with asyncio.timeout(self.due_s + 30 + self.limits.call_timeout_s):
                document, error = await self._made(told)
        except TimeoutError:
            result.wrong.append("it hangs")
            document, error = None, None
        took = time.monotonic() - started
        result.late_s = took - self.due_s
        if self.cut_at is not None:
            result.late_s = max(result.late_s, time.monotonic() - self.cut_at - STOP_S)
        if result.late_s > MARGIN_S + 2 * lag.since(started):
            result.wrong.append(f"{result.late_s:.2f} s late")
        result.end = self._end(document, error, result)
        await self._settled(result, lag, started)
        records = await self.ledger.records(self.run_id)
        self._add_up(result, document, records, await self._by_records())
        self._keeps_secrets(result, [document, *told, [r.model_dump(mode="json") for r in records], str(error)])
        for role, thing in (("planner", self.planner), ("backend", self.backend), ("critic", self.critic)):
            result.faults.update({f"{role}: {name}": n for name, n in thing.tally.kinds.items() if name})
        for step in (document or {}).get("steps", ()):
            result.marks[step["outcome"]] += 1
        return result

    async def _made(self, told: list[Any]) -> tuple[dict[str, Any] | None, BaseException | None]:
        """The document, or the error; with both, an error that brought the document along."""
        loop = asyncio.get_running_loop()
        task: asyncio.Future[Any]
        match self.way:
            case "ainvoke":
                task = asyncio.ensure_future(self.graph.ainvoke(*self._asked, **self._context))
            case "astream":
                task = asyncio.ensure_future(self._astreamed(told))
            case "invoke":
                task = loop.run_in_executor(self.threads, lambda: self.graph.invoke(*self._asked, **self._context))
            case _:
                task = loop.run_in_executor(self.threads, self._streamed, told)
        if self.cut_after_s is not None and self.way in ("ainvoke", "astream"):
            loop.call_later(self.cut_after_s, task.cancel)
            self.cut_at = time.monotonic() + self.cut_after_s
        try:
            values = await task
        except InterleaveError as error:
            return getattr(error, "document", None), error
        except asyncio.CancelledError as error:
            return None, error
        except Exception as error:  # noqa: BLE001 - what this is about
            return None, error
        return (values or {}).get("document"), None

    @property
    def _asked(self) -> tuple[Any, Any]:
        return {"request": "Some things"}, {"configurable": {"thread_id": self.run_id}}

    @property
    def _context(self) -> dict[str, Any]:
        return {"context": InterleaveContext(**self.options, run_id=self.run_id)}

    async def _astreamed(self, told: list[Any]) -> Any:
        last = None
        async for mode, part in self.graph.astream(*self._asked, stream_mode=["custom", "values"], **self._context):
            if mode == "custom":
                told.append(part)
            else:
                last = part
        return last

    def _streamed(self, told: list[Any]) -> Any:
        last, until = None, time.monotonic() + (self.cut_after_s if self.cut_after_s is not None else float("inf"))
        for mode, part in self.graph.stream(*self._asked, stream_mode=["custom", "values"], **self._context):
            if mode == "custom":
                told.append(part)
            else:
                last = part
            if time.monotonic() > until:
                self.cut_at = time.monotonic()
                raise asyncio.CancelledError
        return last

    # --- what has to hold ---------------------------------------------------------------------

    def _end(self, document: dict[str, Any] | None, error: BaseException | None, result: Result) -> str:
        if isinstance(error, asyncio.CancelledError):
            if self.cut_after_s is None:
                result.wrong.append("cancelled, and nobody did it")
            return "cancelled"
        if error is not None:
            if not isinstance(error, InterleaveError):
                result.wrong.append(f"{type(error).__name__}: {error}"[:300])
            return type(error).__name__
        if document is None:
            result.wrong.append("neither a document nor an error")
            return "nothing"
        return document["outcome"]

    async def _settled(self, result: Result, lag: Lateness, started: float) -> None:
        ended = time.monotonic()
        while self.ledger.in_flight():
            if time.monotonic() > ended + GRACE_S + STOP_S + MARGIN_S + 2 * lag.since(started):
                result.wrong.append(f"still under way: {self.ledger.in_flight()}")
                break
            await asyncio.sleep(0.01)
        for thing in (self.planner, self.backend, self.critic):
            thing.release()

    async def _by_records(self) -> Any:
        """What the run spent, by its records alone: what another process would say of it."""
        budget = Budget(Limits())
        scope = self.ledger.scope(self.run_id, budget)
        await scope.resume()
        await scope.aclose()
        return budget.spend()

    def _add_up(self, result: Result, document: dict[str, Any] | None, records: list[CallRecord], spend: Any) -> None:
        result.calls, result.ambiguous = spend.calls, spend.ambiguous
        if document is not None and self.cut_after_s is None:
            told = document["spend"]
            for name, ours in (("calls", spend.calls), ("images", spend.images), ("ambiguous", spend.ambiguous)):
                if told.get(name, type(ours)()) != ours:
                    result.wrong.append(f"{name}: told {told.get(name)}, by the records {ours}")
        tallies: dict[str, Tally] = {
            "planner": self.planner.tally, "backend": self.backend.tally, "critic": self.critic.tally
        }  # fmt: skip
        for role, tally in tallies.items():
            ambiguous = sum(_given_up(record) for record in records if record.role == role)
            counted = spend.calls.get(role, 0)
            result.exact &= counted == tally.worked
            result.wrong += [f"{role}: {words}" for words in
                             balance(tally, counted, ambiguous, billed=self.billed[role])]  # fmt: skip
        ambiguous = sum(record.images * _given_up(record) for record in records)
        result.wrong += pictures(self.backend.tally, spend.images, ambiguous, billed=self.billed["backend"])

    @staticmethod
    def _keeps_secrets(result: Result, said: list[Any]) -> None:
        words = json.dumps(said, default=str)
        if SECRET in words:
            result.wrong.append("the key is told")
        if "x89PNG" in words or "iVBORw0KGgo" in words:
            result.wrong.append("the bytes of a picture are told")


def _given_up(record: CallRecord) -> int:
    """How many makings of a call nobody knows the end of: ambiguous ones, or given up where it costs nothing."""
    late = record.status == "failed" and record.problem is not None and record.problem.error in _LATE
    return record.ambiguous_before + (record.status == "ambiguous") + late


def balance(tally: Tally, counted: int, ambiguous: int, *, billed: bool) -> list[str]:
    """Whether what was counted for a role is what it did itself.

    For a billed role: whatever was done is counted; counted is nothing but what was answered, blocked, or
    may have been done; and what is not marked as ambiguous was answered, or blocked. So the provider's own
    count lies between `counted - ambiguous - blocked` and `counted`, and is `counted` where nothing is unsure.
    A call that was given up before it reached the provider is ambiguous, and so are pictures that arrived
    and could not be used, and what was answered at the moment it was given up.
    For one that costs nothing, calls that were cancelled are not counted, and no more than was asked, or given up.

    Args:
        tally: The provider's own count.
        counted: Calls of the role, as the run's spend has them.
        ambiguous: Those of them that are marked as ambiguous.
        billed: Whether a call costs money.
    """
    known, most = tally.answered + tally.blocked, tally.answered + tally.blocked + tally.unsure
    wrong: list[str] = []
    if billed and not tally.worked <= counted:
        wrong.append(f"{tally.worked} were done, {counted} counted ({tally!r})")
    if billed and counted - ambiguous > known:
        wrong.append(f"{counted} less {ambiguous} ambiguous are counted as done, {known} were ({tally!r})")
    if counted > most + ambiguous:
        wrong.append(f"{counted} counted, {most} were asked and not refused ({tally!r})")
    return wrong


def pictures(tally: Tally, counted: int, ambiguous: int, *, billed: bool) -> list[str]:
    """Whether the pictures that were counted are those that were drawn, or may have been.

    Args:
        tally: The backend's own count.
        counted: Pictures, as the run's spend has them.
        ambiguous: Those among them that may have been drawn.
        billed: Whether a picture costs money.
    """
    # Three times as many as were asked for are known only where the answer was read.
    unasked = tally.kinds["too_many"] * 2 * 3
    lost = tally.kinds["empty"] + tally.kinds["blocked_after"]
    wrong: list[str] = []
    if billed and counted + unasked + lost * 3 < tally.images:
        wrong.append(f"{tally.images} pictures were drawn, {counted} counted ({tally!r})")
    if counted - ambiguous > tally.images:
        wrong.append(f"{counted} pictures less {ambiguous} are counted, {tally.images} were drawn ({tally!r})")
    return wrong

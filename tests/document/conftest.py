"""A small document with everything in it that a document can show."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable
from typing import Any

import pytest

from langgraph_interleave.artifacts import ArtifactStore
from langgraph_interleave.document import Document
from langgraph_interleave.types import (
    ArtifactRef,
    Attempt,
    CheckResult,
    Critique,
    DocumentData,
    DocumentStep,
    ImagePart,
    Plan,
    PlanRecord,
    Problem,
    Request,
    Scores,
    Spend,
    Step,
    StepRecord,
    StyleGuide,
    TextPart,
)


def flat_png(color: tuple[int, int, int], width: int = 12, height: int = 8) -> bytes:
    """A PNG whose bytes do not depend on any library's compression."""

    def chunk(kind: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    rows = (b"\0" + bytes(color) * width) * height
    stored = b"\x01" + struct.pack("<HH", len(rows), len(rows) ^ 0xFFFF) + rows
    deflated = b"\x78\x01" + stored + struct.pack(">I", zlib.adler32(rows))
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", deflated) + chunk(b"IEND", b"")


def put_png(store: ArtifactStore, *color: int) -> ArtifactRef:
    return store.put(flat_png((color[0], color[1], color[2])), mime="image/png", width=12, height=8)


def put_record(store: ArtifactStore, record: StepRecord) -> str:
    return store.put_json(record.model_dump(mode="json"))


@pytest.fixture
def store() -> ArtifactStore:
    return ArtifactStore.memory()


@pytest.fixture
def make(store: ArtifactStore) -> Callable[..., Document]:
    """Make a document of one step, with one thing changed at a time."""

    def build(
        *,
        text: str = "A bean",
        title: str | None = "Bean",
        step: dict[str, Any] | None = None,
        attempts: tuple[Attempt, ...] = (),
        outcome: str = "accepted",
        kept: int | None = None,
        **data: Any,
    ) -> Document:
        record = put_record(store, StepRecord(index=0, attempts=attempts, outcome=outcome, kept=kept))  # pyright: ignore[reportArgumentType]
        fields: dict[str, Any] = {"index": 0, "op": "generate", "outcome": outcome, "record": record} | (step or {})
        return Document.load(
            DocumentData(
                run_id=data.pop("run_id", "run"),
                request=data.pop("request", Request(parts=(TextPart(text=text),))),
                outcome=data.pop("run_outcome", "complete"),
                title=title,
                steps=(DocumentStep.model_validate(fields),),
                **data,
            ),
            store,
        )

    return build


@pytest.fixture
def bean(store: ArtifactStore) -> Document:
    """Six steps: accepted at once, redrawn, text, exhausted, refused, skipped."""
    photo, dig, splash, water, crooked, leaves = (
        put_png(store, *color)
        for color in ((90, 60, 40), (200, 180, 90), (10, 20, 200), (60, 120, 220), (90, 200, 90), (40, 150, 40))
    )
    refused = Problem(
        error="ContentBlocked",
        message="The provider's moderation refused the prompt.",
        remedy="Ask for something else.",
    )
    steps = (
        Step(
            index=0, op="generate", title="Push the bean into the soil", instruction="One bean above a clay pot.",
            prompt="A clay pot with dark soil, one pale bean.", caption="Push one bean in, as deep as it is long.",
            sources=("input:0",),
        ),
        Step(
            index=1, op="edit", title="Water it", instruction="Add a watering can; the pot stays.",
            prompt="Add a watering can.", caption="Water gently. Then wait.", sources=("step:0", "input:0"),
        ),
        Step(index=2, op="text", title="Meanwhile", caption="First the root grows.\n\nThen the stem."),
        Step(
            index=3, op="edit", title="Two leaves", instruction="A stem with two leaves.", prompt="A sprout.",
            caption="After ten days two leaves unfold.", sources=("step:1",),
        ),
        Step(index=4, op="edit", instruction="Pods.", prompt="Pods.", caption="Pods hang.", sources=("step:3",)),
        Step(index=5, op="edit", title="Harvest", instruction="A hand.", prompt="A hand.", sources=("step:4",)),
    )  # fmt: skip
    records = (
        StepRecord(
            index=0, outcome="accepted", kept=0,
            attempts=(
                Attempt(
                    number=0, prompt="A clay pot with soil, one bean.", seed=11, image=dig, references=(photo,),
                    critique=Critique(verdict="accept", reasoning="All there.", scores=Scores(semantics=9, quality=8)),
                ),
            ),
        ),
        StepRecord(
            index=1, outcome="accepted", kept=1,
            attempts=(
                Attempt(
                    number=0, prompt="Add a watering can.", seed=5, image=splash, references=(dig, photo),
                    critique=Critique(
                        verdict="revise", reasoning="The pot is gone.",
                        refined_prompt="Add a watering can; keep the pot.",
                        scores=Scores(semantics=7.5, quality=5, consistency=3),
                    ),
                ),
                Attempt(
                    number=1, prompt="Add a watering can; keep the pot.", seed=6, image=water, references=(dig, photo),
                    critique=Critique(verdict="accept", reasoning="Now it stays.", scores=Scores(semantics=9)),
                ),
            ),
        ),
        None,
        StepRecord(
            index=3, outcome="exhausted", kept=1,
            attempts=(
                Attempt(
                    number=0, prompt="A sprout.", image=crooked, references=(water,),
                    checks=(CheckResult(name="not_blank", passed=False, reason="the picture is one flat colour"),),
                    critique=Critique(verdict="revise", judge="check", refined_prompt="Two leaves of equal size."),
                ),
                Attempt(
                    number=1, prompt="Two leaves of equal size.", image=leaves, references=(water,),
                    critique=Critique(
                        verdict="revise", reasoning="They differ in size.", refined_prompt="Two equal leaves.",
                        scores=Scores(semantics=6.25),
                    ),
                ),
            ),
        ),
        StepRecord(
            index=4, outcome="blocked", problem=refused,
            attempts=(Attempt(number=0, prompt="Pods.", references=(leaves,), problem=refused),),
        ),
        StepRecord(index=5, outcome="skipped"),
    )  # fmt: skip
    plan = Plan(
        steps=steps,
        title="How to plant a bean",
        style_guide=StyleGuide(look="Hand-drawn on cream paper", palette="Terracotta, leaf green", keep="The pot"),
    )
    request = Request(
        parts=(
            TextPart(text="Plant a bean in this pot"),
            ImagePart(image=photo, name="my pot.jpg"),
            TextPart(text="For a child."),
        )
    )
    plan_record = PlanRecord(run_id="run-1", request=request, settings={"language": "en"}, plan=plan)
    marks = {
        3: "The critic accepted none of 2 attempts; the best is shown.",
        4: "The provider refused to draw this. The provider's moderation refused the prompt.",
    }
    outcomes = ("accepted", "accepted", "text_only", "exhausted", "blocked", "skipped")
    return Document.load(
        DocumentData(
            run_id="run-1",
            request=request,
            outcome="partial",
            reasons=("exhausted", "failed_step"),
            title=plan.title,
            style_guide=plan.style_guide,
            steps=tuple(
                DocumentStep(
                    index=step.index,
                    op=step.op,
                    outcome=outcome,
                    title=step.title,
                    caption=step.caption,
                    image=record.picture if record else None,
                    alt="" if step.op == "text" else step.caption or step.instruction or "",
                    mark=marks.get(step.index),
                    attempts=len(record.attempts) if record else 0,
                    kept=record.kept if record else None,
                    sources=step.sources,
                    record=put_record(store, record) if record else None,
                )
                for step, record, outcome in zip(steps, records, outcomes, strict=True)
            ),
            plan=store.put_json(plan_record.model_dump(mode="json")),
            warnings=("The plan has 6 steps; 5 were asked for.",),
            notes=("Sketches drawn by code; faults simulated so that a correction can be seen.",),
            spend=Spend(
                calls={"planner": 1, "backend": 6, "critic": 5},
                images=5,
                input_tokens=5120,
                output_tokens=2210,
                replayed=2,
                wasted=1,
                seconds=12.4,
                cost_usd=0.0312,
            ),
        ),
        store,
    )

"""A guide from a photo: the maker's manual, drawn with the very thing that the customer has at home.

python examples/product_guide.py [--out DIR] [--seed N]

The maker of a chair has one manual: unbox, assemble, use. A customer shows an agent a photo of what came. The agent
calls the tool `create_illustrated_document` with that photo; the planner looks at it, finds that this chair is a blue
one and stands in a garden, and lays the manual out for it. The first picture is drawn from the photo, each other one
from the picture before it. A critic looks at each, and what is wrong is drawn again: a chair that lost its colour, say.

Everything here is offline: the chat model is a script, the "photo" is drawn by code, and so are the pictures, with
faults simulated so that a correction can be seen. The tool stays as it is with a chat model for agent, planner and
critic, and an image model as backend.
"""

from __future__ import annotations

import argparse
import base64
import sys
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from langchain.agents import create_agent
from langchain_core.language_models import FakeMessagesListChatModel
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

from langgraph_interleave import ArtifactStore, Document
from langgraph_interleave.agents import create_interleave_tool
from langgraph_interleave.planner import Existing, PlanRequest
from langgraph_interleave.types import Plan, PlanDelta, Request, Step, TextPart
from langgraph_interleave.world.planner import ScenePlanner
from langgraph_interleave.world.render import render
from langgraph_interleave.world.scene import Scene, Thing

sys.path.insert(0, str(Path(__file__).parent))
from figure import Row, Tile, figure

#: The manual: what each step is called, what is said, what its picture shows. It knows nothing of any customer.
PAGES = (
    ("Unbox", "Take the parts out of the box and put a screwdriver ready.",
     "an open box on the left; a chair in parts in the middle; a screwdriver on the right"),
    ("Begin with the seat", "Put the seat upside down on something soft.",
     "a chair with only a seat in the middle; a screwdriver on the right"),
    ("Screw on the legs", "One after the other, hand-tight. Then turn it over.",
     "a chair with seat and legs in the middle; a screwdriver on the right"),
    ("Fit the back", "Slide the backrest in, then tighten all the screws.",
     "a chair fully assembled in the middle; a screwdriver on the right"),
    ("Use it", "If nothing wobbles, somebody may sit down.",
     "a chair fully assembled in the middle; a cat on the chair"),
)  # fmt: skip


def manual() -> Plan:
    """The manual as a plan: each page is drawn from the one before."""
    steps = [
        Step(
            index=number,
            op="edit" if number else "generate",
            title=title,
            caption=caption,
            instruction=f"The picture shows, in a room: {shows}.",
            prompt=f"In a room: {shows}.",
            sources=(f"step:{number - 1}",) if number else (),
        )
        for number, (title, caption, shows) in enumerate(PAGES)
    ]
    return Plan(steps=tuple(steps), title="Your chair")


class ManualPlanner(ScenePlanner):
    """A planner that invents nothing: it fits the manual to the photo."""

    def aplan(self, request: PlanRequest) -> AsyncIterator[PlanDelta]:
        """Take the manual for the plan there is, and the photo for what is in front of the customer before step 1."""
        if request.existing is None:
            now = Request(parts=(TextPart(text="This is what I have before step 1."),))
            photos = range(len(request.images))
            request = replace(request, existing=Existing(manual(), now, given=photos))
        return super().aplan(request)


class Script(FakeMessagesListChatModel):
    """A chat model that says what is written here."""

    def bind_tools(self, tools: Sequence[Any], **kwargs: Any) -> Any:
        """Any tools."""
        return self


def photo() -> bytes:
    """What the customer's camera sees: drawn in the built-in world, which is all its planner can read."""
    box = Thing(id="box", kind="box", state="open", at="left")
    chair = Thing(id="chair", kind="chair", color="blue", state="parts", at="middle")
    return render(Scene(backdrop="garden", things=(box, chair)), width=640, height=448, seed=3).data


def ask(artifacts: ArtifactStore, *, seed: int, size: str) -> ToolMessage:
    """One turn with the agent; what its tool answered."""
    call = {
        "name": "create_illustrated_document",
        "args": {"request": "How to unbox, assemble and use this chair", "images": ["img_1"]},
        "id": "call-1",
    }
    model = Script(responses=[AIMessage("", tool_calls=[call]), AIMessage("Here is the guide for your blue chair.")])
    tool = create_interleave_tool(
        planner=ManualPlanner(),
        backend="simulator",
        critic="pixel",
        artifacts=artifacts,
        seed=seed,
        size=size,
    )
    picture = {"type": "image", "base64": base64.b64encode(photo()).decode(), "mime_type": "image/png"}
    asked = HumanMessage([{"type": "text", "text": "This came today. How do I put it together?"}, picture])
    messages = create_agent(model, tools=[tool]).invoke({"messages": [asked]})["messages"]
    return next(message for message in messages if isinstance(message, ToolMessage))


def main(argv: Sequence[str] | None = None) -> Document:
    """Have the guide made, say what happened, and write it down."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("product_guide"), help="folder for the document")
    parser.add_argument("--seed", type=int, default=6)
    parser.add_argument("--size", default="640x448")
    options = parser.parse_args(argv)
    artifacts = ArtifactStore.memory()
    made = ask(artifacts, seed=options.seed, size=options.size).artifact
    document = Document.load(artifacts.get_json(made["uri"].removeprefix("artifact://")), artifacts)
    document.save(options.out)
    print(f"{made['outcome']}: {made['spend']['calls']}")
    for step, record in zip(document.steps, document.records(), strict=True):
        assert record is not None
        print(f"step {step.index + 1}, {step.title}: drawn from {' and '.join(map(named, step.sources))}")
        for attempt in record.attempts[: record.kept]:
            print(f"  rejected: {attempt.critique.reasoning if attempt.critique else '?'}")
    print(figure(rows(document, artifacts), options.out / "product_guide.png"))
    return document


def named(source: str) -> str:
    """What a step was drawn from, in words."""
    kind, _, number = source.partition(":")
    return "the customer's photo" if kind == "input" else f"the picture of step {int(number) + 1}"


def rows(document: Document, artifacts: ArtifactStore) -> list[Row]:
    """The photo and the pages; below, what the critic sent back."""
    tiles = [Tile(artifacts.get(document.data.request.images[0]), "The customer's photo", "This came today.")]
    tiles += [
        Tile(image.data, f"{step.index + 1}. {step.title}", step.caption or "") for step, image in document.images()
    ]
    wrong = [
        Tile(artifacts.get(attempt.image), f"Step {record.index + 1}, rejected", attempt.critique.reasoning, wrong=True)
        for record in document.records()
        if record is not None
        for attempt in record.attempts[: min(record.kept or 0, 1)]
        if attempt.image is not None and attempt.critique is not None
    ]
    shown = [Row(tiles[:3], 3), Row(tiles[3:], 3)]
    return [*shown, Row(wrong[:3], 3, "Sent back by the critic, and drawn again", beside=104)] if wrong else shown


if __name__ == "__main__":
    main()

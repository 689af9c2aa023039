"""Guidance that goes on from a photo: what was really done counts, not what was planned.

python examples/guidance.py [--out DIR] [--seed N]

Somebody asks how to make tea and gets a guide. After the second step they send a photo: their kettle is a green one,
and there are two cups. The photo goes into the next turn of the same thread, with `base="latest"`: the guide of this
thread is changed. The steps that were done are kept, with their pictures and without any call; the next step is
drawn from the photo, and the others follow from it, with the green kettle and both cups.

Everything here is offline: the "photo" is drawn by code, and so are the pictures, with faults simulated so that a
correction can be seen. The planner finds what is otherwise from the pixels of the photo; nobody tells it.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from langgraph.checkpoint.memory import InMemorySaver

from langgraph_interleave import ArtifactStore, Document, create_interleave_graph, image_part, stream_segments
from langgraph_interleave.world.render import render
from langgraph_interleave.world.scene import Scene, Thing

sys.path.insert(0, str(Path(__file__).parent))
from figure import Row, Tile, figure

THREAD: Any = {"configurable": {"thread_id": "tea"}}
DONE = 2


def photo() -> bytes:
    """What the camera sees after step 2: the guide's picture has a kettle of metal and one cup."""
    kettle = Thing(id="kettle", kind="kettle", state="boiling", color="green", at="left")
    cups = Thing(id="cups", kind="cup", color="blue", count=2, at="right")
    return render(Scene(backdrop="kitchen", things=(kettle, cups)), width=640, height=448, seed=5).data


def main(argv: Sequence[str] | None = None) -> tuple[Document, Document]:
    """Two turns: the guide, and the guide from the photo on."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("guidance"), help="folder for the document")
    parser.add_argument("--seed", type=int, default=3)
    parser.add_argument("--size", default="640x448")
    options = parser.parse_args(argv)
    artifacts = ArtifactStore.memory()
    graph = create_interleave_graph(
        artifacts=artifacts, checkpointer=InMemorySaver(), seed=options.seed, size=options.size
    )

    first = graph.invoke({"request": "How to make tea, in 6 steps"}, THREAD)
    said = {"type": "text", "text": "This is what I have after step 2. How do I go on?"}
    asked = {"request": [said, image_part(photo(), artifacts)], "base": "latest"}
    seen = ""
    for segment in stream_segments(graph, asked, THREAD):
        if segment.kind == "reasoning" and segment.phase == "finish" and segment.step is None:
            seen = segment.text or ""
    second = graph.get_state(THREAD).values

    planned, real = (Document.load(result["document"], artifacts) for result in (first, second))
    real.save(options.out)
    print(f"version {planned.version}, {first['outcome']}: {first['spend']['calls']}")
    print(f"the planner on the photo: {seen}")
    print(f"version {real.version}, {second['outcome']}: {second['spend']['calls']}")
    what = [(change.change, (change.step or 0) + 1) for change in real.diff(planned)]
    print(f"  kept: steps {', '.join(str(number) for change, number in what if change == 'keep')}")
    for step, record in zip(real.steps[DONE:], real.records()[DONE:], strict=True):
        tries = len(record.attempts) if record is not None else 0
        print(f"  drawn: step {step.index + 1} from {', '.join(step.sources)}, {tries} attempt{'s'[: tries - 1]}")
    print(figure(rows(planned, real, seen), options.out / "guidance.png"))
    return planned, real


def rows(planned: Document, real: Document, seen: str) -> list[Row]:
    """As planned; then the photo, and what follows from it."""
    before = [Tile(image.data, f"{step.index + 1}. {step.title}") for step, image in planned.images()]
    after = [Tile(image.data, f"{step.index + 1}. {step.title}", step.caption or "") for step, image in real.images()]
    own = Tile(photo(), "The photo", f"The planner: “{seen.split('. ')[-1]}”")
    kept = replace(after[DONE - 1], words="Done: kept as it was, and nobody was called for it.")
    return [
        Row(before, len(before), "The guide as planned"),
        Row([kept, own, after[DONE]], 3, "As it really is: the rest is drawn again, from the photo on"),
        Row(after[DONE + 1 :], 3),
    ]


if __name__ == "__main__":
    main()

"""A storyboard: a sheet of the character first, sketches for approval, then six panels with the same robot.

python examples/storyboard.py [--out DIR] [--seed N]

With `draft=True` every panel is sketched for nothing, and the run waits. A reviewer looks at the sketches, makes a
remark, looks again, writes the captions by hand, and accepts. Only then is anything painted: first a reference sheet of
the characters (`references="sheet"`), then the panels, each given the panel before it and the sheet, so that the robot
at night is the robot of the morning. A critic looks at each; a robot of another colour is painted again.

Everything here is offline. The reviewer is a script; the pictures are drawn by code, with faults simulated so that a
correction can be seen. With another backend the sketches stay what they are: drawn by code, for nothing.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from langgraph_interleave import ArtifactStore, Document, create_interleave_graph

sys.path.insert(0, str(Path(__file__).parent))
from figure import Row, Tile, figure

STORY = """The robot's day out:
1. In a room: a red robot on the left, a brown suitcase on the right
2. On a street: the red robot on the left, a yellow bus on the right
3. In a forest: the red robot on the left, a rabbit on the right
4. On the beach: the red robot on the left, a sandcastle on the right
5. In the mountains: the red robot on the left, a tent on the right
6. At night: the red robot on the left, a campfire on the right, a full moon at the top"""
REMARK = "Make the bus in step 2 green"
CAPTIONS = (
    "Packed at last.",
    "The green bus is never late.",
    "“Good morning,” said the rabbit.",
    "The tide is out.",
    "High up, the wind is cold.",
    "The best part of the day.",
)
#: The reviewer's second answer: as it is now, with captions of their own. Words alone draw nothing again.
ACCEPTED = {
    "decision": "accept",
    "steps": [{"change": "recaption", "step": step, "caption": caption} for step, caption in enumerate(CAPTIONS)],
}


def main(argv: Sequence[str] | None = None) -> Document:
    """Have it sketched, reviewed and painted, say what happened, and write it down."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("storyboard"), help="folder for the document")
    parser.add_argument("--seed", type=int, default=5)
    parser.add_argument("--size", default="640x448")
    options = parser.parse_args(argv)
    artifacts = ArtifactStore.memory()
    graph = create_interleave_graph(
        artifacts=artifacts,
        checkpointer=InMemorySaver(),
        approve={"plan"},
        draft=True,
        references="sheet",
        seed=options.seed,
        size=options.size,
    )
    thread: Any = {"configurable": {"thread_id": "storyboard"}}

    first = graph.invoke({"request": STORY}, thread)
    sketches = sketches_of(first)
    print(f"{first['outcome']}: {len(sketches)} sketches, and {first['spend']['calls']}")
    again = graph.invoke(Command(resume={"decision": "revise", "remark": REMARK}), thread)
    better = sketches_of(again)
    other = [number + 1 for number, pair in enumerate(zip(sketches, better, strict=True)) if pair[0] != pair[1]]
    print(f"“{REMARK}”: another sketch of panel {', '.join(map(str, other))}, and {again['spend']['calls']}")
    result = graph.invoke(Command(resume=ACCEPTED), thread)
    print(f"accepted, painted, {result['outcome']}: {result['spend']['calls']}")

    document = Document.load(result["document"], artifacts)
    document.save(options.out)
    sheet = document.data.sheet
    assert sheet is not None
    assert sheet.image is not None
    records = [record for record in document.records() if record is not None]
    shown = sum(sheet.image.sha256 in {ref.sha256 for ref in record.attempts[0].references} for record in records)
    print(f"the sheet was given to {shown} of {len(records)} panels")
    for record in records:
        for attempt in record.attempts[: record.kept]:
            print(f"  panel {record.index + 1} rejected: {attempt.critique.reasoning if attempt.critique else '?'}")
    changed = other[0]
    drafts = [
        Tile(artifacts.get(sketches[changed - 1]), f"Sketch of panel {changed}", f"The reviewer: “{REMARK}.”"),
        Tile(artifacts.get(better[changed - 1]), "Sketched again", "Accepted. Nothing was painted until now."),
    ]
    print(figure(rows(document, artifacts, drafts), options.out / "storyboard.png"))
    return document


def sketches_of(waiting: Any) -> list[str]:
    """The sketches a reviewer is shown: their digests, one a step."""
    (question,) = waiting["__interrupt__"]
    return [step["sketch"]["url"].removeprefix("artifact://") for step in question.value["steps"]]


def rows(document: Document, artifacts: ArtifactStore, drafts: Sequence[Tile]) -> list[Row]:
    """The draft before and after the remark, and the sheet; the panels; what the critic sent back."""
    sheet = document.data.sheet
    assert sheet is not None
    assert sheet.image is not None
    painted = Tile(artifacts.get(sheet.image), "The reference sheet", "Painted first, and given to every panel.")
    panels = [Tile(image.data, f"Panel {step.index + 1}", step.caption or "") for step, image in document.images()]
    wrong = [
        Tile(artifacts.get(attempt.image), f"Panel {record.index + 1}", attempt.critique.reasoning, wrong=True)
        for record in document.records()
        if record is not None
        for attempt in record.attempts[: min(record.kept or 0, 1)]
        if attempt.image is not None and attempt.critique is not None
    ]
    shown = [Row([*drafts, painted], 3), Row(panels[:3], 3), Row(panels[3:], 3)]
    return [*shown, Row(wrong[:3], 3, "Sent back by the critic, and painted again", beside=104)] if wrong else shown


if __name__ == "__main__":
    main()

"""The whole loop on a klein that was trained, and its critic: each picture shows all that led to it."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

pytest.importorskip("diffusers")
pytest.importorskip("langgraph_interleave_miniature", reason="not installed: pip install -e ./miniature")

from langgraph_interleave_miniature.critic import MiniatureCritic
from langgraph_interleave_miniature.drawing import draw
from langgraph_interleave_miniature.scenes import Scene, Thing
from langgraph_interleave_miniature.sight import Sight
from langgraph_interleave_miniature.storage import PIPELINE, weights

from langgraph_interleave import create_interleave_graph, image_part
from langgraph_interleave.artifacts import ArtifactStore
from langgraph_interleave.backends.diffusers import DiffusersBackend
from langgraph_interleave.document import Document
from langgraph_interleave.testing import ScriptedPlanner
from langgraph_interleave.types import ImageBytes, Plan, Step

TREE, CAR = Thing("tree", "green", 3), Thing("car", "blue", 5)
GIVEN = Scene("meadow", (Thing("ball", "red", 0), TREE))
#: What each step must achieve, what the plan has the backend told, and what is then to be seen.
STEPS = (
    (
        "make the red ball at the top left yellow",
        "make the red ball at the top left yellow",
        Scene("meadow", (Thing("ball", "yellow", 0), TREE)),
    ),
    (
        "add a blue car at the bottom right",
        "add an orange star at the top right",
        Scene("meadow", (Thing("ball", "yellow", 0), TREE, CAR)),
    ),
    ("make it at night", "make it at night", Scene("night", (Thing("ball", "yellow", 0), TREE, CAR))),
)


def plan() -> Plan:
    steps = [
        Step(
            index=index, op="edit", title=f"Step {index}", instruction=instruction, prompt=prompt,
            sources=(f"step:{index - 1}" if index else "input:0",),
        )
        for index, (instruction, prompt, _) in enumerate(STEPS)
    ]  # fmt: skip
    return Plan(steps=tuple(steps), title="A meadow")


def shown(data: bytes) -> object:
    found = Sight().see(ImageBytes(data, "image/png", 64, 64))
    return found and found.reading.scene.shown


async def test_steps_build_on_each_other_and_a_wrong_prompt_is_put_right(tmp_path: Path) -> None:
    photo = io.BytesIO()
    draw(GIVEN).save(photo, "PNG")
    (tmp_path / "given.png").write_bytes(photo.getvalue())
    artifacts = ArtifactStore.memory()
    backend = DiffusersBackend(
        weights(PIPELINE), device="cpu", dtype="float32", defaults={"size": 64, "max_sequence_length": 64}
    )
    graph = create_interleave_graph(
        ScriptedPlanner(plan()), backend, MiniatureCritic(), artifacts=artifacts, style_in_prompts=False
    )
    request = [{"type": "text", "text": "a meadow"}, image_part(tmp_path / "given.png", artifacts)]
    result = await graph.ainvoke({"request": request})
    document = Document.load(result["document"], artifacts)
    # What a step's words do not say can only have come with the picture before.
    assert [shown(picture.data) for _, picture in document.images()] == [scene.shown for _, _, scene in STEPS]
    assert result["outcome"] == "complete"
    # The star was seen, and the step drawn again from the picture before it: it is gone.
    record = document.records()[1] or pytest.fail("no record")
    assert len(record.attempts) == 2 and record.attempts[1].prompt.startswith(STEPS[1][0])

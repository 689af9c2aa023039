"""The whole loop on a real, tiny FLUX.2 klein: an input picture, three steps, edits that prove to arrive."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any, cast

import pytest

pytest.importorskip("diffusers")

from PIL import Image, ImageChops

from langgraph_interleave import create_interleave_graph, image_part
from langgraph_interleave.artifacts import ArtifactStore
from langgraph_interleave.backends.diffusers import DiffusersBackend
from langgraph_interleave.document import Document
from langgraph_interleave.testing import ScriptedCritic, ScriptedPlanner
from langgraph_interleave.types import CritiqueRequest, ImageRequest, Plan, Step


def photo(folder: Path, color: str) -> Path:
    picture = Image.new("RGB", (64, 64), color)
    picture.paste("white", (8, 8, 32, 56))
    path = folder / f"{color}.png"
    picture.save(path)
    return path


def plan(*sources: tuple[str, ...]) -> Plan:
    steps = [
        Step(
            index=index, op="edit" if names else "generate", title=f"Step {index}", instruction=f"Show change {index}.",
            prompt=f"change {index} of the pot", caption=f"Change {index}.", sources=names,
        )
        for index, names in enumerate(sources)
    ]  # fmt: skip
    return Plan(steps=tuple(steps), title="A pot")


@pytest.fixture(scope="module")
def pipe() -> Any:
    from tiny_pipelines import load

    return load("klein")


def verdict(asked: CritiqueRequest) -> str:
    return "revise" if asked.attempt == 0 and "change 1" in asked.instruction else "accept"


async def run_of(pipe: Any, steps: Plan, *photos: Path) -> tuple[Document, list[Image.Image], ScriptedCritic]:
    artifacts, critic = ArtifactStore.memory(), ScriptedCritic(verdict)
    backend = DiffusersBackend(pipe, defaults={"size": 64})
    graph = create_interleave_graph(ScriptedPlanner(steps), backend, critic, artifacts=artifacts)
    request = [{"type": "text", "text": "a pot"}, *(image_part(path, artifacts) for path in photos)]
    result = await graph.ainvoke({"request": request})
    document = Document.load(result["document"], artifacts)
    pictures = [Image.open(io.BytesIO(picture.data)).convert("RGB") for _, picture in document.images()]
    return document, pictures, critic


def differ(one: Image.Image, other: Image.Image) -> int:
    return max(int(cast("tuple[int, int]", band)[1]) for band in ImageChops.difference(one, other).getextrema())


async def test_a_picture_is_changed_in_three_steps(pipe: Any, tmp_path: Path) -> None:
    steps = plan(("input:0",), ("step:0",), ("step:1", "input:0"))
    document, pictures, critic = await run_of(pipe, steps, photo(tmp_path, "red"))
    assert document.outcome == "complete"
    assert [picture.size for picture in pictures] == [(64, 64)] * 3
    # Step 1 was drawn twice, from the same reference, the second time with the critic's prompt.
    assert [asked.attempt for asked in critic.requests] == [0, 0, 1, 0]
    first, again = critic.requests[1:3]
    assert again.prompt == f"{first.prompt} (again 1)" and first.before is not None and again.before is not None
    assert first.before.sha256 == again.before.sha256 == critic.requests[0].after.sha256
    # The backend draws the same from the step before and the words and seed on record.
    attempt = (document.records()[1] or pytest.fail("no record")).attempts[1]
    request = ImageRequest(attempt.prompt, [again.before], 64, 64, seed=attempt.seed)
    assert (await DiffusersBackend(pipe).agenerate(request)).images[0].data == again.after.data
    # Another photo reaches the first step, and the last one, which looks at it again.
    _, other, _ = await run_of(pipe, steps, photo(tmp_path, "blue"))
    assert differ(pictures[0], other[0]) > 3 and differ(pictures[2], other[2]) > 3


async def test_references_arrive_and_in_order(pipe: Any, tmp_path: Path) -> None:
    red, blue = photo(tmp_path, "red"), photo(tmp_path, "blue")
    found = {
        names: (await run_of(pipe, plan(names), red, blue))[1][0]
        for names in ((), ("input:0",), ("input:0", "input:1"), ("input:1", "input:0"))
    }
    assert differ(found[()], found["input:0",]) > 10
    assert differ(found["input:0",], found["input:0", "input:1"]) > 3
    assert differ(found["input:0", "input:1"], found["input:1", "input:0"]) > 0

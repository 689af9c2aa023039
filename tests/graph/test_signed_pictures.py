"""What a provider signed stays signed, and the document says which pictures are."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from langgraph_interleave import ArtifactStore, Document, create_interleave_graph
from langgraph_interleave.imaging.chunks import joined, parts_of, png_part
from langgraph_interleave.testing import ScriptedBackend, ScriptedCritic, ScriptedPlanner, noise_card, simple_plan
from langgraph_interleave.types import Critique, CritiqueRequest, ImageBytes, ImageRequest

MANIFEST = b"\0\0\0\x20jumb\0\0\0\x18jumdc2pa\0\x11\0\x10\x80\0\0\xaa\0\x38\x9b\x71\x03c2pa\0"


def signed(picture: ImageBytes) -> ImageBytes:
    """A picture with Content Credentials, as a provider's."""
    parts = parts_of(picture.data)
    return replace(picture, data=joined([*parts[:2], png_part("caBX", MANIFEST), *parts[2:]]))


def draw(request: ImageRequest) -> Any:
    card = noise_card(request.prompt, seed=request.seed or 0)
    return card if "thing 1" in request.prompt else signed(card)


async def test_the_document_says_which_pictures_are_signed_and_keeps_their_bytes(tmp_path: Path) -> None:
    artifacts = ArtifactStore.memory()

    def judge(request: CritiqueRequest) -> Critique:
        if "thing 2" in request.instruction and request.attempt == 0:
            return Critique(verdict="revise", reasoning="Too dark.", refined_prompt="thing 1, lighter")
        return Critique(verdict="accept")

    graph = create_interleave_graph(
        ScriptedPlanner(simple_plan(3, sources=[[], [], []])), ScriptedBackend(draw), ScriptedCritic(judge),
        artifacts=artifacts, style_in_prompts=False,
    )  # fmt: skip
    result = await graph.ainvoke({"request": "three things"})
    steps = result["document"]["steps"]
    # The last one's signed picture was sent back; what is kept is another, which is not signed.
    assert [step.get("signed") for step in steps] == [True, None, None]
    rejected = artifacts.get_json(steps[2]["record"])["attempts"][0]
    assert rejected["signed"] is True
    assert artifacts.get_json(steps[2]["record"])["attempts"][1].get("signed") is None
    document = Document.load(result["document"], artifacts)
    said = "in the picture of step 1, not verified here"
    assert f"- Content Credentials: {said}" in document.to_markdown()
    assert said in document.to_html()
    document.save(tmp_path)
    assert MANIFEST in (tmp_path / "images" / "step-01.png").read_bytes()


async def test_nothing_is_said_of_pictures_that_are_not_signed() -> None:
    artifacts = ArtifactStore.memory()
    graph = create_interleave_graph(
        ScriptedPlanner(simple_plan(1)), ScriptedBackend(), ScriptedCritic(), artifacts=artifacts
    )
    result = await graph.ainvoke({"request": "a thing"})
    assert "signed" not in result["document"]["steps"][0]
    assert "Content Credentials" not in Document.load(result["document"], artifacts).to_markdown()

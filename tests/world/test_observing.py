"""The user's own picture: which step it is of, what is otherwise in it, and what is planned from it."""

from __future__ import annotations

import asyncio
import io

import pytest
from PIL import Image

from langgraph_interleave.planner import Existing, PlanRequest
from langgraph_interleave.types import (
    ArtifactRef,
    Capabilities,
    ImageBytes,
    ImagePart,
    Plan,
    PlanFinished,
    Request,
    TextPart,
)
from langgraph_interleave.world.changing.observing import with_its_place
from langgraph_interleave.world.grammar import describe, target
from langgraph_interleave.world.grammar.remark import carry_out
from langgraph_interleave.world.planner import ScenePlanner, plan_deltas
from langgraph_interleave.world.render import render

EDITS = Capabilities(edit="instruct", max_references=4)


def request_of(text: str, images: int = 0) -> Request:
    pictures = [
        ImagePart(image=ArtifactRef(sha256=f"{number:064x}", mime="image/png", size=1, width=8, height=8))
        for number in range(images)
    ]
    return Request(parts=(*([TextPart(text=text)] if text else []), *pictures))


def bean() -> Plan:
    request = PlanRequest(request=request_of("How to plant a bean, in 4 steps"), capabilities=EDITS)
    last = plan_deltas(request)[-1]
    assert isinstance(last, PlanFinished)
    return last.plan


PLAN = bean()


def photo_of(step: int, *remarks: str) -> ImageBytes:
    """A JPEG of a step's picture, with something otherwise: it carries no scene, only pixels."""
    scene = target(PLAN.steps[step].instruction or "")
    for remark in remarks:
        scene = carry_out(remark, scene).scene
    with Image.open(io.BytesIO(render(scene, width=384, height=384, seed=3).data)) as drawn:
        return jpeg(drawn.convert("RGB"))


def jpeg(image: Image.Image) -> ImageBytes:
    buffer = io.BytesIO()
    image.save(buffer, "JPEG", quality=88)
    return ImageBytes(buffer.getvalue(), "image/jpeg", image.width, image.height)


def real_photo() -> ImageBytes:
    return jpeg(Image.linear_gradient("L").resize((200, 160)).convert("RGB"))


def seen(words: str, *images: ImageBytes, drawn: bool = True, capabilities: Capabilities = EDITS) -> PlanFinished:
    """The plan after the user's pictures; those of the document come before them in the request."""
    pictures = {step.index: step.index for step in PLAN.steps} if drawn else {}
    given = range(len(pictures), len(pictures) + len(images))
    blank = real_photo()
    existing = Existing(plan=PLAN, change=request_of(words, len(images)), pictures=pictures, given=tuple(given))
    request = PlanRequest(
        request=request_of(f"How to plant a bean\n{words}", len(pictures) + len(images)),
        images=[*[blank] * len(pictures), *images],
        capabilities=capabilities,
        existing=existing,
    )
    last = plan_deltas(request)[-1]
    assert isinstance(last, PlanFinished)
    return last


def scenes(plan: Plan) -> list[str]:
    return [describe(target(step.instruction or "")) for step in plan.steps]


@pytest.mark.parametrize(
    "words", ["this is what I have now", "", "after step 2", "I just did the second step. What next?"]
)
def test_what_is_otherwise_in_the_picture_stays_so_in_the_steps_that_are_left(words: str) -> None:
    after = seen(words, photo_of(1, "the pot is blue"))
    assert after.origins == (0, 1, None, None)
    assert after.plan.steps[:2] == PLAN.steps[:2]
    assert scenes(after.plan)[2:] == [
        "On a wooden table: a blue flower pot with a sprout in the middle.",
        "On a wooden table: a blue flower pot with a leafy plant in the middle.",
    ]
    first, second = after.plan.steps[2:]
    assert (first.op, first.sources, second.sources) == ("edit", ("input:4",), ("step:2",))
    assert (first.instruction or "").startswith("Show the flower pot with a sprout and remove the watering can.")
    assert "make the flower pot blue" in after.reasoning
    assert not after.warnings


def test_a_picture_just_as_planned_changes_no_scene() -> None:
    after = seen("", photo_of(2))
    assert after.origins == (0, 1, 2, None)
    assert after.plan.steps[3].sources == ("input:4",)
    assert scenes(after.plan) == scenes(PLAN)


def test_the_place_goes_along() -> None:
    after = seen("", photo_of(2, "in a garden"))
    assert scenes(after.plan)[3] == "In a garden: a flower pot with a leafy plant in the middle."


def test_a_photo_that_cannot_be_read_is_built_on_all_the_same() -> None:
    after = seen("after step 3", real_photo())
    assert after.origins == (0, 1, 2, None)
    assert after.plan.steps[3].sources == ("input:4",)
    assert scenes(after.plan)[3].startswith("On a wooden table, with the given photo pinned up: a flower pot")
    assert [warning.message for warning in after.warnings] == [
        "The given picture could not be read as a scene; the plan goes on as it was."
    ]
    unsaid = seen("this is it so far", real_photo())
    assert "Say after which step" in unsaid.warnings[0].message


def test_words_tell_what_a_photo_does_not() -> None:
    after = seen("I finished step 2. My pot is green.", real_photo())
    assert after.origins == (0, 1, None, None)
    assert all("a green flower pot" in scene for scene in scenes(after.plan)[2:])
    assert "Not understood" not in str(after.warnings)


def test_a_wish_for_the_rest_goes_with_a_picture() -> None:
    after = seen("after step 2: make the rest night-time", photo_of(1))
    assert [scene.split(":")[0] for scene in scenes(after.plan)] == [
        "On a wooden table", "On a wooden table", "At night", "At night",
    ]  # fmt: skip
    assert after.origins == (0, 1, None, None)


def test_when_all_is_done_nothing_is_drawn() -> None:
    after = seen("after step 4", photo_of(3))
    assert (after.plan, after.origins) == (PLAN, (0, 1, 2, 3))
    assert "no picture is left to draw" in after.reasoning


def test_before_the_first_step() -> None:
    after = seen("before step 1", real_photo())
    assert after.plan.steps[0].sources == ("input:4",)
    assert after.plan.steps[0].op == "edit"


def test_before_the_first_step_only_looks_are_taken_over() -> None:
    # The pot is blue and stands in a garden; its soil comes and its plant grows by what the steps do.
    after = seen("This is it before step 1", photo_of(0, "Make the flower pot blue.", "Set the scene in a garden."))
    assert after.plan.steps[0].sources == ("input:4",) and after.origins == (None,) * 4
    for was, now in zip(PLAN.steps, after.plan.steps, strict=True):
        old, new = target(was.instruction or ""), target(now.instruction or "")
        assert new.backdrop == "garden"
        pots = [
            (thing.state, thing.color) for scene in (old, new) for thing in scene.things if thing.kind == "flower pot"
        ]
        assert pots == [(pots[0][0], None), (pots[0][0], "blue")]


def test_before_the_first_step_what_it_does_is_still_to_be_done() -> None:
    after = seen("before step 1", photo_of(0, "Remove the seed.", "Make the flower pot blue."))
    was, now = scenes(PLAN), scenes(after.plan)
    assert "a seed above the flower pot" in was[0]
    assert [scene.replace("blue ", "") for scene in now] == was and all("a blue flower pot" in scene for scene in now)


def test_of_several_pictures_the_last_counts_and_the_others_are_named() -> None:
    after = seen("", real_photo(), photo_of(2))
    assert after.plan.steps[3].sources == ("input:5",)
    assert after.warnings[0].code == "unused_input"


def test_an_undrawn_plan_goes_on_from_a_picture_too() -> None:
    after = seen("", photo_of(1, "the pot is blue"), drawn=False)
    assert after.plan.steps[2].sources == ("input:0",)
    assert "a blue flower pot" in scenes(after.plan)[2]


def test_a_backend_that_takes_no_pictures() -> None:
    after = seen("", photo_of(1, "the pot is blue"), capabilities=Capabilities(edit="none", max_references=0))
    assert "a blue flower pot" in scenes(after.plan)[2]
    assert after.warnings[0].code == "unused_input"


async def test_while_a_picture_is_looked_at_everything_else_goes_on() -> None:
    existing = Existing(plan=PLAN, change=request_of("", 1), given=(0,))
    request = PlanRequest(request=request_of("", 1), images=[photo_of(1)], capabilities=EDITS, existing=existing)
    beats = 0

    async def beat() -> None:
        nonlocal beats
        while True:
            beats += 1
            await asyncio.sleep(0)

    beating = asyncio.create_task(beat())
    deltas = [delta async for delta in ScenePlanner().aplan(request)]
    beating.cancel()
    assert isinstance(deltas[-1], PlanFinished)
    assert beats > 10


def test_bytes_that_are_no_picture_do_no_harm() -> None:
    after = seen("after step 2", ImageBytes(b"\x89PNG broken", "image/png", 10, 10))
    assert after.origins is not None
    assert after.origins[:2] == (0, 1)
    assert "could not be read" in after.warnings[0].message


def test_where_words_say_when_a_picture_was_taken() -> None:
    assert with_its_place("After step 2, add: a cat") == "After step 2, add: a cat"
    assert (
        with_its_place("This is it after step 2, make the rest blue") == "This is it after step 2. make the rest blue"
    )

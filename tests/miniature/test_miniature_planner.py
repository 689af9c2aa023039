"""The planner of the miniature: requests become explicit steps, stories go on by themselves, the rest is refused."""

from __future__ import annotations

import asyncio
import io
import re
from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("langgraph_interleave_miniature", reason="not installed: pip install -e ./miniature")

from langgraph_interleave_miniature.changes import edit_between
from langgraph_interleave_miniature.drawing import draw
from langgraph_interleave_miniature.instructions import target_of
from langgraph_interleave_miniature.outlines import outline_of
from langgraph_interleave_miniature.planner import MiniaturePlanner, steps_of
from langgraph_interleave_miniature.scenes import COLORS, MOST, Scene, Thing
from PIL import Image
from scene_reader import SceneReader

from langgraph_interleave.errors import PlanError
from langgraph_interleave.limits import Limits
from langgraph_interleave.planner import Planner, PlanRequest
from langgraph_interleave.registry import installed, load
from langgraph_interleave.types import Capabilities, ImageBytes, PlanFinished, Request, TextPart

EDITS = Capabilities(edit="instruct", max_references=1)
BALL_AND_CAR = (
    "a red ball at the top left in a meadow; then add a blue car at the bottom right; then make the ball green"
)


def png(picture: Image.Image) -> ImageBytes:
    buffer = io.BytesIO()
    picture.save(buffer, "PNG")
    return ImageBytes(buffer.getvalue(), "image/png", *picture.size)


def plan(
    text: str,
    *,
    capabilities: Capabilities = EDITS,
    steps: int | None = None,
    most: int = 20,
    pictures: Sequence[Image.Image] = (),
) -> PlanFinished:
    request = PlanRequest(
        Request(parts=(TextPart(text=text),)),
        images=[png(picture) for picture in pictures],
        capabilities=capabilities,
        steps=steps,
        limits=Limits(max_steps=most),
    )

    async def last() -> object:
        return [delta async for delta in MiniaturePlanner(SceneReader()).aplan(request)][-1]

    finished = asyncio.run(last())
    assert isinstance(finished, PlanFinished)
    return finished


def test_it_is_a_planner() -> None:
    planner = MiniaturePlanner(SceneReader())
    assert isinstance(planner, Planner)
    [entry] = [entry for entry in installed("planner") if entry.name == "miniature"]
    assert entry.distribution == "langgraph-interleave-miniature" and load(entry) is MiniaturePlanner


def test_a_picture_and_changes_to_it() -> None:
    steps = plan(BALL_AND_CAR).plan.steps
    assert [(step.op, step.prompt, step.sources) for step in steps] == [
        ("generate", "a red ball at the top left in a meadow", ()),
        ("edit", "add a blue car at the bottom right", ("step:0",)),
        ("edit", "make the red ball at the top left green", ("step:1",)),
    ]
    assert [step.caption for step in steps] == [
        "A red ball at the top left in a meadow.",
        "Add a blue car at the bottom right.",
        "Make the ball green.",
    ]
    # The instruction says the whole picture, whatever the prompt says.
    scene = target_of(steps[2].instruction or "").scene
    assert scene is not None and scene.shown == ("meadow", {0: ("ball", "green"), 5: ("car", "blue")})


def test_without_references_every_picture_is_described_in_full() -> None:
    steps = plan(BALL_AND_CAR, capabilities=Capabilities()).plan.steps
    assert [step.op for step in steps] == ["generate"] * 3
    assert steps[2].prompt == "a green ball at the top left and a blue car at the bottom right in a meadow"


def test_what_no_single_edit_does_is_described_in_full() -> None:
    steps = plan("a red ball top left at night. Move it to the bottom right. Then a blue car top left on the beach")
    assert [step.op for step in steps.plan.steps] == ["generate"] * 3
    assert steps.plan.steps[1].prompt == "a red ball at the bottom right at night"


@pytest.mark.parametrize(
    ("text", "steps", "count"),
    [
        (BALL_AND_CAR, None, 3),
        (BALL_AND_CAR, 5, 5),
        (BALL_AND_CAR, 2, 2),
        (f"{BALL_AND_CAR}, in four pictures", None, 4),
        ("a story about a red car, 4 steps", None, 4),
        ("a story about a red car, 4 steps", 3, 3),
        ("Tell me a short story with a fish and a green house.", None, 5),
        ("a story", 30, 20),
    ],
)
def test_the_number_of_steps_is_kept(text: str, steps: int | None, count: int) -> None:
    finished = plan(text, steps=steps)
    assert len(finished.plan.steps) == count
    assert [warning.code for warning in finished.warnings] == (["step_count"] if steps == 30 else [])


def test_fewer_steps_show_the_first_changes_at_once() -> None:
    steps = plan(BALL_AND_CAR, steps=2).plan.steps
    assert steps[0].prompt == "a red ball at the top left and a blue car at the bottom right in a meadow"
    assert steps[0].caption == "A red ball at the top left in a meadow. Add a blue car at the bottom right."
    assert steps[1].prompt == "make the red ball at the top left green"


#: Words of the grammar in any order, and one that is none of them.
PHRASES = st.lists(
    st.sampled_from(["a", "the", "red", "blue", "ball", "car", "it", "top", "left", "at night", "on the beach", "add",
                     "remove", "make", "move", "turns", "nothing", "and", "then", ";", ".", "a story", "3 steps",
                     "dog"]),
    min_size=1, max_size=12,
)  # fmt: skip


@given(PHRASES, st.none() | st.integers(1, 6))
def test_any_request_is_laid_out_in_whole_scenes_or_refused(words: list[str], steps: int | None) -> None:
    try:
        outline = outline_of(" ".join(words), steps=steps, most=8)
    except PlanError:
        return
    assert len(outline.moments) == (steps or len(outline.moments)) <= 8
    for step, moment in zip(steps_of(outline, EDITS), outline.moments, strict=True):
        scene = target_of(step.instruction or "").scene
        assert scene is not None and scene.shown == moment.scene.shown


@given(st.integers(0, 10_000), st.integers(1, 12))
def test_a_story_is_a_chain_of_single_edits_in_which_its_heroes_stay(seed: int, count: int) -> None:
    outline = outline_of("a story about a red car and a fish", steps=count, seed=seed)
    assert len(outline.moments) == count
    for before, after in pairwise(outline.moments):
        assert edit_between(before.scene, after.scene) is not None
        assert before.caption != after.caption
    for moment in outline.moments:
        assert moment.scene.named("car") and moment.scene.named("fish") and len(moment.scene.things) <= MOST
    again = outline_of("a story about a red car and a fish", steps=count, seed=seed)
    assert again == outline


def test_what_is_left_open_is_chosen_and_said() -> None:
    finished = plan("a ball")
    scene = target_of(finished.plan.steps[0].instruction or "").scene
    assert scene is not None and scene.things[0].kind == "ball"
    assert "leaves open the background, the color of the ball and the place of the ball" in finished.reasoning
    assert plan("a ball") == finished


@pytest.mark.parametrize(
    ("text", "prompts"),
    [
        ("make a ball orange on white paper, top left, and put a heart at the bottom left",
         ["an orange ball at the top left on white paper", "add a X heart at the bottom left"]),
        ("A tale of a star top left at night: first a red car arrives top right, then it turns yellow. 3 pictures",
         ["a X star at the top left at night", "add a red car at the top right",
          "make the red car at the top right yellow"]),
        ("a green tree top left and a red house top right on the beach -> paint it blue -> take the tree away",
         ["a green tree at the top left and a red house at the top right on the beach",
          "make the red house at the top right blue", "remove the green tree at the top left"]),
    ],
)  # fmt: skip
def test_requests_as_people_put_them(text: str, prompts: list[str]) -> None:
    found = [step.prompt or "" for step in plan(text).plan.steps]
    assert len(found) == len(prompts)
    for prompt, wanted in zip(found, prompts, strict=True):
        assert re.fullmatch(wanted.replace("a X", rf"an? ({'|'.join(COLORS)})"), prompt)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("How to plant a bean, in 5 steps", "“bean”"),
        ("a red ball and a dog in a meadow", "does not understand “dog”"),
        ("a red ball; remove the car", "There is no car in the picture by then, but a red ball"),
        ("remove the ball", "nothing before it"),
        ("a red ball and a blue ball", "one ball in a picture at most"),
        ("  ", "no words"),
        ("please", "does not understand “please”"),
    ],
)
def test_what_it_does_not_know_is_refused_by_name_with_what_can_be_said(text: str, says: str) -> None:
    with pytest.raises(PlanError, match=says) as raised:
        plan(text)
    assert "ball, box, star" in raised.value.remedy and "a story about a red car" in raised.value.remedy
    assert raised.value.usage is None  # nobody asks again: it would say the same


def test_chance_takes_nothing_that_is_told_later() -> None:
    for seed in range(20):
        outline = outline_of("a fish; move it to the top right; it turns red; make it on the beach", seed=seed)
        shown = [moment.scene.shown for moment in outline.moments]
        assert len({str(one) for one in shown}) == 4, shown


def test_what_it_cannot_show_is_left_out_and_said() -> None:
    finished = plan("a big red ball at the top left at night")
    assert finished.plan.steps[0].prompt == "a red ball at the top left at night"
    assert [(warning.code, "big" in warning.message) for warning in finished.warnings] == [("unknown_words", True)]


NIGHT = Scene("night", (Thing("house", "blue", 4),))


def test_a_picture_of_this_world_is_read_and_changed() -> None:
    finished = plan("add a yellow star at the top left; make the house red", pictures=[draw(NIGHT), draw(NIGHT)])
    assert finished.reasoning.startswith("I see a blue house in the given picture.")
    assert [(step.op, step.prompt, step.sources) for step in finished.plan.steps] == [
        ("edit", "add a yellow star at the top left", ("input:0",)),
        ("edit", "make the blue house at the bottom middle red", ("step:0",)),
    ]
    assert [(warning.code, warning.message.split(":")[0]) for warning in finished.warnings] == [
        ("unused_input", "Of several pictures only the first is used")
    ]
    story = plan("a story, 3 steps", pictures=[draw(NIGHT)]).plan.steps
    assert story[0].sources == ("input:0",) and len(story) == 3


def test_another_picture_is_not_used_and_that_is_said() -> None:
    finished = plan("a red ball at the top left at night", pictures=[Image.effect_noise((80, 60), 120).convert("RGB")])
    assert finished.plan.steps[0].sources == ()
    assert [warning.code for warning in finished.warnings] == ["unused_input"]
    with pytest.raises(PlanError, match="nothing before it"):
        plan("remove the house", pictures=[Image.effect_noise((80, 60), 120).convert("RGB")])

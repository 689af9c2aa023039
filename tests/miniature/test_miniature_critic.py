"""The critic of the miniature: from pixels to findings, from findings to a verdict and to better words."""

from __future__ import annotations

import asyncio
import io
import random
from collections.abc import Sequence

import pytest

pytest.importorskip("langgraph_interleave_miniature", reason="not installed: pip install -e ./miniature")

from langgraph_interleave_miniature.captions import describe
from langgraph_interleave_miniature.critic import MiniatureCritic
from langgraph_interleave_miniature.drawing import draw
from langgraph_interleave_miniature.instructions import instruction_of
from langgraph_interleave_miniature.reading import Reading, certain
from langgraph_interleave_miniature.scenes import Edit, Scene, Thing, random_edit, random_scene
from langgraph_interleave_miniature.sight import Sight
from PIL import Image
from scene_reader import SceneReader

from langgraph_interleave.critic import Critic
from langgraph_interleave.errors import ConfigError, CritiqueError
from langgraph_interleave.types import CheckResult, Critique, CritiqueRequest, Earlier, ImageBytes

BALL = Thing("ball", "red", 0)
CAR = Thing("car", "blue", 5)
WANTED = Scene("meadow", (BALL, CAR))


def picture(scene: Scene | Image.Image) -> ImageBytes:
    image = draw(scene) if isinstance(scene, Scene) else scene
    buffer = io.BytesIO()
    image.save(buffer, "PNG")
    return ImageBytes(buffer.getvalue(), "image/png", *image.size)


def judged(
    shown: Scene | Image.Image,
    *,
    before: Scene | None = None,
    instruction: str | None = None,
    prompt: str = "",
    earlier: Sequence[str] = (),
    checks: Sequence[CheckResult] = (),
    sure: float = 0.995,
) -> Critique:
    edit = Edit("add", before, WANTED) if before is not None else None
    critic = MiniatureCritic(SceneReader(sure))
    request = CritiqueRequest(
        instruction=instruction or instruction_of(WANTED, edit),
        prompt=prompt or describe(WANTED),
        after=picture(shown),
        before=picture(before) if before is not None else None,
        checks=checks,
        attempt=len(earlier),
        earlier=[Earlier(words, Critique(verdict="revise")) for words in earlier],
    )
    return asyncio.run(critic.acritique(request)).critique


def test_a_right_picture_is_accepted() -> None:
    critique = judged(WANTED)
    assert (critique.verdict, critique.refined_prompt, critique.warnings) == ("accept", None, ())
    assert critique.reasoning == "I see the red ball and the blue car. Everything is as the step asks."
    assert (critique.scores.semantics or 0) > 9 and critique.scores.quality is None
    assert critique.scores.consistency is None
    assert isinstance(MiniatureCritic(SceneReader()), Critic)


@pytest.mark.parametrize(
    ("shown", "says"),
    [
        (Scene("meadow", (Thing("ball", "green", 0), CAR)), "The ball is green; it should be red."),
        (Scene("meadow", (Thing("ball", "red", 3), CAR)),
         "The ball is at the bottom left; it should be at the top left."),
        (Scene("meadow", (CAR,)), "The red ball is missing; it should be at the top left."),
        (Scene("meadow", (Thing("box", "red", 0), CAR)),
         "There is a red box at the top left, where the red ball should be."),
        (Scene("meadow", (BALL, CAR, Thing("star", "orange", 1))),
         "There is an orange star at the top middle that nobody asked for."),
        (Scene("night", (BALL, CAR)), "The picture is at night; that is not what was asked for."),
        (Scene("night"), "More than that is not as it should be."),
    ],
)  # fmt: skip
def test_what_is_wrong_is_found_and_said(shown: Scene, says: str) -> None:
    critique = judged(shown)
    assert critique.verdict == "revise" and says in critique.reasoning
    right, wrong = judged(WANTED).scores.semantics, critique.scores.semantics
    assert right is not None and wrong is not None and wrong < right - 2


def test_better_words_put_what_went_wrong_first_and_do_not_repeat_what_was_tried() -> None:
    shown = Scene("meadow", (BALL, Thing("car", "green", 5), Thing("star", "orange", 1)))
    first = judged(shown)
    assert first.refined_prompt == (
        "a blue car at the bottom right and a red ball at the top left in a meadow and nothing else"
    )
    used: list[str] = [describe(WANTED)]
    while (better := judged(shown, earlier=used[:-1], prompt=used[-1]).refined_prompt) is not None:
        assert better not in used and len(used) < 10
        used.append(better)
    assert len(used) > 3  # and then only another seed is left


def test_an_edit_is_told_more_explicitly_and_then_the_whole_picture_is_described() -> None:
    before = Scene("meadow", (BALL,))
    untouched = judged(before, before=before, prompt="add a car")
    assert untouched.reasoning == "The blue car is missing; it should be at the bottom right."
    assert untouched.refined_prompt == "add a blue car at the bottom right"
    spoilt = judged(Scene("meadow", (CAR,)), before=before, prompt="add a car")
    assert spoilt.reasoning == "The red ball is gone; it should have stayed."
    assert spoilt.refined_prompt == "add a blue car at the bottom right and keep everything else"
    used = ["add a blue car at the bottom right", "add a blue car at the bottom right and keep everything else"]
    third = judged(before, before=before, prompt=used[1], earlier=used[:1])
    assert third.refined_prompt == "a blue car at the bottom right and a red ball at the top left in a meadow"


def test_a_fault_of_the_picture_before_is_no_edits_matter() -> None:
    before = Scene("meadow", (Thing("ball", "purple", 0),))
    critique = judged(Scene("meadow", (Thing("ball", "purple", 0), CAR)), before=before, prompt="add a car")
    assert critique.reasoning == "The ball is purple; it should be red."
    assert critique.refined_prompt == "a red ball at the top left and a blue car at the bottom right in a meadow"


def test_what_had_to_stay_counts_as_consistency_and_what_was_asked_as_semantics() -> None:
    before = Scene("meadow", (BALL,))
    lost, undone = judged(Scene("meadow", (CAR,)), before=before), judged(before, before=before)
    assert (lost.scores.semantics or 0) > 9 > (lost.scores.consistency or 10)
    assert (undone.scores.consistency or 0) > 9 > (undone.scores.semantics or 10)


@pytest.mark.parametrize(
    ("words", "shown", "verdict"),
    [
        ("Add a blue car.", Scene("meadow", (BALL, Thing("car", "blue", 2))), "accept"),
        ("Add a blue car.", Scene("meadow", (BALL, Thing("car", "red", 2))), "revise"),
        ("Make the ball yellow", Scene("meadow", (Thing("ball", "yellow", 0),)), "accept"),
        ("Make the ball yellow", Scene("meadow", (BALL,)), "revise"),
        ("Remove the ball, please.", Scene("meadow"), "accept"),
        ("Put it on the beach", Scene("beach", (BALL,)), "accept"),
        ("a fish", Scene("beach", (BALL, Thing("fish", "red", 5))), "revise"),
    ],
)
def test_an_instruction_of_another_planner_is_a_change_of_what_is_seen_before(
    words: str, shown: Scene, verdict: str
) -> None:
    assert judged(shown, before=Scene("meadow", (BALL,)), instruction=words).verdict == verdict


def test_what_an_instruction_leaves_open_is_not_judged_but_nothing_more_may_be_there() -> None:
    assert judged(WANTED, instruction="A car on the right and a ball.").verdict == "accept"
    assert judged(WANTED, instruction="A ball.").reasoning == (
        "There is a blue car at the bottom right that nobody asked for."
    )
    crowded = judged(WANTED, instruction="A ball and a car on the left.")
    assert crowded.reasoning == "The car is at the bottom right; it should be on the left."
    assert crowded.refined_prompt == "a blue car at the bottom left and a red ball at the top left in a meadow"


def test_who_is_not_sure_says_so() -> None:
    color = (0.02, 0.02, 0.02, 0.02, 0.6, 0.32)  # blue, or purple

    def unsure(likely: tuple[float, ...]) -> Critique:
        sure = certain(WANTED, 0.995)
        doubtful = Reading(sure.kinds, (*sure.colors[:5], likely), sure.backgrounds)
        words = instruction_of(WANTED)
        request = CritiqueRequest(instruction=words, prompt=words, after=picture(WANTED))
        return MiniatureCritic(lambda picture: doubtful).critique(request)

    accepted = unsure(color)
    assert accepted.verdict == "accept" and "I am not sure of the car's color." in accepted.reasoning
    assert accepted.warnings == ("The critic is unsure: 58 % that all is right.",)
    refused = unsure((0.02, 0.02, 0.02, 0.06, 0.45, 0.43))
    assert refused.verdict == "revise" and "not sure" in refused.reasoning and refused.refined_prompt


def test_a_failed_check_is_a_fact() -> None:
    check = CheckResult(name="unchanged", passed=False, reason="Nothing outside has stayed.")
    critique = judged(WANTED, checks=[check])
    assert critique.verdict == "revise" and "A check failed: Nothing outside has stayed." in critique.reasoning


def test_of_other_pictures_it_only_guesses_and_says_that() -> None:
    noise = Image.effect_noise((64, 64), 120).convert("RGB")
    assert any("is a guess" in warning for warning in judged(noise).warnings)
    assert not judged(WANTED).warnings
    broken = ImageBytes(b"no picture", "image/png", 64, 64)
    critique = MiniatureCritic(SceneReader()).critique(CritiqueRequest(describe(WANTED), describe(WANTED), broken))
    assert critique.verdict == "revise" and critique.scores.semantics is None


@pytest.mark.parametrize("words", ["Show how to plant a bean.", "Remove the car.", "Make the car red."])
def test_an_instruction_it_does_not_understand_is_neither_accepted_nor_refused(words: str) -> None:
    with pytest.raises(CritiqueError, match="does not understand the instruction") as raised:
        judged(WANTED, instruction=words)
    assert raised.value.usage is None


def test_pixels_decide_and_not_what_a_file_says_of_itself() -> None:
    from PIL.PngImagePlugin import PngInfo

    marks = PngInfo()
    marks.add_text("scene", describe(WANTED))
    buffer = io.BytesIO()
    draw(Scene("meadow", (CAR,))).save(buffer, "PNG", pnginfo=marks)
    words = instruction_of(WANTED)
    after = ImageBytes(buffer.getvalue(), "image/png", 64, 64)
    critique = MiniatureCritic(SceneReader()).critique(CritiqueRequest(words, words, after))
    assert critique.verdict == "revise"


def test_every_edit_is_judged_right_and_its_absence_wrong() -> None:
    rng = random.Random(5)
    for _ in range(12):
        scene = random_scene(rng)
        before = Scene(scene.background, tuple(Thing(one.kind, one.color, one.cell) for one in scene.things))
        edit = random_edit(rng, before)
        after = Scene(edit.after.background, tuple(Thing(one.kind, one.color, one.cell) for one in edit.after.things))
        words = instruction_of(after, Edit(edit.op, before, after))
        assert judged(after, before=before, instruction=words).verdict == "accept"
        assert judged(before, before=before, instruction=words).verdict == "revise"


def test_without_weights_it_says_what_is_missing(tmp_path: object) -> None:
    with pytest.raises(ConfigError, match="critic_reader.safetensors"):
        MiniatureCritic(weights=str(tmp_path))


def test_a_picture_that_is_stored_lying_is_seen_standing() -> None:
    lying = draw(WANTED).transpose(Image.Transpose.ROTATE_90)
    orientation = Image.Exif()
    orientation[0x0112] = 6  # to be turned by a quarter, clockwise
    buffer = io.BytesIO()
    lying.save(buffer, "PNG", exif=orientation)
    seen = Sight(SceneReader()).see(ImageBytes(buffer.getvalue(), "image/png", 64, 64))
    assert seen is not None and seen.reading.scene.shown == WANTED.shown

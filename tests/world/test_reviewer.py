"""What a reviewer says of a picture: carried out in the refined prompt, and asked for from then on."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from langgraph_interleave.types import CheckResult, Critique, CritiqueRequest, Earlier, ImageBytes
from langgraph_interleave.world.critic import PixelCritic
from langgraph_interleave.world.grammar import target
from langgraph_interleave.world.render import render
from langgraph_interleave.world.scene import Scene
from langgraph_interleave.world.sight.wanted import wanted_of

WORDS = "Add a bird. The picture shows, on a meadow: a red ball in the middle; a bird on the right."
PROMPT = "Add a bird. Keep everything else as it is. The picture shows, on a meadow: a red ball in the middle; a bird on the right."  # noqa: E501 - one prompt
CRITIC = PixelCritic()
REJECTED = Critique(verdict="revise")


def said(*words: str) -> tuple[CheckResult, ...]:
    return tuple(CheckResult(name="reviewer", passed=False, reason=one) for one in words)


def drawn(prompt: str) -> ImageBytes:
    return render(target(prompt), width=256, height=256)


AS_ASKED = drawn(WORDS)


def judged(
    after: ImageBytes, *, prompt: str = PROMPT, now: str | None = None, before: tuple[str, ...] = ()
) -> Critique:
    earlier = [Earlier(prompt=PROMPT, critique=REJECTED, checks=said(words)) for words in before]
    request = CritiqueRequest(
        instruction=WORDS,
        prompt=prompt,
        after=after,
        checks=said(now) if now is not None else (),
        earlier=earlier,
        attempt=len(earlier),
    )
    return CRITIC.critique(request)


@pytest.mark.parametrize(
    ("words", "shows"),
    [
        ("make the ball blue", "On a meadow: a blue ball in the middle; a bird on the right."),
        ("two birds, not one", "On a meadow: a red ball in the middle; two birds on the right."),
        ("It should be at night!", "At night: a red ball in the middle; a bird on the right."),
        ("the ball is too small", "On a meadow: a large red ball in the middle; a bird on the right."),
    ],
)
def test_a_remark_is_carried_out_and_stays_in_force(words: str, shows: str) -> None:
    first = judged(AS_ASKED, now=words)
    assert first.verdict == "revise"
    assert first.reasoning.startswith(f"The reviewer says: {words}")
    assert first.refined_prompt is not None
    assert target(first.refined_prompt) == target(shows)
    # The next attempt is judged by what the reviewer wanted, whoever looks at it then.
    done = judged(drawn(first.refined_prompt), prompt=first.refined_prompt, before=(words,))
    assert done.verdict == "accept"
    again = judged(AS_ASKED, prompt=first.refined_prompt, before=(words,))
    assert again.verdict == "revise"
    assert again.refined_prompt is not None
    assert target(again.refined_prompt) == target(shows)


def test_remarks_count_in_the_order_they_were_made() -> None:
    after = judged(AS_ASKED, now="make it green again", before=("make the ball blue", "two birds"))
    assert after.refined_prompt is not None
    birds = target(after.refined_prompt).things
    assert [(thing.kind, thing.color, thing.count) for thing in birds] == [("ball", "blue", 1), ("bird", "green", 2)]


def test_a_remark_that_is_not_understood_is_said_to_be_so() -> None:
    critique = judged(AS_ASKED, now="it lacks soul somehow")
    assert (critique.verdict, critique.refined_prompt) == ("revise", None)
    assert '"it lacks soul somehow" asks of the picture is not understood' in critique.reasoning


def test_what_the_critic_sees_itself_is_corrected_all_the_same() -> None:
    wrong = drawn("On a meadow: a blue ball in the middle; a bird on the right.")
    critique = judged(wrong, now="it lacks soul somehow")
    assert critique.refined_prompt is not None
    assert "the ball must clearly be red" in critique.refined_prompt
    assert target(critique.refined_prompt) == target(WORDS)


def test_a_remark_on_a_change_that_does_not_say_the_whole_picture_is_added_to_its_prompt() -> None:
    request = CritiqueRequest(
        instruction="Let the ball roll", prompt="Roll it, film grain", after=AS_ASKED,
        before=render(Scene()), checks=said("make the ball blue"),
    )  # fmt: skip
    critique = CRITIC.critique(request)
    assert critique.refined_prompt == "Roll it, film grain. Make the ball blue."


def test_another_check_is_no_remark() -> None:
    check = CheckResult(name="sharp", passed=False, reason="make the ball blue")
    request = CritiqueRequest(instruction=WORDS, prompt=PROMPT, after=AS_ASKED, checks=(check,))
    assert wanted_of(request).scene == target(WORDS)
    assert "A check failed: make the ball blue." in CRITIC.critique(request).reasoning


@settings(max_examples=25)
@given(st.text(max_size=60))
def test_no_remark_raises(text: str) -> None:
    request = CritiqueRequest(instruction=WORDS, prompt=PROMPT, after=AS_ASKED, checks=said(text))
    wanted = wanted_of(request)
    assert wanted.scene.things or wanted.understood


def test_an_empty_remark_is_a_plain_rejection() -> None:
    critique = judged(AS_ASKED, now="")
    assert critique.verdict == "revise"

"""What models are told: the user's order is kept, and the beginning of a prompt stays the same."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langgraph_interleave.models.messages import critique_messages, describe, plan_messages, plan_parts
from langgraph_interleave.planner import PlanRequest
from langgraph_interleave.prompts import Prompts
from langgraph_interleave.testing import noise_card
from langgraph_interleave.types import (
    ArtifactRef,
    Capabilities,
    CheckResult,
    Critique,
    CritiqueRequest,
    Earlier,
    ImagePart,
    Request,
    StyleGuide,
    TextPart,
    Unusable,
)

PROMPTS = Prompts.builtin()
WORDS = st.text(alphabet="abc $\n{}<>", min_size=1, max_size=12)


def ref(digest: str = "a" * 64) -> ArtifactRef:
    return ArtifactRef(sha256=digest, mime="image/png", size=1, width=1, height=1)


def flat(messages: list[Any]) -> list[Any]:
    """All content parts in order, with the role of each."""
    parts: list[Any] = []
    for message in messages:
        content = message.content if isinstance(message.content, list) else [{"type": "text", "text": message.content}]
        parts += [(message.type, part) for part in content]
    return parts


def test_the_request_keeps_the_users_order() -> None:
    pictures = [noise_card(name) for name in "ab"]
    parts = (
        TextPart(text="From this"),
        ImagePart(image=ref()),
        TextPart(text="to this"),
        ImagePart(image=ref("b" * 64)),
    )
    said = plan_parts(PlanRequest(Request(parts=parts)), pictures, PROMPTS)[1:]
    assert [part.get("text") or part["url"] for part in said] == [
        "From this",
        "input:0",
        f"artifact://{pictures[0].sha256}",
        "to this",
        "input:1",
        f"artifact://{pictures[1].sha256}",
    ]


def test_the_facts_say_what_was_asked() -> None:
    request = PlanRequest(Request(parts=(TextPart(text="x"),)), steps=4, language="German", style="ink")
    facts = plan_parts(request, (), PROMPTS)[0]["text"]
    for line in ("Steps: exactly 4", "Caption language: German", "Look: ink", "Pictures in the request: none"):
        assert line in facts


@pytest.mark.parametrize(
    ("can", "said"),
    [
        (Capabilities(), "cannot edit and takes no pictures"),
        (Capabilities(edit="instruct", max_references=1), "takes one picture"),
        (Capabilities(generate=False, edit="img2img", max_references=3), "cannot draw from words alone; redraws"),
    ],
)
def test_the_generator_is_described(can: Capabilities, said: str) -> None:
    assert said in describe(can)


@pytest.mark.nightly
@given(
    style=WORDS,
    instruction=WORDS,
    prompts=st.lists(WORDS, min_size=2, max_size=4),
    reasons=st.lists(WORDS, min_size=4, max_size=4),
    failed=st.lists(st.booleans(), min_size=4, max_size=4),
    references=st.integers(0, 3),
    form=st.sampled_from(["json_schema", "tool", "tagged"]),
)
def test_each_attempt_begins_with_all_of_the_one_before_up_to_its_picture(
    style: str, instruction: str, prompts: list[str], reasons: list[str], failed: list[bool], references: int, form: Any
) -> None:
    shown = [noise_card(f"ref{number}") for number in range(references)]
    checks = [(CheckResult(name="c", passed=False, reason=reasons[k]),) if failed[k] else () for k in range(4)]
    earlier = [
        Earlier(prompt, Critique(verdict="revise", reasoning=reasons[number]), checks[number])
        for number, prompt in enumerate(prompts)
    ]

    def asked(attempt: int) -> list[Any]:
        after = noise_card(f"attempt{attempt}")
        request = CritiqueRequest(
            instruction,
            prompts[attempt],
            after,
            references=shown,
            style_guide=StyleGuide(look=style),
            checks=checks[attempt],
            attempt=attempt,
            earlier=earlier[:attempt],
        )
        return flat(critique_messages(request, after, shown, PROMPTS, form))

    for attempt in range(len(prompts) - 1):
        now, then = asked(attempt), asked(attempt + 1)
        assert now[-1][1]["url"] == f"artifact://{noise_card(f'attempt{attempt}').sha256}", "the picture comes last"
        # Its heading and the picture itself are what differs.
        assert then[: len(now) - 2] == now[:-2]
        pictures = [part["url"] for _, part in then if part["type"] == "image"]
        assert pictures[:-1] == [f"artifact://{picture.sha256}" for picture in shown], "references, in order"
        assert len(pictures) == references + 1, "no rejected picture is shown again"


@pytest.mark.nightly
@given(st.lists(st.tuples(WORDS, WORDS, st.booleans()), min_size=1, max_size=3))
def test_asking_again_begins_with_everything_that_was_asked(answers: list[tuple[str, str, bool]]) -> None:
    unusable = [Unusable(reason, raw, truncated=cut) for reason, raw, cut in answers]
    request = Request(parts=(TextPart(text="x"),))
    before: list[Any] = []
    for count in range(len(unusable) + 1):
        now = flat(plan_messages(PlanRequest(request, unusable=unusable[:count]), (), PROMPTS, "json_schema"))
        assert now[: len(before)] == before
        before = now
    assert before[-1][0] == "human"
    assert answers[-1][0] in before[-1][1]["text"]
    assert ("shorter" in before[-1][1]["text"]) == answers[-1][2]


def test_a_long_unusable_answer_is_not_sent_again() -> None:
    unusable = [Unusable("No.", "x" * 9000)]
    said = flat(
        plan_messages(PlanRequest(Request(parts=(TextPart(text="x"),)), unusable=unusable), (), PROMPTS, "tool")
    )
    assert "xxx" not in said[-2][1]["text"]


def test_what_is_filled_in_is_never_a_template() -> None:
    request = CritiqueRequest("$prompt costs $5", "${style}", noise_card("x"))
    words = " ".join(
        part["text"]
        for _, part in flat(critique_messages(request, request.after, (), PROMPTS, "tagged"))
        if part["type"] == "text"
    )
    assert "$prompt costs $5" in words
    assert "${style}" in words

"""The planner `chat` asked to change a plan, on the real `ChatOpenAI` over loopback: every form, and messy answers."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from langchain_core.language_models import FakeListChatModel
from langchain_openai import ChatOpenAI
from loopback import LoopbackServer
from loopback_replies import Chat, ToolCall

from langgraph_interleave.errors import PlanError
from langgraph_interleave.models.changing import change_messages, change_parts
from langgraph_interleave.models.forms import FORMS
from langgraph_interleave.models.schema import changes_schema
from langgraph_interleave.planner import Existing, PlanRequest
from langgraph_interleave.planners.chat import ChatPlanner
from langgraph_interleave.planners.given import GivenPlan
from langgraph_interleave.prompts import Prompts
from langgraph_interleave.testing import noise_card
from langgraph_interleave.types import (
    ArtifactRef,
    ImagePart,
    Part,
    Plan,
    PlanDelta,
    PlanFinished,
    ReasoningDelta,
    Request,
    Step,
    StyleGuide,
    TextPart,
    Unusable,
)

PROMPTS = Prompts.builtin()
PICTURES = {name: noise_card(name, side=32) for name in ("pot of mine", "step:0", "step:1", "what I did")}
PLAN = Plan(
    title="A bean",
    style_guide=StyleGuide(look="ink"),
    steps=(
        Step(index=0, op="edit", title="Pot", instruction="The pot stands on a table.", prompt="Put it on a table",
             caption="Take a pot.", sources=("input:0",)),
        Step(index=1, op="edit", title="Bean", instruction="One bean in it.", prompt="Add a bean", caption="Put it in.",
             sources=("step:0",)),
        Step(index=2, op="edit", title="Sprout", instruction="A sprout.", prompt="Add a sprout", caption="Wait.",
             sources=("step:1",)),
        Step(index=3, op="text", caption="Now it grows."),
    ),
)  # fmt: skip


def image(name: str) -> ImagePart:
    return ImagePart(image=ArtifactRef(sha256=PICTURES[name].sha256, mime="image/png", size=1))


def asking(words: str, photo: bool = False, drawn: bool = True, **fields: Any) -> PlanRequest:
    """A change of `PLAN`, two steps of which were drawn, and the third was not as it should be."""
    change: tuple[Part, ...] = (TextPart(text=words), *([image("what I did")] if photo else []))
    pictures = ["step:0", "step:1"] if drawn else []
    parts = (TextPart(text="Plant a bean in this"), image("pot of mine"), *change, *map(image, pictures))
    first = 1 + photo
    existing = Existing(
        PLAN,
        Request(parts=change),
        pictures={step: first + step for step in range(len(pictures))},
        outcomes={0: "accepted", 1: "accepted", 2: "blocked"} if drawn else {},
        given=(1,) if photo else (),
    )
    shown = ["pot of mine", *(["what I did"] if photo else []), *pictures]
    images = [PICTURES[name] for name in shown]
    return PlanRequest(Request(parts=parts), images=images, existing=existing, **fields)


def listed(**changed: dict[str, Any]) -> list[dict[str, Any]]:
    """All kept but what is named, as in `s1={...}`."""
    return [{"change": "keep", "step": at} | changed.get(f"s{at}", {}) for at in range(len(PLAN.steps))]


def strict(*changes: dict[str, Any], **top: Any) -> str:
    """An answer as a strict schema has it: every field there."""
    of_one = dict.fromkeys(changes_schema()["properties"]["changes"]["items"]["properties"])
    style = {"look": "", "palette": "", "characters": "", "keep": ""}
    whole = {"reasoning": "Only the bean.", "title": None, "style_guide": style} | top
    return json.dumps({**whole, "changes": [{**of_one, **change} for change in changes]}, ensure_ascii=False)


def tagged(*changes: dict[str, Any], **top: Any) -> str:
    return f"<think>Only the bean.</think>\n<answer>{ {**top, 'changes': list(changes)}!r}</answer>"


def model(server: LoopbackServer, **options: Any) -> ChatOpenAI:
    given: dict[str, Any] = {"model": "gpt-5-mini", "api_key": "sk-loop", "base_url": server.base_url}
    return ChatOpenAI(**given | options)


async def planned(planner: Any, request: PlanRequest) -> tuple[PlanFinished, list[PlanDelta]]:
    deltas: list[PlanDelta] = [delta async for delta in planner.aplan(request)]
    finished = deltas.pop()
    assert isinstance(finished, PlanFinished)
    return finished, deltas


async def answered(said: str, request: PlanRequest) -> PlanFinished:
    return (await planned(ChatPlanner(FakeListChatModel(responses=[said])), request))[0]


DARKER = {"change": "redo", "op": "edit", "instruction": "One black bean.", "prompt": "Blacken", "sources": ["input:2"]}


@pytest.mark.parametrize("streamed", [True, False])
@pytest.mark.parametrize("form", ["json_schema", "tool", "tagged", "auto"])
async def test_a_remark_about_one_step_in_every_form(loopback: LoopbackServer, form: Any, streamed: bool) -> None:
    answer = (tagged if form == "tagged" else strict)(*listed(s1=DARKER))
    reply = Chat(text=None, tool_calls=[ToolCall("changes", answer)]) if form == "tool" else Chat(text=answer)
    loopback.script("chat", [reply])
    planner = ChatPlanner(model(loopback, disable_streaming=not streamed), output=form)
    finished, deltas = await planned(planner, asking("A black bean, please"))
    assert finished.origins == (0, None, 2, 3)
    redone = PLAN.steps[1].model_copy(
        update={"instruction": "One black bean.", "prompt": "Blacken", "sources": ("input:2",)}
    )
    assert finished.plan == PLAN.model_copy(update={"steps": (PLAN.steps[0], redone, *PLAN.steps[2:])})
    assert all(isinstance(delta, ReasoningDelta) for delta in deltas), "a later change may move a step"
    assert "".join(delta.text for delta in deltas if isinstance(delta, ReasoningDelta)) == finished.reasoning
    assert finished.reasoning == "Only the bean."
    assert finished.raw == answer
    assert finished.usage.input_tokens == loopback.counts["chat"].input_tokens > 0
    body = loopback.requests[-1].body
    if form in ("json_schema", "auto"):
        assert body["response_format"]["json_schema"]["name"] == "changes"
    assert [tool["function"]["name"] for tool in body.get("tools", [])] == (["changes"] if form == "tool" else [])


async def test_another_language_draws_nothing() -> None:
    french: list[dict[str, Any]] = [
        {"change": "recaption", "step": at, "title": f"T{at}", "caption": f"L{at}"} for at in range(4)
    ]
    finished = await answered(tagged(*french, title="Un haricot"), asking("In French"))
    assert (finished.origins, finished.plan.title) == ((0, 1, 2, 3), "Un haricot")
    assert [step.caption for step in finished.plan.steps] == ["L0", "L1", "L2", "L3"]
    assert [step.prompt for step in finished.plan.steps] == [step.prompt for step in PLAN.steps]


async def test_another_look_draws_every_picture_and_no_words() -> None:
    finished = await answered(tagged(*listed(), style_guide={"look": "watercolour"}), asking("As watercolour"))
    assert finished.origins == (None, None, None, 3)
    assert finished.plan.style_guide == StyleGuide(look="watercolour")


async def test_what_the_user_really_did_is_gone_on_from() -> None:
    going_on = {
        "change": "redo", "instruction": "A sprout in the blue pot.", "prompt": "Add a sprout",
        "caption": "Yours is blue.", "sources": ["input:1"],
    }  # fmt: skip
    said = tagged(*listed(s1={"change": "recaption", "caption": "Two beans do as well."}, s2=going_on))
    finished = await answered(said, asking("This is where I am", photo=True))
    assert finished.origins == (0, 1, None, 3)
    assert finished.plan.steps[2].sources == ("input:1",)
    assert finished.plan.steps[1].caption == "Two beans do as well."


async def test_a_whole_plan_is_taken_as_well() -> None:
    steps = [
        {"step_number": at + 1, "step_name": step.title, "instruction": step.instruction, "prompt": step.prompt,
         "auxiliary_text": step.caption}
        for at, step in enumerate(PLAN.steps)
    ]  # fmt: skip
    steps[2] |= {"instruction": "Two sprouts.", "prompt": "Add two sprouts"}
    said = f"<think>All of it.</think><answer>{ {'execution_plan': steps}!r}</answer>"
    finished = await answered(said, asking("Two sprouts", photo=True))
    assert finished.origins == (0, 1, None, 3), "it starts from the user's own pot, as the plan did"
    assert finished.plan.style_guide == PLAN.style_guide, "this form cannot name one"
    assert finished.plan.title == "A bean"
    assert [step.sources for step in finished.plan.steps] == [step.sources for step in PLAN.steps]


@pytest.mark.parametrize(
    ("said", "says"),
    [
        (tagged(*listed(s1={"change": "redo", "sources": ["step:1"]})), "is the step itself. Its .* input:2"),
        (tagged(*listed()[1:]), "step:0 is not named"),
        (tagged(*listed(s1={"change": "redo", "sources": ["input:7"]})), "'input:7' does not exist"),
        ("I cannot change that.", "no list of changes"),
    ],
)
async def test_an_answer_that_cannot_be_used_says_what_it_cost_and_is_asked_again_with_the_reason(
    loopback: LoopbackServer, said: str, says: str
) -> None:
    loopback.script("chat", [Chat(text=said), Chat(text=tagged(*listed(s1=DARKER)))])
    planner = ChatPlanner(model(loopback), output="tagged")
    with pytest.raises(PlanError, match=says) as raised:
        await planned(planner, asking("Darker"))
    error = raised.value
    assert error.usage is not None and error.usage.input_tokens > 0
    assert error.raw == said
    again = asking("Darker", unusable=[Unusable(error.message, error.raw)])
    finished, _ = await planned(planner, again)
    assert finished.origins == (0, None, 2, 3)
    first, second = (request.body["messages"] for request in loopback.requests)
    assert second[: len(first)] == first
    assert error.message in json.dumps(second[-1], ensure_ascii=False)


async def test_the_number_of_steps_is_told() -> None:
    finished = await answered(tagged(*listed(s1={"change": "delete"})), asking("Fewer", steps=2))
    assert [warning.code for warning in finished.warnings] == ["step_count"]


async def test_a_plan_that_was_given_stays_and_is_compared() -> None:
    finished, _ = await planned(GivenPlan(PLAN), asking("Otherwise"))
    assert (finished.plan, finished.origins) == (PLAN, None)


# --- what it is told ------------------------------------------------------------------------------


def as_text(parts: list[Any]) -> str:
    names = {f"artifact://{picture.sha256}": name for name, picture in PICTURES.items()}
    return "\n\n".join(part["text"] if part["type"] == "text" else f"[{names[part['url']]}]" for part in parts) + "\n"


def human(request: PlanRequest) -> list[Any]:
    assert request.existing is not None
    return change_parts(request, request.existing, request.images, PROMPTS)


@pytest.mark.parametrize("name", ["change", "observation", "nothing_drawn"])
def test_golden_messages(name: str, golden: Callable[[str, str], None]) -> None:
    request = asking(
        {"change": "Make the bean black", "observation": "This is where I am", "nothing_drawn": "Start without a pot"}[
            name
        ],
        photo=name == "observation",
        drawn=name != "nothing_drawn",
    )
    golden(f"messages/{name}.txt", as_text(human(request)))


def test_a_planners_rules_are_the_same_beginning_for_a_plan_and_for_a_change() -> None:
    request = asking("Darker")
    assert request.existing is not None
    for form in FORMS:
        system = change_messages(request, request.existing, request.images, PROMPTS, form)[0].text
        assert system.startswith(PROMPTS.fill("planner"))
        assert ("<answer>" in system) == (form == "tagged")
    darker, lighter = (human(asking(words)) for words in ("Darker", "Lighter"))
    assert darker[:-1] == lighter[:-1], "what is wanted now comes last"


def test_a_remark_that_is_no_part_of_the_request_comes_last_too() -> None:
    request = asking("x", drawn=False)
    request = PlanRequest(
        Request(parts=request.request.parts[:2]),
        images=request.images,
        existing=Existing(PLAN, Request(parts=(TextPart(text="No table."),))),
    )
    assert as_text(human(request)).endswith("\n\nNo table.\n")

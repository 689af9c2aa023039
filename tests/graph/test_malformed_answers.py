"""What models get wrong, arriving through the real `ChatOpenAI`: kind → calls made → outcome.

The table is a golden file, so that a change of behaviour is seen as one.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from langchain_openai import ChatOpenAI
from loopback import LoopbackServer
from loopback_replies import Chat, Reply, bad_request, error_in_200, html, rate_limited, server_error
from pydantic import SecretStr

from langgraph_interleave import create_interleave_graph
from langgraph_interleave.critics.chat import ChatCritic
from langgraph_interleave.models.forms import FORMS, Form
from langgraph_interleave.planners.chat import ChatPlanner
from langgraph_interleave.testing import ScriptedBackend, ScriptedCritic, ScriptedPlanner, noise_card, simple_plan
from langgraph_interleave.types import Critique, CritiqueResult, ImageResult


def plan(steps: int = 2, **changes: Any) -> str:
    listed = [
        {"step_number": n + 1, "step_name": f"Step {n + 1}: Pot", "instruction": "A pot", "prompt": f"pot {n}",
         "auxiliary_text": "It's a pot."}
        for n in range(steps)
    ]  # fmt: skip
    return json.dumps({"execution_plan": listed} | changes)


GOOD = f"<think>Two pots.</think><answer>{plan()}</answer>"
ACCEPT = "<think>A pot.</think><answer>{'previous_step_success': True, 'refine_prompt': 'pot'}</answer>"

PLANS: dict[str, Reply] = {
    "as asked": Chat(text=GOOD),
    "cut off, and the server says so": Chat(text=GOOD[:120], finish_reason="length"),
    "cut off, and the server does not say so": Chat(text=GOOD[:-40]),
    "whole, though the server says it was cut off": Chat(text=GOOD, finish_reason="length"),
    "reasoning that never ends": Chat(text="<think>First a pot, then", finish_reason="length"),
    "nothing at all": Chat(text=""),
    "prose": Chat(text="Sure! First take a pot, then add a bean."),
    "a refusal": Chat(text="", refusal="I cannot help with that."),
    "stopped by a filter": Chat(text="<think>", finish_reason="content_filter"),
    "a Python literal": Chat(text=f"<answer>{json.loads(plan())!r}</answer>"),
    "None for null": Chat(text="<answer>" + plan().replace('"It\'s a pot."', "None") + "</answer>"),
    "in a code fence": Chat(text=f"Here it is:\n```json\n{plan()}\n```"),
    "comments and trailing commas": Chat(text=f"<answer>{plan()[:-2]},] // two pots\n}}</answer>"),
    "the answer tag not closed": Chat(text=f"<think>x</think><answer>{plan()}"),
    "a draft, then the answer": Chat(text=f"<answer>{plan(1)}</answer> No: <answer>{plan()}</answer>"),
    "wrapped once more": Chat(text=f"<answer>{json.dumps({'answer': json.loads(plan())})}</answer>"),
    "three steps for two": Chat(text=f"<answer>{plan(3)}</answer>"),
    "an empty list of steps": Chat(text="<answer>{\"execution_plan\": []}</answer>"),
    "another object": Chat(text='<answer>{"weather": "fine"}</answer>'),
    "builds on a picture there is not": Chat(
        text=json.dumps({"steps": [{"op": "edit", "instruction": "i", "prompt": "p", "sources": ["input:4"]}]})
    ),
    "an HTML page": html(),
    "an error with status 200": error_in_200(),
    "too many requests": rate_limited("0"),
    "a server error": server_error(500),
    "a request it does not take": bad_request("maximum context length exceeded"),
}  # fmt: skip

CRITIQUES: dict[str, Reply] = {
    "as asked": Chat(text=ACCEPT),
    "a word for the verdict": Chat(text="<answer>{'previous_step_success': 'yes, all', 'refine_prompt': ''}</answer>"),
    "structured": Chat(text='{"verdict": "accept", "reasoning": "x", "scores": {"semantics": "9/10"}}'),
    "a score out of range": Chat(text='{"verdict": "accept", "reasoning": "x", "scores": {"semantics": 90}}'),
    "an undecided word": Chat(text="<answer>{'previous_step_success': 'maybe', 'refine_prompt': ''}</answer>"),
    "two verdicts that differ": Chat(text='{"verdict": "accept", "success": false, "reasoning": "x"}'),
    "no verdict": Chat(text='<answer>{"refine_prompt": "a pot"}</answer>'),
    "prose": Chat(text="Looks good to me."),
    "nothing at all": Chat(text=""),
    "cut off": Chat(text=ACCEPT[:40], finish_reason="length"),
    "a refusal": Chat(text="", refusal="I cannot judge people."),
    "an HTML page": html(),
    "too many requests": rate_limited("0"),
    "a server error": server_error(500),
}  # fmt: skip


def chat(server: LoopbackServer, *, streamed: bool) -> ChatOpenAI:
    return ChatOpenAI(model="local", api_key=SecretStr("k"), base_url=server.base_url, disable_streaming=not streamed)


def accepting() -> ScriptedCritic:
    return ScriptedCritic(lambda _: CritiqueResult(Critique(verdict="accept")))


def backend() -> ScriptedBackend:
    return ScriptedBackend(lambda request: ImageResult((noise_card(request.prompt),)))


def table(*heads: str) -> list[str]:
    return [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]


def answering(server: LoopbackServer, first: Reply, good: str, *, again: bool) -> None:
    """The first answer is as given; so are all others, or they are right."""
    server.reset()
    queue = [first]
    server.script("chat", lambda _: queue.pop(0) if queue else Chat(text=good) if again else first)


def form_of(kind: str) -> Form:
    # Refusals are of structured output; in streamed plain text LangChain does not pass them on.
    return "json_schema" if kind == "a refusal" else "tagged"


@pytest.mark.parametrize("streamed", [True, False], ids=["streamed", "whole"])
@pytest.mark.parametrize("again", [True, False], ids=["then right", "always"])
async def test_plans(loopback: LoopbackServer, golden: Any, streamed: bool, again: bool) -> None:
    rows = table("the planner answers", "requests", "answered", "calls counted", "outcome", "problem")
    planners = {form: ChatPlanner(chat(loopback, streamed=streamed), output=form) for form in FORMS}
    for kind, reply in PLANS.items():
        answering(loopback, reply, GOOD, again=again)
        planner = planners[form_of(kind)]
        graph = create_interleave_graph(planner, backend(), accepting(), checks=(), steps=2)
        rows.append(row(kind, loopback, await graph.ainvoke({"request": "Two pots"}), "planner"))
    golden(f"malformed/plans_{'then_right' if again else 'always'}.md", "\n".join(rows) + "\n")


@pytest.mark.parametrize("streamed", [True, False], ids=["streamed", "whole"])
@pytest.mark.parametrize("again", [True, False], ids=["then right", "always"])
async def test_critiques(loopback: LoopbackServer, golden: Any, streamed: bool, again: bool) -> None:
    rows = table("the critic answers", "requests", "answered", "calls counted", "outcome", "step")
    critics = {form: ChatCritic(chat(loopback, streamed=streamed), output=form) for form in FORMS}
    for kind, reply in CRITIQUES.items():
        answering(loopback, reply, ACCEPT, again=again)
        critic = critics[form_of(kind)]
        graph = create_interleave_graph(ScriptedPlanner(lambda _: simple_plan(1)), backend(), critic, checks=())
        rows.append(row(kind, loopback, await graph.ainvoke({"request": "A pot"}), "critic"))
    golden(f"malformed/critiques_{'then_right' if again else 'always'}.md", "\n".join(rows) + "\n")


LIMIT = "model (max_new_tokens or max_tokens)."


async def test_what_is_cut_off_twice_is_told_what_helps(
    loopback: LoopbackServer, caplog: pytest.LogCaptureFixture
) -> None:
    cut = Chat(text="<think>First a pot, then", finish_reason="length")
    answering(loopback, cut, GOOD, again=False)
    planner = ChatPlanner(chat(loopback, streamed=False), output="tagged")
    result = await create_interleave_graph(planner, backend(), accepting()).ainvoke({"request": "Two pots"})
    assert result["document"]["problem"]["remedy"] == (
        f"The planner was asked 2 times. Raise the limit of output tokens of the planner's {LIMIT}"
    )
    answering(loopback, cut, ACCEPT, again=False)
    critic = ChatCritic(chat(loopback, streamed=False), output="tagged")
    graph = create_interleave_graph(ScriptedPlanner(lambda _: simple_plan(1)), backend(), critic, checks=())
    await graph.ainvoke({"request": "A pot"})
    assert caplog.records[-1].getMessage() == (
        "step 1: critic_failed: CritiqueError: No critique: the answer was cut off by the token limit. "
        f"The picture is kept, not judged. Raise the limit of output tokens of the critic's {LIMIT}"
    )


def row(kind: str, server: LoopbackServer, result: dict[str, Any], role: str) -> str:
    count, spend, document = server.counts["chat"], result["spend"], result["document"]
    scripted = (0, 0) if role == "planner" else (10, 20)  # what the scripted planner says it used
    assert spend["input_tokens"] - scripted[0] == count.input_tokens, kind
    assert spend["output_tokens"] - scripted[1] == count.output_tokens, kind
    said = (document.get("problem") or {}).get("error", "") if role == "planner" else document["steps"][0]["outcome"]
    calls = spend["calls"].get(role, 0)
    note = f" ({spend['ambiguous']} ambiguous)" if spend["ambiguous"] else ""
    return f"| {kind} | {count.requests} | {count.answered} | {calls}{note} | {result['outcome']} | {said} |"

"""A change that came to nothing: stopped by its reviewer, failed, or one that changed nothing."""

from __future__ import annotations

from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.language_models import FakeMessagesListChatModel
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from langgraph_interleave import ArtifactStore
from langgraph_interleave.agents import InterleaveMiddleware, create_interleave_tools
from langgraph_interleave.agents.changed import came_to
from langgraph_interleave.agents.gallery import Gallery
from langgraph_interleave.agents.gathering import gather
from langgraph_interleave.errors import PlanError
from langgraph_interleave.planner import PlanRequest
from langgraph_interleave.testing import (
    RuleBasedChatModel,
    ScriptedBackend,
    ScriptedCritic,
    ScriptedPlanner,
    simple_plan,
)
from langgraph_interleave.types import DocumentData, Plan

CREATE, CHANGE = "create_illustrated_document", "change_illustrated_document"
CONFIG: Any = {"configurable": {"thread_id": "t"}}


class Scripted(FakeMessagesListChatModel):
    """Says what its script says; tools may be bound to it."""

    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        return self


def calling(name: str, number: int, **arguments: Any) -> AIMessage:
    return AIMessage("", tool_calls=[{"name": name, "args": arguments, "id": f"call-{number}"}])


def changing(number: int, words: str) -> list[AIMessage]:
    return [calling(CHANGE, number, document="doc_1", request=words), AIMessage("There.")]


def planned(request: PlanRequest) -> Plan:
    """Changes the first step to whatever is wanted."""
    plan = simple_plan(2, sources=[[], []])
    if request.existing is None:
        return plan
    words = request.existing.change.text
    first = plan.steps[0].model_copy(update={"prompt": f"thing 0, {words}", "instruction": f"Show thing 0, {words}."})
    return plan.model_copy(update={"steps": (first, plan.steps[1])})


def roles() -> dict[str, Any]:
    return {"planner": ScriptedPlanner(planned), "backend": ScriptedBackend(), "critic": ScriptedCritic()}


@pytest.fixture
def agent() -> Any:
    said: list[Any] = [
        calling(CREATE, 0, request="two things"),
        AIMessage("There."),
        *changing(1, "at night"),
        *changing(2, "red"),
    ]
    ours = InterleaveMiddleware(approve={"plan"}, **roles())
    return create_agent(Scripted(responses=said), middleware=[ours], checkpointer=InMemorySaver())


def turn(agent: Any, decision: str) -> tuple[ToolMessage, Any]:
    """One turn of an agent: what its tool answered, and the document in its state."""
    agent.invoke({"messages": [HumanMessage("Go on")]}, CONFIG)
    result = agent.invoke(Command(resume={"decision": decision}), CONFIG)
    return result["messages"][-2], result["interleave_gallery"]["documents"][0]


def versions(document: Any) -> list[int]:
    return [one["version"] for one in document["versions"]]


def test_a_change_the_reviewer_cancelled_is_no_version(agent: Any) -> None:
    made, _ = turn(agent, "accept")
    told, document = turn(agent, "cancel")
    assert told.status == "success", "it is no fault, and the model must not try it again"
    assert told.text.startswith("Nothing was changed: it was stopped before it was finished. doc_1 is as it was, ver")
    artifact = told.artifact
    assert (artifact["changed"], artifact["version"], artifact["outcome"]) == (False, 1, "cancelled")
    assert (artifact["digest"], artifact["segments"]) == (made.artifact["digest"], made.artifact["segments"])
    assert artifact["run_id"] != made.artifact["run_id"]
    assert (versions(document), document["current"]) == ([1], 1)
    again, document = turn(agent, "accept")
    assert (again.artifact["version"], again.artifact["parent"], again.artifact["changed"]) == (2, 1, True)
    assert (versions(document), document["current"]) == ([1, 2], 2)


def test_what_came_to_nothing_takes_nothing_back_and_loses_nothing(agent: Any) -> None:
    made, _ = turn(agent, "accept")
    told, _ = turn(agent, "cancel")
    again, _ = turn(agent, "accept")
    store = ArtifactStore.memory()
    # A call of the same breath that was cancelled may answer after one that was not.
    [document] = gather([made, again, told], Gallery(), store).documents
    assert (document.current, len(document.versions)) == (2, 2)
    # Its message may be all that is left of the conversation.
    [document] = gather([told], Gallery(), store).documents
    assert (document.current, document.versions[0].digest) == (1, made.artifact["digest"])


def call(tool: Any, **arguments: Any) -> ToolMessage:
    return tool.invoke({"name": tool.name, "args": arguments, "id": "1", "type": "tool_call"})


def test_a_change_that_failed_says_what_there_still_is() -> None:
    planner = ScriptedPlanner([simple_plan(1), PlanError("No plan there.", remedy="Ask otherwise."), simple_plan(2)])
    options: Any = {**roles(), "planner": planner}
    create, change, _ = create_interleave_tools(**options)
    call(create, request="a thing")
    told = call(change, document="doc_1", request="darker")
    assert told.status == "error"
    assert told.text == "Nothing was changed: doc_1 is as it was, version 1. No plan there. Ask otherwise."
    assert call(change, document="doc_1", request="longer").artifact["parent"] == 1


def test_a_change_of_nothing_is_no_version() -> None:
    create, change, restore = create_interleave_tools(size="64x64")
    made = call(create, request="How to plant a bean, in 2 steps")
    told = call(change, document="doc_1", request="delete step 9")
    assert told.status == "success"
    assert told.text == (
        "Nothing was changed: nothing would be otherwise than it is. doc_1 is as it was, version 1.\n"
        "Note: There is no step 9: the steps are 1 to 2."
    )
    artifact = told.artifact
    assert (artifact["changed"], artifact["digest"]) == (False, made.artifact["digest"])
    assert (artifact["run_id"] == made.artifact["run_id"], artifact["spend"]["calls"]) == (False, {"planner": 1})
    assert artifact["warnings"] == ["There is no step 9: the steps are 1 to 2."]
    assert "has no version 2" in call(restore, document="doc_1", version=2).text


def test_what_a_change_came_to() -> None:
    asked: Any = {"request": {"parts": [{"type": "text", "text": "A bean"}]}, "outcome": "complete", "plan": "a" * 64}
    before = DocumentData.model_validate({**asked, "run_id": "r"})
    changed = before.model_copy(update={"version": 2, "run_id": "s", "plan": "b" * 64})
    assert came_to(changed, before) == "version"
    assert came_to(changed.model_copy(update={"outcome": "partial"}), before) == "version"
    assert came_to(changed.model_copy(update={"outcome": "cancelled"}), before) == "stopped"
    assert came_to(changed.model_copy(update={"outcome": "failed"}), before) == "failed"
    assert came_to(before.model_copy(update={"warnings": ("Nothing changed.",)}), before) == "nothing"
    assert came_to(before.model_copy(update={"run_id": "s"}), before) == "nothing"
    stopped = before.model_copy(update={"outcome": "cancelled"})
    assert came_to(stopped, stopped) == "nothing", "what was stopped and is not changed now was not stopped again"
    assert came_to(changed.model_copy(update={"version": 1}), before) == "version", "a graph that counts no versions"


def test_rules_say_it_in_words() -> None:
    told = ToolMessage(
        "Nothing was changed: it was stopped.", tool_call_id="1", artifact={"segments": [], "changed": False}
    )
    said = RuleBasedChatModel().invoke([HumanMessage("x"), AIMessage(""), told])
    assert said.text == "Nothing was changed: it was stopped."

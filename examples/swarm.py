"""The illustrator in a swarm: a host hands over to an agent that makes and changes documents, and gets back.

pip install langgraph-swarm
python examples/swarm.py

Both models are scripts here, so that it runs without a key: put any chat models that call tools in their place.
The illustrator is an ordinary agent with `InterleaveMiddleware`, and may hand back like any other.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from langchain.agents import create_agent
from langchain_core.language_models import FakeMessagesListChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph_swarm import create_handoff_tool, create_swarm

from langgraph_interleave import stream_segments
from langgraph_interleave.agents import InterleaveMiddleware


class Script(FakeMessagesListChatModel):
    """A chat model that says what is written here."""

    def bind_tools(self, tools: Sequence[Any], **kwargs: Any) -> Any:
        """Any tools."""
        return self


def main() -> None:
    """Three turns: a document, a change of it, and thanks."""
    swarm = make_swarm()
    for words in ("Show me how to plant a bean, in 3 steps.", "Leave out step 2.", "Thank you. Who are you again?"):
        say(swarm, words)


def make_swarm() -> Any:
    """The host and the illustrator."""
    host = create_agent(
        Script(responses=[calling("transfer_to_illustrator"), AIMessage("I am the host.")]),
        [create_handoff_tool(agent_name="illustrator", description="Hand over to whoever illustrates.")],
        name="host",
    )
    script: list[BaseMessage] = [
        calling("create_illustrated_document", request="How to plant a bean, in 3 steps"),
        AIMessage("There you are."),
        calling("change_illustrated_document", document="doc_1", request="leave out step 2"),
        AIMessage("Two steps now."),
        calling("transfer_to_host"),
    ]
    illustrator = create_agent(
        Script(responses=script),
        [create_handoff_tool(agent_name="host", description="Hand back to the host.")],
        middleware=[InterleaveMiddleware(size="256x256", seed=7)],
        name="illustrator",
    )
    return create_swarm([host, illustrator], default_active_agent="host").compile(checkpointer=InMemorySaver())


def calling(tool: str, **arguments: Any) -> AIMessage:
    """What a model says to call a tool."""
    return AIMessage("", tool_calls=[{"name": tool, "args": arguments, "id": f"{tool}-1"}])


def say(swarm: Any, words: str) -> None:
    """One turn: what was said, what was made, who is talking now."""
    config = {"configurable": {"thread_id": "here"}}
    print(f"\nYou: {words}")
    segments = list(stream_segments(swarm, {"messages": [HumanMessage(words)]}, config))
    pictures = sum(segment.kind == "image" for segment in segments)
    state = swarm.get_state(config).values
    made = next((message.artifact for message in reversed(state["messages"]) if message.type == "tool"), None)
    if pictures and made:
        print(f"  {made['document']}, version {made['version']}: {pictures} pictures, {made['spend']['images']} drawn")
    print(f"{state['active_agent']}: {state['messages'][-1].text}")


if __name__ == "__main__":
    main()

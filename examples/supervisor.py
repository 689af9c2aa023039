"""The illustrator in a team: a supervisor hands the conversation to it and takes it back.

pip install langgraph-supervisor
python examples/supervisor.py

The supervisor's model is a script here, so that it runs without a key: put any chat model that calls tools in
its place. It reads the conversation through `legible`, because providers refuse pictures in an assistant's
message.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from langchain_core.language_models import FakeMessagesListChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph_supervisor import create_supervisor

from langgraph_interleave import create_interleave_agent, stream_segments
from langgraph_interleave.agents import legible


class Script(FakeMessagesListChatModel):
    """A chat model that says what is written here."""

    def bind_tools(self, tools: Sequence[Any], **kwargs: Any) -> Any:
        """Any tools."""
        return self


def main() -> None:
    """One question, one illustrated answer."""
    team = make_team()
    config = {"configurable": {"thread_id": "here"}}
    asked = {"messages": [HumanMessage("Show me how to plant a bean, in 3 steps.")]}
    for segment in stream_segments(team, asked, config):
        if segment.kind in ("caption", "image"):
            print(f"  as it is made: {segment.kind} of step {(segment.step or 0) + 1}")
    for message in team.get_state(config).values["messages"]:
        print(told(message))


def make_team() -> Any:
    """A supervisor and the illustrator."""
    script: list[BaseMessage] = [
        AIMessage("", tool_calls=[{"name": "transfer_to_illustrator", "args": {}, "id": "call-1"}]),
        AIMessage("There you are: three steps, with a picture each."),
    ]
    illustrator: Any = create_interleave_agent(size="256x256", seed=7)
    team = create_supervisor(
        [illustrator],
        model=Script(responses=script),
        prompt="Have things shown by the illustrator.",
        pre_model_hook=lambda state: {"llm_input_messages": legible(state["messages"])},
    )
    return team.compile(checkpointer=InMemorySaver())


def told(message: BaseMessage) -> str:
    """Who said what, in one line."""
    blocks = [block["type"] for block in message.content_blocks if block["type"] in ("text", "image")]
    pictures = blocks.count("image")
    words = " ".join(message.text.split())
    shown = f"{words[:60]}{'…' if len(words) > 60 else ''}{f' ({pictures} pictures)' if pictures else ''}"
    return f"{message.name or message.type}: {shown or '(hands over)'}"


if __name__ == "__main__":
    main()

"""A conversation with an agent that illustrates: a photo, a document, a change, and back. It prints what was called.

python examples/conversation.py

The agent's model is a script here, so that it runs without a key: put any chat model that calls tools in its
place. The pictures are sketches drawn by code, with faults simulated so that a correction can be seen.
"""

from __future__ import annotations

import base64
import io
from collections import Counter
from collections.abc import Sequence
from typing import Any

from langchain.agents import create_agent
from langchain_core.language_models import FakeMessagesListChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langgraph.checkpoint.memory import InMemorySaver
from PIL import Image, ImageDraw

from langgraph_interleave import ArtifactStore, stream_segments
from langgraph_interleave.agents import InterleaveMiddleware


class Script(FakeMessagesListChatModel):
    """A chat model that says what is written here."""

    def bind_tools(self, tools: Sequence[Any], **kwargs: Any) -> Any:
        """Any tools."""
        return self


def main() -> None:
    """Hold the conversation."""
    artifacts = ArtifactStore.memory()
    agent = make_agent(artifacts)
    photo = {"type": "image", "base64": base64.b64encode(bean()).decode(), "mime_type": "image/png", "name": "bean.png"}
    say(agent, artifacts, "How do I plant this one, in 4 steps?", photo)
    say(agent, artifacts, "Make step 2 night-time.")
    say(agent, artifacts, "No, as it was before.")
    say(agent, artifacts, "And leave out step 3.")


def make_agent(artifacts: ArtifactStore) -> Any:
    """The agent: one line for all it needs to illustrate."""
    script: list[BaseMessage] = [
        calling("create_illustrated_document", request="How to plant a bean, in 4 steps", images=["img_1"]),
        AIMessage("There you are."),
        calling("change_illustrated_document", document="doc_1", request="make step 2 night-time"),
        AIMessage("It is night now."),
        calling("restore_illustrated_document", document="doc_1", version=1),
        AIMessage("As before."),
        calling("change_illustrated_document", document="doc_1", request="leave out step 3"),
        AIMessage("Three steps now."),
    ]
    illustrating = InterleaveMiddleware(artifacts=artifacts, size="128x128", seed=7)
    return create_agent(Script(responses=script), middleware=[illustrating], checkpointer=InMemorySaver())


def calling(tool: str, **arguments: Any) -> AIMessage:
    """What a model says to call a tool."""
    return AIMessage("", tool_calls=[{"name": tool, "args": arguments, "id": f"{tool}-1"}])


def say(agent: Any, artifacts: ArtifactStore, words: str, *pictures: dict[str, Any]) -> None:
    """One turn: what was said, what came through while it was made, what was called."""
    config = {"configurable": {"thread_id": "here"}}
    print(f"\nYou: {words}{' (and a photo)' if pictures else ''}")
    asked = HumanMessage([{"type": "text", "text": words}, *pictures])
    kinds = Counter(segment.kind for segment in stream_segments(agent, {"messages": [asked]}, config))
    messages = agent.get_state(config).values["messages"]
    made = next(message for message in reversed(messages) if isinstance(message, ToolMessage)).artifact
    told = ", ".join(f"{count} {kind}" for kind, count in kinds.items()) or "nothing"
    print(f"  streamed: {told}")
    print(f"  {made['document']}, version {made['version']}: {compared(messages)}")
    print(f"  called: {calls_of(made['run_id'], artifacts) if kinds else 'nobody'}")
    print(f"Agent: {messages[-1].text}")


def compared(messages: Sequence[BaseMessage]) -> str:
    """Which steps' pictures are new in the last document, and which were there before."""
    documents = [message.artifact for message in messages if isinstance(message, ToolMessage)]
    pictures = [
        {segment["number"]: segment["image"]["sha256"] for segment in one["segments"] if segment["kind"] == "image"}
        for one in documents
    ]
    before = {digest for one in pictures[:-1] for digest in one.values()}
    new = [str(number) for number, digest in pictures[-1].items() if digest not in before]
    kept = [str(number) for number, digest in pictures[-1].items() if digest in before]
    return f"drawn: {', '.join(new) or 'none'}; kept: {', '.join(kept) or 'none'}"


def calls_of(run_id: str, artifacts: ArtifactStore) -> str:
    """The calls of a run, as its ledger recorded them."""
    roles = Counter(record["role"] for record in artifacts.list_calls(run_id))
    return ", ".join(f"{role} {count}" for role, count in roles.items())


def bean() -> bytes:
    """A photo of a bean, more or less."""
    picture = Image.new("RGB", (320, 240), "#d9cdb8")
    ImageDraw.Draw(picture).ellipse((90, 80, 230, 160), fill="#6b3f2a")
    data = io.BytesIO()
    picture.save(data, "PNG")
    return data.getvalue()


if __name__ == "__main__":
    main()

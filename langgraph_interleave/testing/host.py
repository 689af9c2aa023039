"""A chat model of a few rules, to try an agent with `InterleaveMiddleware` where no key is set."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel, LanguageModelInput, ModelProfile
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import Runnable
from langchain_core.utils.function_calling import convert_to_openai_tool

from langgraph_interleave.agents.illustrator import CHANGE, CREATE, RESTORE

#: The line that says what there is in a conversation, which the middleware puts at the end.
_LINE = re.compile(r"\n*\((?:Pictures|Documents) here: .*\)\s*\Z", re.DOTALL)
_DOCUMENT = re.compile(r"\bdoc_\d+(?= \()")
_PICTURE = re.compile(r"\[(?:picture )?(img_\d+)[^\]]*\]")
_BACK = re.compile(r"\b(?:back|again|restore|return|undo)\b", re.IGNORECASE)
_VERSION = re.compile(r"\bversion\s+(\d+)\b", re.IGNORECASE)
_NEW = re.compile(r"(?:how (?:to|do)|show me how|draw|tell|illustrate|a |an |another document|new)\b", re.IGNORECASE)
_TALK = re.compile(r"(?:hi|hello|hey|good (?:morning|evening)|thanks?|thank you|ok(?:ay)?|great|bye)", re.IGNORECASE)
_HELP = (
    "I follow a few rules and understand nothing; set INTERLEAVE_AGENT_MODEL to talk to a model. Ask me how to do "
    "something, such as “How to plant a bean, in 3 steps”; then say what should be otherwise, or that you want "
    "version 1 again."
)


class RuleBasedChatModel(BaseChatModel):
    """A chat model that calls the document tools by rules: for demonstrations and tests, without a key.

    It makes a document of whatever it is asked first; what is said later changes the last document, unless it
    begins like a request of its own ("How to …", "Draw …"); "back to version 1" restores one; a greeting gets
    an answer. When a tool has answered it shows the document in Markdown, with its pictures where the store
    has links. It is no language model, and says so.

    Example:
        >>> from langchain.agents import create_agent
        >>> from langgraph_interleave.agents import InterleaveMiddleware
        >>> agent = create_agent(RuleBasedChatModel(), middleware=[InterleaveMiddleware(size="64x64")])
        >>> said = agent.invoke({"messages": [("user", "How to plant a bean, in 2 steps")]})["messages"]
        >>> [call["name"] for call in said[1].tool_calls]
        ['create_illustrated_document']
        >>> said[-1].text.splitlines()[0]
        '**How to plant a bean** (doc_1, version 1)'
    """

    @property
    def _llm_type(self) -> str:
        return "rules"

    def _resolve_model_profile(self) -> ModelProfile:
        return ModelProfile(text_inputs=True, image_inputs=False, text_outputs=True, tool_calling=True)

    def bind_tools(
        self, tools: Sequence[Any], *, tool_choice: str | None = None, **kwargs: Any
    ) -> Runnable[LanguageModelInput, AIMessage]:
        """As every chat model's; which of them is called is decided by their names."""
        return self.bind(tools=[convert_to_openai_tool(tool) for tool in tools], **kwargs)

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        tools = {tool["function"]["name"] for tool in kwargs.get("tools", ())}
        answered = _answered(messages)
        if answered:
            said = AIMessage("\n\n".join(map(_told, answered)))
        else:
            said = _decide(messages[-1], tools, len(messages))
        return ChatResult(generations=[ChatGeneration(message=said)])


def _told(answer: ToolMessage) -> str:
    artifact: Any = answer.artifact
    shows = isinstance(artifact, Mapping) and "segments" in artifact and artifact.get("changed") is not False
    if answer.status == "error" or not shows:
        return _LINE.sub("", answer.text)
    lines = [f"**{artifact['title']}** ({artifact['document']}, version {artifact['version']})"]
    for segment in artifact["segments"]:
        if segment["kind"] == "image":
            name = f"Picture {segment['number']}"
            url = segment["image"].get("url")
            lines.append(f"![{name}]({url})" if url else f"[{name}]")
        else:
            number = f"{segment['number']}. " if segment["kind"] == "caption" else ""
            lines.append(f"{number}{segment['text']}")
    return "\n\n".join(lines)


def _answered(messages: Sequence[BaseMessage]) -> list[ToolMessage]:
    """The answers of tools at the end of a conversation."""
    answers: list[ToolMessage] = []
    for message in reversed(messages):
        if not isinstance(message, ToolMessage):
            break
        answers.insert(0, message)
    return answers


def _decide(message: BaseMessage, tools: set[str], turn: int) -> AIMessage:
    if not isinstance(message, HumanMessage):  # nobody has said anything; the last may be the agent's own rules
        return AIMessage(_HELP)
    line = _LINE.search(message.text)
    documents = _DOCUMENT.findall(line[0]) if line else []
    said = _LINE.sub("", message.text)
    pictures = _PICTURE.findall(said)
    words = _PICTURE.sub("", said).strip()
    version = _VERSION.search(words)
    if (not words and not pictures) or _TALK.fullmatch(words.rstrip("!. ")):
        return AIMessage(_HELP)
    if documents and version and _BACK.search(words):
        name, args = RESTORE, {"document": documents[-1], "version": int(version[1])}
    elif documents and not _NEW.match(words):
        name, args = CHANGE, {"document": documents[-1], "request": words, "images": pictures}
    else:
        name, args = CREATE, {"request": words or "Go on from this picture.", "images": pictures}
    if name not in tools:
        return AIMessage(_HELP)
    return AIMessage("", tool_calls=[{"name": name, "args": args, "id": f"call_{turn}"}])

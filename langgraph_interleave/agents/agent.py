"""`create_interleave_agent`: messages in, messages out, fit for supervisors, swarms and chat interfaces."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Annotated, Any

from langchain_core.messages import AIMessage, AnyMessage
from langchain_core.runnables import Runnable, RunnableLambda
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import add_messages
from langgraph.graph.state import CompiledStateGraph
from pydantic import Field
from typing_extensions import TypedDict

from langgraph_interleave._sync import Node
from langgraph_interleave.artifacts import ArtifactStore
from langgraph_interleave.backends.base import ImageBackend
from langgraph_interleave.background import in_thread
from langgraph_interleave.chat.blocks import ImageForm, check_form
from langgraph_interleave.chat.conversation import stored_messages
from langgraph_interleave.chat.model import ChatInterleave
from langgraph_interleave.checks.base import Check
from langgraph_interleave.choose import choose_roles
from langgraph_interleave.context import InterleaveContext
from langgraph_interleave.critic import Critic
from langgraph_interleave.graph import wire
from langgraph_interleave.ledger import Ledger
from langgraph_interleave.limits import Limits
from langgraph_interleave.planner import Planner
from langgraph_interleave.references import References
from langgraph_interleave.types import Approve, Lookahead, OnExhausted, OnLimit, Plan, Publish


class IllustratorState(TypedDict):
    """What goes in, and what comes out with the answer added."""

    messages: Annotated[
        list[AnyMessage],
        Field(
            description="The conversation. The last human message is the request: words and pictures in order; "
            "the answer is one message of reasoning, text and image blocks."
        ),
        add_messages,
    ]


CompiledAgent = CompiledStateGraph[IllustratorState, InterleaveContext, IllustratorState, IllustratorState]


def create_interleave_agent(
    planner: Planner | Runnable[Any, Any] | Plan | Sequence[str] | str | None = None,
    backend: ImageBackend | Callable[..., Any] | Mapping[str, Any] | str | None = None,
    critic: Critic | Runnable[Any, Any] | str | None = None,
    *,
    images: ImageForm = "reference",
    limits: Limits | None = None,
    ceiling: Limits | None = None,
    artifacts: ArtifactStore | None = None,
    ledger: Ledger | None = None,
    checks: Sequence[Check | str] = ("not_blank",),
    on_exhausted: OnExhausted = "best",
    on_limit: OnLimit = "finish",
    approve: Collection[Approve] = (),
    draft: bool = False,
    lookahead: Lookahead | bool | None = None,
    second_usd: float | None = None,
    candidates: int = 1,
    early_start: bool | None = None,
    publish: Publish = "early",
    seed: int = 0,
    steps: int | None = None,
    size: str | None = None,
    language: str | None = None,
    style: str | None = None,
    references: References = "explicit",
    anchor_inputs: bool = False,
    reanchor_every: int | None = None,
    style_in_prompts: bool | None = None,
    checkpointer: Any = None,
    store: Any = None,
    name: str = "illustrator",
) -> CompiledAgent:
    """Make an agent that answers a conversation with an interleaved document.

    State is `messages` and nothing else. The last human message is the request, as for
    `ChatInterleave`; the answer is one AI message, whose blocks are streamed in order in
    `stream_mode="messages"`. Pictures that came as bytes are put into the store and replaced by
    references in the conversation; LangGraph shows its input to callbacks, and keeps one copy of it, as
    of any input.

    The graph is fit for `langgraph_supervisor.create_supervisor` and `langgraph_swarm.create_swarm`.
    Providers refuse pictures in an assistant's message, so let the team's other models read the
    conversation through `legible`. It hands over to nobody: in a swarm it stays the active agent until
    another is named, as in `swarm.invoke({"messages": […], "active_agent": "host"})`.

    Args:
        planner: As in `create_interleave_graph`, and so are the others that are not listed here.
        backend: As there.
        critic: As there.
        images: How pictures are delivered in the answer: `"reference"`, a function from `ArtifactRef`
            to URL, or `"base64"`; only the last puts bytes into the conversation and its checkpoints.
        checkpointer: A LangGraph checkpointer, for conversations and for resuming.
        store: A LangGraph store, passed on.
        name: Name of the agent, and of its messages.

    Returns:
        The compiled graph; per-run values go in as `context=InterleaveContext(…)`.

    Raises:
        ConfigError: A name is unknown, or a real backend comes without planner or critic.

    Example:
        >>> agent = create_interleave_agent(size="64x64")
        >>> result = agent.invoke({"messages": [("user", "How to plant a bean, in 2 steps")]})
        >>> [block["type"] for block in result["messages"][-1].content_blocks if block["type"] != "reasoning"]
        ['text', 'image', 'text', 'image']
    """
    check_form(images)
    roles = choose_roles(
        planner,
        backend,
        critic,
        limits=limits,
        ceiling=ceiling,
        artifacts=artifacts,
        ledger=ledger,
        checks=checks,
        on_exhausted=on_exhausted,
        on_limit=on_limit,
        approve=approve,
        draft=draft,
        lookahead=lookahead,
        second_usd=second_usd,
        candidates=candidates,
        early_start=early_start,
        publish=publish,
        seed=seed,
        steps=steps,
        size=size,
        language=language,
        style=style,
        references=references,
        anchor_inputs=anchor_inputs,
        reanchor_every=reanchor_every,
        style_in_prompts=style_in_prompts,
    )
    keeping = roles.artifacts
    inner = wire(roles).compile(name="interleave")

    async def receive(state: IllustratorState) -> dict[str, Any]:
        return {"messages": await in_thread(stored_messages, state["messages"], keeping)}

    # LangGraph finds the inner graph, for drawings and subgraph state, by the name these two mention.
    def illustrate(state: IllustratorState) -> dict[str, Any]:
        model = ChatInterleave(inner, artifacts=keeping, images=images)
        return _answered(model.invoke(state["messages"]), name)

    async def aillustrate(state: IllustratorState) -> dict[str, Any]:
        model = ChatInterleave(inner, artifacts=keeping, images=images)
        return _answered(await model.ainvoke(state["messages"]), name)

    graph: StateGraph[IllustratorState, InterleaveContext, IllustratorState, IllustratorState] = StateGraph(
        IllustratorState, context_schema=InterleaveContext
    )
    graph.add_node(
        "receive",
        Node(receive, name="receive"),
        metadata={"description": "puts the pictures of the conversation into the store"},
    )
    graph.add_node(
        "illustrate",
        RunnableLambda(illustrate, aillustrate, name="illustrate"),
        metadata={"description": "plans, draws, judges, and answers with the document"},
    )
    graph.add_edge(START, "receive")
    graph.add_edge("receive", "illustrate")
    graph.add_edge("illustrate", END)
    return graph.compile(checkpointer=checkpointer, store=store, name=name)


def _answered(answer: AIMessage, name: str) -> dict[str, Any]:
    return {"messages": [answer.model_copy(update={"name": name})]}

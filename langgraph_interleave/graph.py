"""The graph: its nodes and edges. Wiring only; `turns`, `nodes` and `reviews` say what they do, `routing` decides."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from langchain_core.runnables import Runnable
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph

from langgraph_interleave._sync import Node
from langgraph_interleave.artifacts import ArtifactStore
from langgraph_interleave.backends.base import ImageBackend
from langgraph_interleave.checks.base import Check
from langgraph_interleave.choose import choose_roles
from langgraph_interleave.context import InterleaveContext
from langgraph_interleave.critic import Critic
from langgraph_interleave.invocations import WatchedGraph
from langgraph_interleave.ledger import Ledger
from langgraph_interleave.limits import Limits
from langgraph_interleave.nodes import Nodes
from langgraph_interleave.planner import Planner
from langgraph_interleave.references import References
from langgraph_interleave.reviews import Reviews
from langgraph_interleave.roles import Roles
from langgraph_interleave.state import InterleaveInput, InterleaveOutput, InterleaveState
from langgraph_interleave.turns import Turns
from langgraph_interleave.types import Approve, Lookahead, OnExhausted, OnLimit, Plan, Publish
from langgraph_interleave.work import Work

Graph = StateGraph[InterleaveState, InterleaveContext, InterleaveInput, InterleaveOutput]
CompiledGraph = CompiledStateGraph[InterleaveState, InterleaveContext, InterleaveInput, InterleaveOutput]


def create_interleave_graph(
    planner: Planner | Runnable[Any, Any] | Plan | Sequence[str] | str | None = None,
    backend: ImageBackend | Callable[..., Any] | Mapping[str, Any] | str | None = None,
    critic: Critic | Runnable[Any, Any] | str | None = None,
    *,
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
    name: str = "interleave",
) -> CompiledGraph:
    """Give an image generator the ability to make a sequence: plan, draw, judge, draw again.

    Input is `{"request": ...}`: words, or a list of content blocks with image references made by
    `image_part`. With `{"base": document}` beside it the request says what is wanted otherwise in that
    document, and only what depends on the change is drawn again. Output is
    `{"document", "outcome", "spend"}`; `Document.load(result["document"], artifacts)` is the document as an
    object.

    Args:
        planner: Lays the sequence out; an object, a LangChain chat model, or a name. A `Plan`, or the prompts
            of its steps, where nothing is to be planned.
        backend: Draws; an object, a function `(prompt, references) -> picture`, a pipeline of diffusers,
            a function without arguments that makes one of these, a name, or several of these by the names
            a planner may choose from, each perhaps with what it is for:
            `{"photo": ("openai", "photographs"), "diagram": draw}`. Nothing at all means the simulator.
        critic: Judges; an object, a LangChain chat model, or a name; `"none"` accepts
            what no check objects to, and the document says so.
        limits: Caps on steps, attempts, images, calls and seconds.
        ceiling: Caps that no run's own `limits`, and nobody who is asked to raise one, may go above: for graphs
            whose callers choose their own. Only the caps that are set in it count.
        artifacts: Where pictures and records are kept; in memory by default.
        ledger: Record of every call; on `artifacts` by default. Give the same one to several graphs
            to share what is in flight.
        checks: Deterministic tests run before the critic.
        on_exhausted: What happens when no attempt was accepted: `best` or `last` is kept, a reviewer is
            asked (`ask`), the step is planned otherwise (`replan`), or the run fails (`fail`).
        on_limit: What happens when a run has reached `max_images`, `max_calls`, `max_seconds` or
            `max_cost_usd`: it ends with what is there (`finish`), or, once nothing is under way, somebody is
            asked whether to raise the limit (`ask`); `LimitReview` is what may be answered.
        approve: What a reviewer is asked about: `"plan"`, before anything is drawn; `"steps"`, each before
            it counts. The run stops at an `interrupt`, and goes on with `Command(resume=…)`; `PlanReview`
            and `StepReview` are what may be answered. Needs a checkpointer and a thread, as all asking does.
        draft: Sketch every step for nothing, and have the plan approved by the sketches.
        lookahead: Draw the next step on the bet that this one is accepted: `"always"` (or true), `"never"` (or
            false), or `"value"`, where what is won is worth what it may cost, by what was learned of accepts,
            seconds and prices. Default: by value where drawing costs nothing, else never.
        second_usd: What a second less of waiting is worth, in US dollars; `lookahead="value"` weighs it
            against what lost bets cost. Default: 0.002, about 7 dollars an hour.
        candidates: Pictures drawn for each attempt, 1 to 8, with one call where the backend can; each is
            judged, and the critic's best is taken.
        early_start: Draw the first steps while the plan is still being written. Default: as lookahead.
        publish: Captions while the picture is drawn (`early`) or once it was judged (`verified`).
        seed: Seed of a run; every attempt derives its own.
        steps: Number of steps, when it must be exact.
        size: Size of each picture, `WIDTHxHEIGHT` in pixels; the backend's own by default.
        language: Language of the captions; the request's own by default.
        style: The look all pictures share.
        references: What each step is drawn from: what the plan says (`explicit`), the picture before
            (`previous`), the first of its chain of edits with all changes since (`first`), everything
            there is (`all`), or also a sheet of the characters, drawn first (`sheet`). What a backend
            cannot take is left out from the end: of what the step builds on, anchored inputs, the
            sheet, further pictures, the nearest first.
        anchor_inputs: Give the pictures of the request to every step.
        reanchor_every: Draw every k-th edit of a chain from the picture the chain began with, with all
            changes since then, so that what is lost at each edit does not add up.
        style_in_prompts: Tell the style guide to the backend with every prompt. Default: yes, but
            not for the built-in world, whose prompts describe the whole picture.
        checkpointer: A LangGraph checkpointer, for several turns and for resuming.
        store: A LangGraph store, passed on.
        name: Name of the graph.

    Returns:
        The compiled graph. Every default here can be set per run by an `InterleaveContext`.

    Raises:
        ConfigError: A name is unknown, or a real backend comes without planner or critic.

    Example:
        >>> graph = create_interleave_graph()
        >>> result = graph.invoke({"request": "How to plant a bean, in 3 steps"})
        >>> result["outcome"]
        'complete'
    """
    graph = interleave_state_graph(
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
    return graph.compile(checkpointer=checkpointer, store=store, name=name)


def interleave_state_graph(
    planner: Planner | Runnable[Any, Any] | Plan | Sequence[str] | str | None = None,
    backend: ImageBackend | Callable[..., Any] | Mapping[str, Any] | str | None = None,
    critic: Critic | Runnable[Any, Any] | str | None = None,
    *,
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
) -> Graph:
    """The same graph, not compiled: to add nodes, or to compile it with options of your own.

    Args and errors are those of `create_interleave_graph`.

    Example:
        >>> " ".join(sorted(interleave_state_graph().nodes))
        'compose critique dispatch generate planner retry review_limit review_plan review_step'
    """
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
    return wire(roles)


def wire(roles: Roles) -> Graph:
    """Nodes and labelled edges over a set of roles."""
    work = Work(roles)
    turns, nodes, reviews = Turns(work), Nodes(work), Reviews(work)
    graph = WatchedGraph(
        InterleaveState,
        context_schema=InterleaveContext,
        input_schema=InterleaveInput,
        output_schema=InterleaveOutput,
    )
    graph.invocations = work.runs.invocations

    def add(name: str, says: str, destinations: dict[str, str] | None = None) -> None:
        home = next(home for home in (turns, nodes, reviews) if hasattr(home, name))
        node = Node(getattr(home, name), name=name)
        graph.add_node(name, node, metadata={"description": says}, destinations=destinations)

    add("planner", "lays the whole sequence out")
    add(
        "review_plan",
        "asks about the plan",
        {"dispatch": "accept", "planner": "ask again", "compose": "cancel"},
    )
    add(
        "dispatch",
        "sends out the steps that are ready",
        {
            "review_plan": "to be approved",
            "generate": "ready step",
            "review_step": "waiting",
            "review_limit": "at a limit",
            "planner": "replan",
            "compose": "all done",
        },
    )
    add("generate", "draws an attempt of a step", {"critique": "drawn", "dispatch": "failed"})
    add(
        "critique",
        "compares the picture with the instruction",
        {"dispatch": "accept, or exhausted", "retry": "revise"},
    )
    add("retry", "begins the next attempt", {"generate": "refined prompt"})
    add(
        "review_step",
        "asks about a step",
        {"dispatch": "accept, replace or skip", "critique": "remark", "retry": "another attempt"},
    )
    add(
        "review_limit",
        "asks whether to raise a limit",
        {"dispatch": "raise, or finish", "critique": "not judged yet", "retry": "another attempt"},
    )
    add("compose", "puts the document together")
    graph.add_edge(START, "planner")
    # No conditional edge: an invocation that is cancelled while it is decided leaves a planner without a successor.
    graph.add_edge("planner", "dispatch")
    graph.add_edge("compose", END)
    return graph

"""The options of a graph, for what makes one of its own: those of `create_interleave_graph`, under the same names."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from langchain_core.runnables import Runnable
from typing_extensions import TypedDict

from langgraph_interleave.artifacts import ArtifactStore
from langgraph_interleave.backends.base import ImageBackend
from langgraph_interleave.chat.making import make_graph
from langgraph_interleave.checks.base import Check
from langgraph_interleave.critic import Critic
from langgraph_interleave.errors import ConfigError
from langgraph_interleave.ledger import Ledger
from langgraph_interleave.limits import Limits
from langgraph_interleave.planner import Planner
from langgraph_interleave.references import References
from langgraph_interleave.types import Approve, Lookahead, OnExhausted, OnLimit, Plan, Publish


class GraphOptions(TypedDict, total=False):
    """What `create_interleave_graph` says of each."""

    planner: Planner | Runnable[Any, Any] | Plan | Sequence[str] | str | None
    backend: ImageBackend | Callable[..., Any] | Mapping[str, Any] | str | None
    critic: Critic | Runnable[Any, Any] | str | None
    limits: Limits | None
    ceiling: Limits | None
    ledger: Ledger | None
    checks: Sequence[Check | str]
    on_exhausted: OnExhausted
    on_limit: OnLimit
    approve: Collection[Approve]
    draft: bool
    lookahead: Lookahead | bool | None
    second_usd: float | None
    candidates: int
    early_start: bool | None
    publish: Publish
    seed: int
    steps: int | None
    size: str | None
    language: str | None
    style: str | None
    references: References
    anchor_inputs: bool
    reanchor_every: int | None
    style_in_prompts: bool | None


def graph_of(graph: Any, artifacts: ArtifactStore | None, options: GraphOptions) -> tuple[Any, ArtifactStore]:
    """The graph that was given, or one made of options; and its store.

    Raises:
        ConfigError: A graph came with options, or without its store; or an option is unknown or not valid.
    """
    check_options(options)
    if graph is None:
        made = make_graph(artifacts, dict(options))
        return made.graph, made.artifacts
    if options:
        raise ConfigError(
            f"A graph was given together with {', '.join(sorted(options))}.",
            remedy="Those belong to create_interleave_graph(…): give the graph, or its options.",
        )
    if artifacts is None:
        raise ConfigError(
            "The graph was given without its artifact store.",
            remedy="Pass artifacts=…, the same store as create_interleave_graph(artifacts=…).",
        )
    return graph, artifacts


def check_options(given: Mapping[str, Any]) -> None:
    """Refuse what is no option.

    Raises:
        ConfigError: Naming it, and the option that may have been meant.
    """
    known = GraphOptions.__annotations__
    for name in given:
        if name not in known:
            close = difflib.get_close_matches(name, known, n=2)
            meant = f"Did you mean {' or '.join(close)}? " if close else ""
            raise ConfigError(f"There is no option {name!r}.", remedy=f"{meant}Options: {', '.join(known)}.")

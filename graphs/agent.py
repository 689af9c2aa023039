"""An agent for `langgraph dev` and LangGraph servers that makes, changes and restores documents as you talk.

The model is the one that `INTERLEAVE_AGENT_MODEL` names (`provider:model`, of a LangChain package that is
installed, with its key set). Without it a few rules take its place, so that everything can be tried without
a key. What draws is the same in both cases: sketches by code, until you pass `planner`, `backend` and `critic`.

The middleware registers the transformers of LangGraph's v3 stream; the other graphs name them in their module.
A server brings its own checkpointer and store. Per-run values (seed, steps, size, limits) are in
the run's context.
"""

from __future__ import annotations

import os

from langchain.agents import create_agent
from langchain.chat_models import init_chat_model

from langgraph_interleave import InterleaveContext
from langgraph_interleave.agents import InterleaveMiddleware
from langgraph_interleave.serving import server_artifacts
from langgraph_interleave.testing import RuleBasedChatModel

named = os.environ.get("INTERLEAVE_AGENT_MODEL", "").strip()
model = init_chat_model(named) if named else RuleBasedChatModel()

graph = create_agent(
    model,
    system_prompt="You help people with illustrated documents. Make one when they ask how something is done or want "
    "a story or a lesson; change it when they want it otherwise. The reader is shown the document: do not repeat it.",
    middleware=[InterleaveMiddleware(artifacts=server_artifacts())],
    context_schema=InterleaveContext,
    name="agent",
)

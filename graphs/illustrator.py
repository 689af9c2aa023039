"""The chat agent for `langgraph dev` and LangGraph servers: `messages` in and out, no key, no GPU.

Pictures are delivered as links that this server answers (`graphs/app.py`): Studio and chat interfaces show
them, A2A clients get file parts with a `uri`, and neither the conversation nor any checkpoint of it holds
their bytes. Links end after a while (7 days, unless `INTERLEAVE_LINK_DAYS` says otherwise), and lead
to where the server says it is reached (`INTERLEAVE_PUBLIC_URL`). For readers who cannot reach the
server at all, pass `images="base64"`: the bytes are then in the answer, and in every checkpoint of it.

A server brings its own checkpointer and store. Per-run values (seed, steps, size, limits) are in
the run's context.
"""

from __future__ import annotations

from langgraph_interleave.agents import create_interleave_agent
from langgraph_interleave.serving import server_artifacts
from langgraph_interleave.transformer import stream_transformers as stream_transformers

graph = create_interleave_agent(images=server_artifacts().link, artifacts=server_artifacts())

"""The graph for `langgraph dev` and LangGraph servers: no key, no GPU, sketches drawn by code.

A server brings its own checkpointer and store. Per-run values (seed, steps, size, limits) are in
the run's context. For a model of your own, copy this file and pass `planner`, `backend`, `critic`.
"""

from __future__ import annotations

from langgraph_interleave import create_interleave_graph
from langgraph_interleave.serving import server_artifacts
from langgraph_interleave.transformer import stream_transformers as stream_transformers

graph = create_interleave_graph(artifacts=server_artifacts())

"""The chat agent for `langgraph dev` and LangGraph servers: `messages` in and out, no key, no GPU.

Pictures are delivered as base64, because whoever reads the answer over A2A or in a chat interface
cannot reach this process's artifact store: A2A turns these blocks into file parts with bytes, and
references into addresses nobody can fetch. The price is that the conversation, and with it every
checkpoint of it, holds the bytes. Where pictures are served under an address of their own, pass
`images=lambda ref: f"https://pictures.example.org/{ref.sha256}"` and an `ArtifactStore` on a shared
folder or bucket instead.

A server brings its own checkpointer and store. Per-run values (seed, steps, size, limits) are in
the run's context.
"""

from __future__ import annotations

from langgraph_interleave.agents import create_interleave_agent

graph = create_interleave_agent(images="base64")

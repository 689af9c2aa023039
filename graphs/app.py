"""What the LangGraph server answers besides its own routes: links to pictures, `/artifacts/<digest>`."""

from __future__ import annotations

from langgraph_interleave.serving import create_app, server_artifacts, server_links

app = create_app(server_artifacts(), server_links())

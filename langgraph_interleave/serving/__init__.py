"""Pictures behind an address: signed links, and the small web app that answers them beside a LangGraph server."""

from langgraph_interleave.serving.app import create_app as create_app
from langgraph_interleave.serving.links import Links as Links
from langgraph_interleave.serving.place import server_artifacts as server_artifacts
from langgraph_interleave.serving.place import server_links as server_links

__all__ = ["Links", "create_app", "server_artifacts", "server_links"]

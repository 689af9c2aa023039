"""`python -m langgraph_interleave.cli`."""

from langgraph_interleave.cli import main

main()

"""`python -m langgraph_interleave`: the command line."""

from langgraph_interleave.cli import main

if __name__ == "__main__":
    main()

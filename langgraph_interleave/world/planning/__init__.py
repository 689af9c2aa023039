"""From a request to an outline: what the scene planner does before it writes steps."""

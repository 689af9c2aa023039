"""Image backends: what draws. Each lives in a module of its own and is imported when it is asked for."""

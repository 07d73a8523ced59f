"""A look at a graph before anything is fitted for good: what it is like, and advice."""

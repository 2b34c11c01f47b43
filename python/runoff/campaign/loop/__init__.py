"""Taking samples: the loop, what stops it, and what is told meanwhile."""

"""Historic results as data: their sources, how they were printed, what follows from them, and the same today."""

"""Historic results as data: where they came from, how they were printed, what follows from them, and the same today."""

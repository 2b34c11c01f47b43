"""With what the samples of a campaign were taken, and what of it may differ."""

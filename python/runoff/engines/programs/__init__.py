"""Programs that attach a scheduler: where they are found, built, and which options their modes have."""

"""What reports say: sentences, warnings, numbers, and rows of finished text. Figures and views are built of these."""

"""The views of a gate: terminal, Markdown, JSON and JUnit."""

"""The views of a gate: terminal, Markdown, JSON and the XML that JUnit writes."""

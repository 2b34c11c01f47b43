"""Texts as they were last looked at.

After an intended change run with RUNOFF_UPDATE_GOLDEN=1, read the difference in version control, and commit it with
the change.
"""

import os
import textwrap
from collections.abc import Mapping
from pathlib import Path

GOLDEN = Path(__file__).parent / "golden"


def assert_approved(name: str, seen: str) -> None:
    """Compare a text with the one that is kept under ``name`` in tests/golden."""
    path = GOLDEN / name
    if os.environ.get("RUNOFF_UPDATE_GOLDEN"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(seen, encoding="utf-8")
    assert seen == path.read_text(encoding="utf-8")


def list_cases(texts: Mapping[str, str]) -> str:
    """Return sentences with the case of each above it, one paragraph each."""
    parts = []
    for case, text in texts.items():
        lines = [textwrap.fill(line, 96, break_long_words=False, break_on_hyphens=False) for line in text.splitlines()]
        parts.append(f"# {case}\n" + "\n".join(lines) + "\n")
    return "\n".join(parts)

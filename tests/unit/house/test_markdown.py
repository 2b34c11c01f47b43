"""Pages are wrapped, so that a change of a sentence is a change of a line or two."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from checkout import ROOT

WIDTH = 100
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("bench/*.md")])


def read_prose(page: Path) -> Iterator[tuple[int, str]]:
    """Lines that are not code, a table, HTML or the target of a link."""
    is_code = False
    for number, line in enumerate(page.read_text().splitlines(), start=1):
        if line.lstrip().startswith("```"):
            is_code = not is_code
        elif not is_code and not line.startswith("    ") and not line.lstrip().startswith(("|", "<", "[")):
            yield number, line


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_prose_is_wrapped(page: Path) -> None:
    assert [f"{number}: {line}" for number, line in read_prose(page) if len(line) > WIDTH and " " in line.strip()] == []

"""The page of published results shows what the program prints."""

import re

import pytest
from checkout import ROOT

from runoff.published import catalogue
from runoff.published.audit import Status, audit, text

PAGE = (ROOT / "docs/published.md").read_text()
BLOCKS = dict(re.findall(r"```\n\$ runoff published check (\S+)\n(.*?)```", PAGE, re.DOTALL))
WIDTH = 100


@pytest.mark.parametrize("name", catalogue.list_names())
def test_what_is_shown_is_what_is_printed(name: str) -> None:
    """``...`` stands for lines that are left out."""
    report = catalogue.find(name)[0]
    printed = text.render(report, audit(report), WIDTH)
    pieces = [piece.strip("\n") for piece in f"\n{BLOCKS[name]}".split("\n...\n")]
    at = 0
    for piece in pieces:
        found = printed.find(piece, at)
        assert found >= 0, f"not printed: {piece[:200]}"
        at = found + len(piece)
    assert printed.startswith(pieces[0])
    assert all(heading in BLOCKS[name] for heading in re.findall(r"^[A-Z ]+ \(\d+\)$", printed, re.MULTILINE))


@pytest.mark.parametrize("name", catalogue.list_names())
def test_the_table_counts_what_is_found(name: str) -> None:
    report = catalogue.find(name)[0]
    totals = text.count_statuses(audit(report))
    (cells,) = re.findall(rf"^\| \[`{name}`\].*?\|.*?\| (.*) \|$", PAGE, re.MULTILINE)
    order = (Status.FOLLOWS, Status.ONLY_IF, Status.UNCHECKED, Status.FAILS)
    assert [int(cell) for cell in cells.split(" | ")] == [len(report.tables), *(totals[status] for status in order)]

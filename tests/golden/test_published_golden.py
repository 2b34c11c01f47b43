"""Published tables come out as they were printed, cell for cell.

The files are the tables' own text. Where a table had reached us as a web page or slide, the space between its cells was
lost, so cells are compared; tables of mails are compared with all their space.
"""

import re
from pathlib import Path

import pytest

from runoff.published import layouts
from runoff.published.catalogue import find

GOLDEN = Path(__file__).parent / "published"
CONTEST = Path(__file__).parents[1] / "published" / "contest-2003.txt"


def shown(name: str) -> str:
    return layouts.render_report(find(name)[0])


def cells(text: str) -> list[list[str]]:
    return [line.split() for line in text.splitlines() if line.strip()]


def test_contest_comes_out_with_all_its_space() -> None:
    printed = CONTEST.read_text()
    assert len(re.findall(r"^2\.5\.63", printed, re.MULTILINE)) == 44
    assert shown("contest-iosched-2003").endswith(f"\n\n{printed}")


def test_zaphods_table_comes_out_with_all_its_space() -> None:
    assert shown("zaphod-2004").endswith("\n\n" + (GOLDEN / "zaphod-2004.txt").read_text())


@pytest.mark.parametrize(("name", "rows"), [("counters-2009", 42), ("graysky-2012", 118)])
def test_cells_come_out_as_printed(name: str, rows: int) -> None:
    """Line by line and in order; ours has lines of its own in between, and breaks captions that are too wide."""
    printed = cells((GOLDEN / f"{name}.txt").read_text())
    assert len(printed) == rows
    ours = cells(shown(name))
    flowing = " ".join(word for line in ours for word in line)
    left = iter(ours)
    missing = [
        line
        for line in printed
        if (" ".join(line) not in flowing if line[:3] == ["Oneway", "Analysis", "of"] else line not in left)
    ]
    assert not missing


def test_all_quantile_rows_are_there() -> None:
    report = find("graysky-2012")[0]
    assert sum(len(table.rows) for table in report.of_kind("quantiles")) == 42


@pytest.mark.parametrize(
    "name", ["contest-iosched-2003", "zaphod-2004", "counters-2009", "render-2012", "graysky-2012"]
)
def test_no_line_is_wider_than_a_terminal(name: str) -> None:
    assert max(map(len, shown(name).splitlines())) <= 80

"""The page that follows a sample through the sources names files and functions that there are."""

import re

import pytest
from checkout import ROOT

ROWS = re.findall(r"^\| (\w+) \|.*\| (.+) \|$", (ROOT / "docs/sample.md").read_text(), re.MULTILINE)[1:]


@pytest.mark.parametrize(("step", "where"), ROWS, ids=[step for step, _ in ROWS])
def test_each_step_is_where_the_page_says(step: str, where: str) -> None:
    named = re.findall(r"`([^`]+)`", where)
    places = [next((top / name for top in (ROOT / "python/runoff", ROOT / "crates") if (top / name).exists()), None)
              for name in named if "/" in name]  # fmt: skip
    assert places
    assert None not in places
    sources = "".join(place.read_text() for place in places if place is not None and place.is_file())
    for name in named:
        for part in name.split(".") if "/" not in name else ():
            assert re.search(rf"\b(class|def|fn) {part}\b", sources), name


def test_it_has_every_step() -> None:
    assert len(ROWS) == 18

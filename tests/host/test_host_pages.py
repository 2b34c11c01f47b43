"""Screens of pages that need root and sched_ext are what the commands print here; figures of counters may differ."""

import os
import re
from collections.abc import Iterator

import pytest
from checkout import ROOT
from command import start
from in_charge import attach
from modules import insert
from waiting import LIMIT_S

pytestmark = [pytest.mark.host, pytest.mark.sched_ext]

DOCS = ROOT / "docs"
SCREEN = re.compile(r"^\$ sudo \.venv/bin/runoff (?P<words>.+)\n(?P<shown>(?:(?!\$ |```).*\n)*)", re.MULTILINE)
COUNTER = re.compile(r" +\d+(?=  |$)", re.MULTILINE)
"""A cell of a table; its width is that of its figure."""


def screens(page: str) -> Iterator[tuple[list[str], str]]:
    """The words of each command, and what the page shows below it."""
    found = list(SCREEN.finditer((DOCS / page).read_text()))
    assert found, page
    for each in found:
        yield each["words"].split(), each["shown"].strip("\n")


def printed(words: list[str]) -> str:
    process = start(*words, env={**os.environ, "NO_COLOR": "1", "COLUMNS": "80"})
    out, err = process.communicate(timeout=LIMIT_S)
    # A table fills its last column.
    return "\n".join(line.rstrip() for line in (out + err).strip("\n").splitlines())


def test_all_pages_with_such_screens_are_looked_at() -> None:
    assert {page.name for page in DOCS.rglob("*.md") if SCREEN.search(page.read_text())} == {"control.md", "disk.md"}


def test_control() -> None:
    process = attach("bfs")
    for words, shown in screens("control.md"):
        now = printed(words)
        if words[0] == "stats":
            now, shown = (COUNTER.sub(" 0", text) for text in (now, shown))
        assert now == shown, words
    process.terminate()
    process.communicate(timeout=LIMIT_S)


def test_disk() -> None:
    insert("ublk_drv")
    (words, shown), *others = screens("elevators/disk.md")
    assert others == []
    try:
        assert printed(words) == shown
    finally:
        removed = printed(["disk", "remove", "/dev/ublkb0"])
    assert removed.startswith("removed /dev/ublkb0"), removed

"""The table has an answer for each door and promise, its tests exist, and the page is printed of it."""

import ast
from collections import Counter
from functools import cache

import pytest
from checkout import ROOT
from doors import DOORS, find_door, list_commands, list_written
from page import PAGE, render
from promise import Promise
from table import PROMISES

PAGES = ROOT / "docs"


@cache
def list_tests(path: str) -> frozenset[str]:
    tree = ast.parse((ROOT / "tests" / path).read_text(encoding="utf-8"))
    return frozenset(each.name for each in ast.walk(tree) if isinstance(each, ast.FunctionDef))


@pytest.mark.parametrize("promise", PROMISES, ids=lambda promise: promise.title)
def test_each_door_has_tests_or_one_reason(promise: Promise) -> None:
    held = {door for doors in promise.held.values() for door in doors}
    apart = Counter(door for doors in promise.apart.values() for door in doors)
    assert held | apart.keys() == set(DOORS)
    assert not held & apart.keys()
    assert set(apart.values()) <= {1}


@pytest.mark.parametrize("promise", PROMISES, ids=lambda promise: promise.title)
def test_tests_and_pages_are_there(promise: Promise) -> None:
    for test in promise.held:
        path, _, name = test.partition("::")
        assert name in list_tests(path), test
    page, _, heading = promise.page.partition("#")
    text = (PAGES / page).read_text(encoding="utf-8")
    headings = {
        line.lstrip("# ").lower().replace(" ", "-").replace(",", "")
        for line in text.splitlines()
        if line.startswith("#")
    }
    assert heading in headings


def test_every_command_is_behind_a_door() -> None:
    assert {"compare", "noise", "noise list", "cache prune"} <= list_commands().keys()
    assert [command for command in list_commands() if find_door(command) is None] == []


def test_every_option_that_writes_a_file_is_a_door() -> None:
    assert {"report --csv", "gate --junit"} <= set(list_written())
    assert [each for each in list_written() if each not in DOORS] == []


def test_the_page_is_printed_of_the_table() -> None:
    """RUNOFF_UPDATE_PROMISES=1 prints it anew."""
    assert PAGE.read_text(encoding="utf-8") == render()

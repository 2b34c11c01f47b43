"""The table has an answer for each door and promise, its tests exist, and the page is printed of it."""

import ast
from collections import Counter
from functools import cache
from importlib import import_module
from inspect import isfunction, signature

import pytest
from checkout import ROOT
from doors import DOORS, find_door, list_commands, list_written
from page import PAGE, render
from promise import CALLS, Promise
from table import PROMISES

import runoff as library

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


def list_tried(test: str) -> frozenset[str] | None:
    """The doors that a test of this folder has as its parameters."""
    folder, _, rest = test.partition("/")
    path, _, name = rest.partition("::")
    if folder != "promises":
        return None
    marks = getattr(getattr(import_module(path.removesuffix(".py")), name), "pytestmark", ())
    return next((frozenset(mark.args[1]) for mark in marks if mark.args[:1] == ("door",)), None)


def test_a_test_is_named_for_the_doors_that_it_tries() -> None:
    held = [(test, frozenset(doors)) for promise in PROMISES for test, doors in promise.held.items()]
    checked = [(doors, tried) for test, doors in held if (tried := list_tried(test)) is not None]
    assert len(checked) > 5
    assert [(doors ^ tried) for doors, tried in checked if doors != tried] == []


def test_every_command_is_behind_a_door() -> None:
    assert {"compare", "noise", "noise list", "cache prune"} <= list_commands().keys()
    assert [command for command in list_commands() if find_door(command) is None] == []


def test_every_option_that_writes_a_file_is_a_door() -> None:
    assert {"report --csv", "gate --junit"} <= set(list_written())
    assert [each for each in list_written() if each not in DOORS] == []


def test_every_function_of_the_library_that_is_given_a_directory_is_a_door() -> None:
    given = [name for name, of in vars(library).items() if isfunction(of) and "directory" in signature(of).parameters]
    assert sorted(f"library {name}" for name in given) == sorted(CALLS)


def test_the_page_is_printed_of_the_table() -> None:
    """``PYTHONPATH=tests python tests/promises/page.py`` prints it anew."""
    assert PAGE.read_text(encoding="utf-8") == render()

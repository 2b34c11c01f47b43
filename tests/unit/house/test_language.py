"""The rules of plain English that a program can check."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from checkout import ROOT

NOT_VERBS = frozenset(
    {
        "ahead", "apart", "at", "beside", "borrowed", "cached", "current", "enough", "hardest", "held", "here",
        "installed", "joined", "judged", "kept", "known", "listed", "located", "locked", "longer", "made",
        "measured", "most", "named", "needed", "now", "of", "once", "ran", "reconciled", "remaining", "same",
        "separated", "shorter", "single", "sized", "standardised", "stored", "together", "told", "unseen",
        "usual_clock", "wide", "within", "without",
    }
)  # fmt: skip
"""Names that do not say whether a function tests, builds, changes or returns."""

NO_OPENING = re.compile(r"(Of |Those |And |The same\b|Likewise\b|That of |As (it|they|in|read)\b|By its |Its |It, )")
"""Openings of a docstring that need the line above to be understood."""

IS_NO = re.compile(r"(?<!there )\b(is|are) no (?!longer\b|more\b)")


def sources(*folders: str) -> Iterator[tuple[Path, ast.Module]]:
    for folder in folders:
        for path in sorted((ROOT / folder).rglob("*.py")):
            yield path.relative_to(ROOT), ast.parse(path.read_text())


def functions(tree: ast.Module) -> Iterator[ast.FunctionDef]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))


def test_functions_are_called_by_verbs():
    found = [
        f"{path}:{function.lineno}: {function.name}"
        for path, tree in sources("python", "bench")
        for function in functions(tree)
        if function.name.lstrip("_") in NOT_VERBS
    ]
    assert not found


def test_docstrings_stand_alone():
    """Those of functions and classes, and those below an attribute or a constant."""
    found = [
        f"{path}:{node.lineno}: {text.splitlines()[0]}"
        for path, tree in sources("python", "bench")
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if isinstance(text := node.value.value, str) and NO_OPENING.match(text)
    ]
    assert not found


def test_messages_say_is_not_a():
    """In strings that are not docstrings."""
    found = []
    for path, tree in sources("python"):
        docs = {
            id(node.value)
            for node in ast.walk(tree)
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        }
        found += [
            f"{path}:{node.lineno}: {node.value}"
            for node in ast.walk(tree)
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docs
            if IS_NO.search(node.value)
        ]
    assert not found

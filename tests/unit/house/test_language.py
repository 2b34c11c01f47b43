"""The rules of plain English that a program can check."""

import ast
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
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

DIALECT = {
    "whoever, whom": re.compile(r"\bwho(ever|m|mever)\b", re.IGNORECASE),
    "shall": re.compile(r"\bshall\b", re.IGNORECASE),
    "so many, without that": re.compile(
        r"\bso (many|much|few)\b(?! other)(?!(?:\s+[\w']+){0,4}\s+that\b)", re.IGNORECASE
    ),
    "is no": re.compile(
        r"(?<!there )(?<!re )\b(is|are|was|were) no (?!(longer|more|worse|further|steadier|slower|better|one)\b)",
        re.IGNORECASE,
    ),
}
"""Turns of phrase that plain English has other words for; a pattern holds for words that nobody thought of."""

COMMENT = re.compile(r"\s*(?:///|//!|//|/\*\*?)\s?(.*)")
"""The first line of a comment of Rust or C, or one behind it in Rust."""


def sources(*folders: str) -> Iterator[tuple[Path, ast.Module]]:
    for folder in folders:
        for path in sorted((ROOT / folder).rglob("*.py")):
            yield path.relative_to(ROOT), ast.parse(path.read_text())


def prose(*suffixes: str) -> Iterator[tuple[Path, str]]:
    """Files that are written by hand, but for this one."""
    listing = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in listing.split("\0"):
        path = Path(name)
        is_ours = path.suffix in suffixes and not name.startswith(("tests/data", "docs/campaigns", "docs/promises"))
        if is_ours and (ROOT / path) != Path(__file__).resolve() and (ROOT / path).is_file():
            yield path, (ROOT / path).read_text()


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


def test_variables_say_what_they_hold():
    """Participles do not: `told` was one of the verdict, of a list of lines and of a table."""
    found = [
        f"{path}:{node.lineno}: {name}"
        for path, tree in sources("python")
        for node in ast.walk(tree)
        if (name := node.id if isinstance(node, ast.Name) else node.arg if isinstance(node, ast.arg) else "") == "told"
    ]
    assert not found


def test_docstrings_stand_alone():
    """Docstrings of functions and classes, and those below an attribute or a constant."""
    found = [
        f"{path}:{node.lineno}: {text.splitlines()[0]}"
        for path, tree in sources("python", "bench", "tests", "tools")
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if isinstance(text := node.value.value, str) and NO_OPENING.match(text)
    ]
    assert not found


def test_comments_of_rust_and_c_stand_alone():
    found = []
    for path, text in prose(".rs", ".c", ".h"):
        before = ""
        for number, line in enumerate(text.splitlines(), start=1):
            comment = COMMENT.match(line)
            if comment and not COMMENT.match(before) and NO_OPENING.match(comment[1]):
                found.append(f"{path}:{number}: {line.strip()}")
            before = line
    assert not found


@pytest.mark.parametrize("phrase", DIALECT)
def test_no_dialect(phrase: str):
    """In code, comments, messages, tests and pages."""
    found = [
        f"{path}:{text.count(chr(10), 0, match.start()) + 1}: {' '.join(match[0].split())}"
        for path, text in prose(".py", ".rs", ".c", ".h", ".md")
        for match in DIALECT[phrase].finditer(text)
    ]
    assert not found

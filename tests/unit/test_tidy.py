"""The house rules that a program can check."""

import ast
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "python" / "runoff"
MOST_LINES = 600
GENERATED = {"Cargo.lock", "requirements.lock", "LICENSE"}
DATA_SUFFIXES = {".json", ".txt", ".csv", ".html", ".svg", ".tsv"}

FORBIDDEN = {
    "the host of a package archive": r"(debian|ubuntu|pypi|pythonhosted|crates|rustup)\.(org|com|io|rs)\b",
    "a path of one machine": r"(?<![\w.\"'])/(work|root|home/\w+)/\w+",
    "unfinished work": r"\b(TO" r"DO|FIX" r"ME|XX" r"X)\b",
}

ALLOWED: dict[str, set[str]] = {
    "errors": set(),
    "results": set(),
    "text": {"errors"},
    "statistics": {"results", "errors"},
    "report": {"results", "statistics", "errors", "text", "request_log"},
    "request_log": {"errors"},
    "workloads": {"errors", "results", "text"},
    "parameters": {"errors", "text"},
    "elevators": {"errors", "results", "text", "parameters"},
    "arms": {"errors", "text", "parameters", "elevators", "engines.agent"},
    "probes": {"errors", "results", "text"},
}
"""What each part of the package may import of it; parts not named here may import anything but the command line."""


def tracked() -> list[Path]:
    listing = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return [ROOT / name for name in listing.stdout.splitlines() if (ROOT / name).is_file()]


def texts() -> Iterator[tuple[Path, str]]:
    for path in tracked():
        try:
            yield path.relative_to(ROOT), path.read_text()
        except UnicodeDecodeError:
            continue


def test_no_file_is_too_long_to_read():
    long = {
        str(path): text.count("\n")
        for path, text in texts()
        if path.name not in GENERATED and path.suffix not in DATA_SUFFIXES and text.count("\n") > MOST_LINES
    }
    assert not long


@pytest.mark.parametrize("what", FORBIDDEN)
def test_nothing_forbidden_is_written_anywhere(what):
    pattern = re.compile(FORBIDDEN[what])
    found = [
        f"{path}:{number}: {line.strip()}"
        for path, text in texts()
        if path.name not in GENERATED and path != Path(__file__).relative_to(ROOT)
        for number, line in enumerate(text.splitlines(), start=1)
        if pattern.search(line)
    ]
    assert not found, f"{what}: {found}"


def test_bpf_sources_state_their_licence():
    sources = [path for path in tracked() if path.name.endswith((".bpf.c", ".bpf.h")) or path.parent.name == "include"]
    bare = [str(path) for path in sources if not path.read_text().startswith("/* SPDX-License-Identifier: GPL-2.0")]
    assert not bare


def links(page: Path) -> set[Path]:
    targets = re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", page.read_text())
    return {(page.parent / target).resolve() for target in targets if "://" not in target}


def test_every_page_can_be_reached():
    reached: set[Path] = set()
    waiting = [ROOT / "README.md", ROOT / "docs/README.md"]
    while waiting:
        page = waiting.pop()
        if page.suffix == ".md" and page.is_file() and page not in reached:
            reached.add(page)
            waiting.extend(links(page))
    lost = {str(page.relative_to(ROOT)) for page in (ROOT / "docs").rglob("*.md") if page not in reached}
    assert not lost


def test_links_between_pages_lead_somewhere():
    pages = [path for path in tracked() if path.suffix == ".md"]
    dangling = [f"{page.name} -> {target}" for page in pages for target in links(page) if not target.exists()]
    assert not dangling


def part_of(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imports(path: Path) -> Iterator[str]:
    """Parts of runoff that a module imports, as dotted names below the package."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (name.name.removeprefix("runoff.") for name in node.names if name.name.startswith("runoff."))
        elif isinstance(node, ast.ImportFrom) and node.module == "runoff":
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("runoff."):
            yield (node.module or "").removeprefix("runoff.")


def crossings() -> Iterator[tuple[Path, str, str]]:
    for path in sorted(PACKAGE.rglob("*.py")):
        own = part_of(path)
        yield from ((path, own, target) for target in imports(path) if target.split(".")[0] not in (own, "__version__"))


def test_nothing_but_the_entry_point_imports_the_command_line():
    assert not [f"{path.name} imports {target}" for path, _, target in crossings() if target.split(".")[0] == "cli"]


def test_imports_follow_the_data():
    wrong = [
        f"{path.relative_to(PACKAGE)} imports {target}"
        for path, own, target in crossings()
        if own in ALLOWED and target.split(".")[0] not in ALLOWED[own] and target not in ALLOWED[own]
    ]
    assert not wrong


@pytest.mark.parametrize(
    ("upstream", "downstream"),
    [
        ("plan", "engines"),
        ("plan", "campaign"),
        ("engines", "report"),
        ("engines", "statistics"),
        ("campaign", "report"),
    ],
)
def test_upstream_does_not_know_downstream(upstream, downstream):
    wrong = [str(path) for path, own, target in crossings() if own == upstream and target.split(".")[0] == downstream]
    assert not wrong


def test_no_two_test_files_have_one_name() -> None:
    """pytest imports them by it, and finds out only when it collects both."""
    names = [path.name for path in (ROOT / "tests").rglob("test_*.py")]
    assert sorted(names) == sorted(set(names))

"""The house rules that a program can check."""

import ast
import re
import subprocess
from collections.abc import Collection, Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from statistics import median

import pytest
from checkout import ROOT

from runoff.engine_kinds import ENGINES

PACKAGE = ROOT / "python" / "runoff"
MOST_LINES = 600
MOST_LINES_OF_CODE = 400
CODE = (".py", ".rs", ".c", ".h")
MEDIAN_OF_RUST = 120
GENERATED = {"Cargo.lock", "requirements.lock", "requirements-dev.lock", "requirements-release.lock", "LICENSE"}
DATA_SUFFIXES = {".json", ".txt", ".csv", ".html", ".svg", ".tsv"}

FORBIDDEN = {
    "the host of a package archive": r"(debian|ubuntu|pypi|pythonhosted|crates|rustup)\.(org|com|io|rs)\b",
    "a path of one machine": r"(?<![\w.\"'])/(work|root|home/\w+)/\w+",
    "unfinished work": r"\b(TO" r"DO|FIX" r"ME|XX" r"X)\b",
}

GROUND = {
    "arm_text", "engine_kinds", "errors", "text", "files", "installed", "ownership", "reading", "separated", "units",
    "validation", "version",
}  # fmt: skip
"""Modules outside any room, which all rooms may use."""

ALLOWED: dict[str, set[str]] = {
    "arm_text": {"errors"},
    "engine_kinds": set(),
    "errors": set(),
    "text": {"errors"},
    "files": {"errors", "ownership"},
    "installed": set(),
    "ownership": set(),
    "reading": set(),
    "separated": set(),
    "units": set(),
    "validation": set(),
    "version": set(),
    "results": GROUND,
    "workloads": GROUND | {"results"},
    "plan": GROUND | {"results", "workloads"},
    "engines": GROUND | {"results", "workloads", "plan"},
    "statistics": GROUND | {"results"},
    "analysis": GROUND | {"results", "statistics"},
    "decide": GROUND | {"results", "statistics", "analysis"},
    "report": GROUND | {"results", "statistics", "analysis", "decide"},
    "gate": GROUND | {"results", "statistics", "analysis", "decide", "report"},
    "imports": GROUND | {"results"},
    "cluster": GROUND | {"results", "plan", "engines"},
    "reboot": GROUND | {"engines"},
    "campaign": GROUND | {"results", "workloads", "plan", "engines", "decide", "cluster", "reboot", "imports"},
    "published": GROUND | {"results", "statistics", "analysis", "report"},
    "matrix": GROUND | {"results", "statistics", "analysis", "plan", "engines", "campaign", "report"},
    "history": GROUND | {"results", "statistics", "analysis", "report"},
    "__init__": {
        "version",
        "plan",
        "campaign",
        "results",
        "analysis",
        "report",
        "imports",
        "decide",
        "history",
        "matrix",
    },
}
ALLOWED["__main__"] = {"cli"}
ALLOWED["cli"] = ALLOWED.keys() - {"__init__", "__main__"}
"""The imports that each room of the package may have."""


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
        if path.name not in GENERATED
        and path.suffix not in DATA_SUFFIXES
        and text.count("\n") > (MOST_LINES_OF_CODE if path.suffix in CODE else MOST_LINES)
    }
    assert not long


def test_most_files_of_rust_are_short():
    lines = sorted(text.count("\n") for path, text in texts() if path.suffix == ".rs")
    assert median(lines) < MEDIAN_OF_RUST


@pytest.mark.parametrize("what", FORBIDDEN)
def test_nothing_forbidden_is_written_anywhere(what):
    pattern = re.compile(FORBIDDEN[what])
    found = [
        f"{path}:{number}: {line.strip()}"
        for path, text in texts()
        if path.name not in GENERATED and path != Path(__file__).resolve().relative_to(ROOT)
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


def test_no_text_names_an_engine_that_cannot_be_asked_for():
    named = re.compile(r"--on[ =]([a-z]+)|\bon = \"(\w*)\"|\bengine=\"(\w+)\"")
    wrong = [
        f"{path}: {found[0]}"
        for path, text in texts()
        for found in named.finditer(text)
        if not {*filter(None, found.groups())} <= {*ENGINES}
    ]
    assert not wrong


def test_code_cites_only_what_a_reader_has():
    """A folder that is not in the repository explains nothing: the fact itself belongs there, or its public source."""
    pattern = re.compile(r"\bspe" r"cs/|\(des" r"ign\b|^(?!.*(?:RFC|\.rst|rfc)).*\bsections? \d")
    found = [
        f"{path}:{number}: {line.strip()}"
        for path, text in texts()
        if path.suffix in (".py", ".rs", ".c", ".h")
        for number, line in enumerate(text.splitlines(), start=1)
        if pattern.search(line)
    ]
    assert not found


def test_files_that_are_cited_are_there():
    pattern = re.compile(r"(?<![\w/.{])(?:crates|docs|python|tests|tools|bench|schedulers|probes|plans)/[\w./-]+\.\w+")
    found = [
        f"{path}: {cited}"
        for path, text in texts()
        if path.suffix in (".py", ".rs", ".c", ".h")
        for cited in pattern.findall(text)
        if not (ROOT / cited).exists()
    ]
    assert not found


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


def modules() -> dict[str, Path]:
    """Every module of the package by its dotted name."""
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
        found[".".join(part for part in parts if part != "__init__")] = path
    return found


def imported_modules(source: str, known: Collection[str]) -> set[str]:
    """The names of ``known`` in any import of a module: at its top, inside functions, and for types only."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found.update(name.name for name in node.names if name.name in known)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports within the package are written with its name"
            each = (f"{node.module}.{name.name}" for name in node.names)
            found.update(name if name in known else node.module or "" for name in each)
    return found & set(known)


def circle(graph: Mapping[str, Collection[str]]) -> list[str]:
    """The names along one circle, the first again at the end; empty if there is none."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def import_graph() -> dict[str, set[str]]:
    known = modules()
    return {name: imported_modules(path.read_text(), known) for name, path in known.items()}


def crossings() -> Iterator[tuple[Path, str, str]]:
    for path in sorted(PACKAGE.rglob("*.py")):
        own = part_of(path)
        yield from ((path, own, target) for target in imports(path) if target.split(".")[0] != own)


def test_nothing_but_the_entry_point_imports_the_command_line():
    found = [(path.name, target) for path, _, target in crossings() if target.split(".")[0] == "cli"]
    assert found == [("__main__.py", "cli.main")]


def test_imports_follow_the_data():
    wrong = [
        f"{path.relative_to(PACKAGE)} imports {target}"
        for path, own, target in crossings()
        if target.split(".")[0] not in ALLOWED[own]
    ]
    assert not wrong


def test_every_module_is_in_a_room():
    """`loads` has data only."""
    rooms = {path.name.removesuffix(".py") for path in PACKAGE.iterdir() if path.name not in ("__pycache__", "loads")}
    assert rooms == ALLOWED.keys()


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("import a.b", {"a.b"}),
        ("from a import b", {"a.b"}),
        ("from a.b import name", {"a.b"}),
        ("from a import name", {"a"}),
        ("def function():\n    from a import b\n", {"a.b"}),
        ("if TYPE_CHECKING:\n    from a.b import Name\n", {"a.b"}),
        ("import os\nfrom json import dumps\n", set()),
    ],
)
def test_every_kind_of_import_is_seen(source, expected):
    assert imported_modules(source, {"a", "a.b"}) == expected


def test_a_circle_is_found_and_a_diamond_is_none():
    assert circle({"a": {"b", "c"}, "b": {"d"}, "c": {"d"}}) == []
    assert set(circle({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}})) == {"a", "b", "c"}


def test_modules_import_each_other_in_no_circle():
    """Not for types either: two modules that need each other's names are one, or lack a third that both import."""
    assert not circle(import_graph())


def test_parts_import_each_other_in_no_circle():
    graph: dict[str, set[str]] = {}
    for name, targets in import_graph().items():
        own = name.split(".")[1:2]
        graph.setdefault(".".join(own), set()).update(target.split(".")[1] for target in targets if "." in target)
    assert not circle({part: targets - {part} for part, targets in graph.items()})


@pytest.mark.parametrize(
    ("engine", "known_to"),
    [
        ("runoff.engines.host", set()),
        ("runoff.engines.lab.real", {"runoff.engines.lab.choose"}),
        ("runoff.engines.lab.virtual", {"runoff.engines.lab.choose"}),
    ],
)
def test_an_engine_is_known_only_to_what_chooses_it(engine, known_to):
    """Code that two engines share, or that others need of them, is in a module of its own."""
    assert {name for name, targets in import_graph().items() if engine in targets} == known_to


def test_nothing_asks_what_an_engine_is_called():
    """What it can do is asked of ``runoff.engine_kinds``, so that another engine is added there."""
    asked = re.compile(r"""(?:\bon\b|\bengine\b|get\("on"\))["\]]* *(?:==|!=) *"|match .*\b(?:on|engine):""")
    found = [
        f"{path}: {line}"
        for path in PACKAGE.rglob("*.py")
        for line in path.read_text().splitlines()
        if asked.search(line)
    ]
    assert not found


def test_no_two_test_files_have_one_name() -> None:
    """pytest imports them by it, and finds out only when it collects both."""
    names = [path.name for path in (ROOT / "tests").rglob("test_*.py")]
    assert sorted(names) == sorted(set(names))

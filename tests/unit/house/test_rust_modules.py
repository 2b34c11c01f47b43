"""The crates that each crate may use; and no circles of imports between modules of one crate, which cargo allows."""

import re
import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from checkout import ROOT

CRATES = {path.parent.name: path for path in sorted((ROOT / "crates").glob("*/src"))}

ALLOWED: dict[str, set[str]] = {
    "protocol": set(),
    "parameters": set(),
    "btf": set(),
    "bpfvm": {"btf"},
    "sim": {"bpfvm", "btf", "parameters"},
    "machine": {"protocol"},
    "bpf": {"machine"},
    "elevators": {"parameters"},
    "disk-model": {"elevators", "parameters"},
    "probes": {"bpf", "machine", "protocol"},
    "schedulers": {"bpf", "machine", "parameters", "protocol"},
    "block-queue": {"parameters", "protocol"},
    "ublk": {"block-queue", "bpf", "disk-model", "elevators", "machine", "protocol"},
    "scene": set(),
    "work": {"machine", "protocol", "scene"},
    "numbers": {"protocol"},
    "settings": {"machine", "protocol"},
    "agent": {
        "block-queue",
        "bpf",
        "disk-model",
        "elevators",
        "machine",
        "numbers",
        "probes",
        "protocol",
        "schedulers",
        "settings",
        "ublk",
        "work",
    },
}
"""The crates that each may use: the instrument knows no work, and nothing knows the agent."""

Name = tuple[str, ...]
"""A module, as its path below the crate; the crate itself is ()."""


def source(path: Path) -> str:
    """Without comments, and without tests, which may use what is downstream."""
    text = re.split(r"^#\[cfg\(test\)\]\n(?:pub )?mod \w+ \{", path.read_text(), maxsplit=1, flags=re.MULTILINE)[0]
    return re.sub(r"//.*", "", text)


def module(path: Path, src: Path) -> Name:
    parts = path.relative_to(src).with_suffix("").parts
    return parts[:-1] if parts[-1] in ("mod", "lib", "main") else parts


@cache
def sources(crate: str) -> Mapping[Name, str]:
    found: dict[Name, str] = {}
    for path in sorted(CRATES[crate].rglob("*.rs")):
        name = module(path, CRATES[crate])
        found[name] = found.get(name, "") + source(path)
    return found


def flattened(tree: str) -> Iterator[str]:
    """``a::{b, c::{d, e}}`` as paths."""
    start, braced, rest = tree.strip().partition("{")
    if not braced:
        yield start.split(" as ")[0].strip()
        return
    depth, part = 0, ""
    for character in rest.rsplit("}", 1)[0] + ",":
        depth += {"{": 1, "}": -1}.get(character, 0)
        if character == "," and depth == 0:
            yield from (start + path for path in flattened(part) if path)
            part = ""
        else:
            part += character


def paths(text: str) -> Iterator[str]:
    """All that begin in the crate, of ``use`` and in between."""
    for tree in re.findall(r"\buse ([^;]+);", text):
        yield from flattened(tree)
    yield from re.findall(r"\b(?:crate|super|self)(?:::\w+)+", text)


def resolved(path: str, here: Name, modules: Mapping[Name, str]) -> Name | None:
    """The module that has ``path``, as ``here`` names it; None if it is in no module of the crate."""
    words = path.split("::")
    at: Name = here
    match words[0]:
        case "crate":
            at, words = (), words[1:]
        case "self":
            words = words[1:]
        case "super":
            while words and words[0] == "super":
                at, words = at[:-1], words[1:]
        case first if (*here, first) not in modules:
            return None
    for word in words:
        if (*at, word) not in modules:
            break
        at = (*at, word)
    return at


def imports(modules: Mapping[Name, str]) -> dict[Name, set[Name]]:
    found: dict[Name, set[Name]] = {}
    for here, text in modules.items():
        children = [name[-1] for name in modules if name and name[:-1] == here]
        below = re.findall(rf"\b(?:{'|'.join(children)})::\w+", text) if children else []
        targets = {resolved(path, here, modules) for path in (*paths(text), *below)}
        found[here] = {target for target in targets if target is not None and target != here}
    return found


def circles(graph: Mapping[Name, set[Name]]) -> set[str]:
    """Modules from which a way leads back to themselves, with each other in one line."""

    def reached(start: Name) -> set[Name]:
        found: set[Name] = set()
        waiting = [start]
        while waiting:
            news = graph[waiting.pop()] - found
            found |= news
            waiting.extend(news)
        return found

    beyond = {name: reached(name) for name in graph}
    together = ({other for other in beyond[name] if name in beyond[other]} for name in graph if name in beyond[name])
    return {" ".join(sorted("/".join(name) or "lib" for name in circle)) for circle in together}


def tables(manifest: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """All that name dependencies, also those of tests, of the build and of one target."""
    for name in ("dependencies", "dev-dependencies", "build-dependencies"):
        yield manifest.get(name, {})
    for target in manifest.get("target", {}).values():
        yield from tables(target)


def neighbours(manifest: Mapping[str, Any]) -> set[str]:
    """The crates beside it that it uses, by their folders."""
    given = (about for table in tables(manifest) for about in table.values() if isinstance(about, dict))
    return {Path(about["path"]).name for about in given if "path" in about}


@pytest.mark.parametrize("crate", CRATES)
def test_crates_use_only_crates_upstream_of_them(crate: str) -> None:
    used = neighbours(tomllib.loads((ROOT / "crates" / crate / "Cargo.toml").read_text()))
    assert used == ALLOWED[crate]


def test_no_crate_is_used_by_another_name() -> None:
    """A path in the workspace's own table would be seen in no crate's."""
    shared = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["dependencies"]
    assert neighbours({"dependencies": shared}) == set()


def test_what_a_crate_uses_is_found_wherever_it_is_written() -> None:
    text = """
        [dependencies]
        machine = { path = "../machine" }
        serde.workspace = true
        [dev-dependencies]
        other = { path = "../work", package = "work" }
        [target.'cfg(unix)'.build-dependencies]
        bpf = { path = "../bpf" }
    """
    assert neighbours(tomllib.loads(text)) == {"machine", "work", "bpf"}


@pytest.mark.parametrize("crate", CRATES)
def test_modules_of_a_crate_import_each_other_in_no_circle(crate: str) -> None:
    assert not circles(imports(sources(crate)))


def test_circles_are_found_wherever_they_are_written() -> None:
    modules = {
        (): "mod a; mod b; use b::B;",
        ("a",): "use crate::b::{self, c::{D, E}, F as G};",
        ("b",): "mod c; fn f() { c::g() }",
        ("b", "c"): "fn g() { super::super::a::h() }",
    }
    graph = imports(modules)
    assert graph == {
        (): {("b",)},
        ("a",): {("b",), ("b", "c")},
        ("b",): {("b", "c")},
        ("b", "c"): {("a",)},
    }
    assert circles(graph) == {"a b b/c"}
    graph["b", "c"] = set()
    assert circles(graph) == set()

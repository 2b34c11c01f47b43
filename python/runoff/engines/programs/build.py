"""Builds a program of the scx project from its published crate, with the compilers that it needs."""

import os
import re
import shutil
import subprocess
import time
import tomllib
from collections.abc import Iterator
from pathlib import Path

from runoff.engines import tools
from runoff.engines.agent import end_with_us
from runoff.engines.distribution import render_install
from runoff.engines.lab import cache
from runoff.engines.programs import store
from runoff.errors import MissingError, RunoffError, UsageError
from runoff.files import make_directories

ROOM_MB = 1500
"""Room on the cache's disk while one is built."""

LEAST_CLANG = 16
"""The oldest clang that compiles today's schedulers to BPF."""

_LIBRARIES = {"libelf": "libelf-dev", "zlib": "zlib1g-dev"}
"""What every one of them is linked with."""
_SOMETIMES = {"libseccomp": "libseccomp-dev"}
"""What only some are."""
_TOLD_S = 10.0
_MANIFEST = """\
[package]
name = "resolve"
version = "0.0.0"
edition = "2021"
[lib]
path = "lib.rs"
[dependencies]
{program} = "{wanted}"
"""
_SPEC = re.compile(r"(?:scx[_:])?(?P<name>[a-z0-9_]+)(?:@(?P<version>[0-9][\w.+-]*))?")


def add(spec: str, progress: cache.Progress) -> store.Build:
    """Return the program of ``NAME[@VERSION]``, built now if it is not in the cache; without a version the newest.

    Raises:
        UsageError: it is not such a name.
        MissingError: a compiler, a library, room, the crate or its version is missing.
        RunoffError: the build failed.
    """
    found = _SPEC.fullmatch(spec)
    if found is None:
        raise UsageError(f"{spec!r} is not NAME or NAME@VERSION, such as lavd or bpfland@1.1.4")
    program, version = f"scx_{found['name']}", found["version"]
    if version is not None and store.is_whole(store.directory_of(program, version)):
        return _find_stored(program, version)
    cargo, clang = _require_tools()
    with cache.explain_write_errors():
        make_directories(store.root())
    version, crates = _resolve(cargo, program, version)
    with cache.build_directory(store.directory_of(program, version), progress, store.is_whole) as part:
        if part is not None:
            cache.require_room(part, ROOM_MB)
            _build(part, program, version, [cargo, clang], crates, progress)
    return _find_stored(program, version)


def _find_stored(program: str, version: str) -> store.Build:
    build = store.find(f"{program}-{version}")
    assert build is not None
    return build


def list_lacking() -> list[str]:
    """Return Debian's names of the packages that every build needs and this machine lacks."""
    lacking = [] if _find_clang() else [f"clang-{LEAST_CLANG} or newer"]
    lacking += [package for program, package in _PROGRAMS.items() if tools.locate(program) is None]
    return lacking + list(_list_lacking_libraries(_LIBRARIES))


_PROGRAMS = {"cargo": "cargo", "cc": "gcc", "make": "make", "pkg-config": "pkg-config"}


def _require_tools() -> tuple[str, str]:
    """Return the paths of cargo and clang. Raises MissingError."""
    cargo, clang = tools.locate("cargo"), _find_clang()
    if lacking := list_lacking():
        raise MissingError(f"building it needs {', '.join(lacking)}: {_render_install(lacking)}")
    assert cargo is not None
    assert clang is not None
    return cargo, clang


def _render_install(lacking: list[str]) -> str:
    return render_install(package.removesuffix(" or newer") for package in lacking)


def _list_lacking_libraries(libraries: dict[str, str]) -> Iterator[str]:
    asks = tools.locate("pkg-config")
    for library, package in libraries.items():
        if asks is None or subprocess.run([asks, "--exists", library], check=False).returncode != 0:
            yield package


def _find_clang() -> str | None:
    """Return the user's choice, as crates of the project take it, or the newest clang; None if all are too old."""
    chosen = os.environ.get("BPF_CLANG")
    if chosen is not None:
        return tools.locate(chosen)
    folders = map(Path, os.environ.get("PATH", os.defpath).split(os.pathsep))
    names = {path.name for folder in folders for path in folder.glob("clang-[0-9]*")}
    versions = sorted((int(name[6:]) for name in names if name[6:].isdigit()), reverse=True)
    for name in (*(f"clang-{version}" for version in versions), "clang"):
        found = tools.locate(name)
        if found is not None and _read_major(found) >= LEAST_CLANG:
            return found
    return None


def _read_major(clang: str) -> int:
    done = subprocess.run([clang, "--version"], capture_output=True, text=True, check=False)
    found = re.search(r"version ([0-9]+)", done.stdout)
    return int(found[1]) if found else 0


def _resolve(cargo: str, program: str, version: str | None) -> tuple[str, int]:
    """Return the version that is wanted, and of how many crates it is built. Raises MissingError."""
    folder = store.root() / f".{program}.{os.getpid()}.resolve"
    try:
        with cache.explain_write_errors():
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            wanted = f"={version}" if version else "*"
            (folder / "Cargo.toml").write_text(_MANIFEST.format(program=program, wanted=wanted), encoding="utf-8")
            (folder / "lib.rs").touch()
        done = subprocess.run(
            [cargo, "generate-lockfile", "--quiet"], cwd=folder, capture_output=True, text=True, check=False
        )
        if done.returncode != 0:
            raise MissingError(_explain_unresolved(program, version, done.stderr))
        packages = tomllib.loads((folder / "Cargo.lock").read_text(encoding="utf-8"))["package"]
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    found = next(package["version"] for package in packages if package["name"] == program)
    return found, len(packages) - 1


def _explain_unresolved(program: str, version: str | None, errors: str) -> str:
    if "no matching package" in errors:
        return f"there is no published crate {program}"
    candidates = re.search(r"candidate versions found which didn't match: (.*)", errors)
    if candidates is not None:
        return f"there is no {program} {version}: there are {candidates[1]}"
    lines = [line.strip() for line in errors.splitlines() if line.strip()]
    return f"cargo cannot look for {program}: {' / '.join(lines[:4]) or 'no reason'}"


def _build(part: Path, program: str, version: str, compilers: list[str], crates: int, progress: cache.Progress) -> None:
    cargo, clang = compilers
    progress(f"building {program} {version} of {crates} crates, which takes some minutes")
    shown = _CrateProgress(program, crates, progress)
    # In a directory of the cache no configuration of the directory that the user is in counts.
    command = end_with_us(
        [
            *(cargo, "install", program, "--version", f"={version}", "--locked"),
            *("--root", part / "root", "--target-dir", part / "target"),
        ],
        gently=True,
    )
    try:
        tools.follow(command, shown.line, what=f"building {program} {version}", cwd=part, env={"BPF_CLANG": clang})
    except RunoffError as error:
        lacking = list(_list_lacking_libraries(_SOMETIMES))
        lacking += [] if tools.locate("protoc") else ["protobuf-compiler"]
        maybe = f"; some of them need {' and '.join(lacking)}: {_render_install(lacking)}" if lacking else ""
        raise RunoffError(f"{error}{maybe}") from None
    built = part / "root/bin" / program
    if not built.is_file():
        raise RunoffError(f"the crate {program} {version} has no program of that name")
    built.rename(part / program)
    for folder in ("root", "target"):
        shutil.rmtree(part / folder)
    versions = (tools.run([each, "--version"], what=f"asking {each} for its version") for each in compilers)
    lines = ", ".join(text.partition("\n")[0].strip() for text in versions)
    store.write_meta(part, store.Meta(program, version, cache.sha256(part / program), lines))


class _CrateProgress:
    """Counts the crates that cargo compiles, and tells it now and then."""

    def __init__(self, program: str, crates: int, progress: cache.Progress) -> None:
        self._program = program
        self._crates = crates
        self._progress = progress
        self._done = 0
        self._told_s = time.monotonic()

    def line(self, line: str) -> None:
        if not line.lstrip().startswith("Compiling "):
            return
        self._done += 1
        if time.monotonic() - self._told_s >= _TOLD_S:
            self._told_s = time.monotonic()
            self._progress(f"  {self._program}: {self._done} of about {max(self._crates, self._done)} crates")

"""Builds runoff's QEMU from its pinned source: a few minutes, once."""

import importlib.util
import math
import os
import re
import shutil
import subprocess
import sys
import tarfile
import time
from collections.abc import Callable
from pathlib import Path

from runoff.engines import tools
from runoff.engines.agent import end_with_us
from runoff.engines.distribution import render_install
from runoff.engines.lab import cache, debian
from runoff.engines.lab.emulator import recipe, store
from runoff.errors import MissingError

ROOM_MB = 800
"""Room on the cache's disk while it is built."""

_WANTED = f"{Path(recipe.TARBALL).name}, SHA-256 {recipe.TARBALL_SHA256}"
_PROGRAMS = {"cc": "gcc", "make": "make", "pkg-config": "pkg-config", "patch": "patch", "xz": "xz-utils"}
_LIBRARIES = {"glib-2.0": "libglib2.0-dev", "zlib": "zlib1g-dev"}
_STEP = re.compile(r"\[(\d+)/(\d+)\] ")


def ensure(progress: cache.Progress, *, mirror: str | None = None, tarball: Path | None = None) -> store.Emulator:
    """Return runoff's QEMU, built now if it is not in the cache. ``tarball`` replaces the download of its source.

    Raises:
        MissingError: a program, a library, room, or the source is missing, or it is not the pinned source. RunoffError:
        a step failed.
    """
    if tarball is not None:
        _require_source(tarball)
    name = recipe.name()
    with cache.build_directory(store.directory_of(name), progress, store.is_whole) as part:
        if part is not None:
            _require_programs()
            cache.require_room(part, ROOM_MB)
            # Not a random name, or the program would differ in every build.
            scratch = part / "scratch"
            scratch.mkdir()
            _build(part, scratch, mirror, tarball, progress)
            shutil.rmtree(scratch)
    return store.find(name)


def list_lacking() -> list[str]:
    """Return Debian's names of the packages that a build needs and this machine lacks."""
    lacking = [package for program, package in _PROGRAMS.items() if tools.locate(program) is None]
    if importlib.util.find_spec("ensurepip") is None:
        lacking.append("python3-venv")
    asks = tools.locate("pkg-config")
    for library, package in _LIBRARIES.items():
        if asks is None or subprocess.run([asks, "--exists", library], check=False).returncode != 0:
            lacking.append(package)
    return lacking


def _require_programs() -> None:
    if lacking := list_lacking():
        raise MissingError(f"building QEMU needs {', '.join(lacking)}: {render_install(lacking)}")


def _build(part: Path, scratch: Path, mirror: str | None, tarball: Path | None, progress: cache.Progress) -> None:
    source = _unpack(_fetch_source(scratch, mirror, tarball, progress), scratch, progress)
    python = _find_python(scratch / "python", progress)
    build = scratch / "build"
    build.mkdir()
    progress("configuring QEMU")
    path = f"{python.parent}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
    options = [option.format(scratch=scratch) for option in recipe.CONFIGURE]
    configure: list[str | Path] = [source / "configure", f"--python={python}", *options]
    tools.run(configure, what="configuring QEMU", cwd=build, env={"PATH": path})
    shown = NinjaProgress(progress)
    ninja = end_with_us([python.parent / "ninja", store.PROGRAM], gently=True)
    tools.follow(ninja, shown.line, what="building QEMU", cwd=build)
    shutil.copy2(build / store.PROGRAM, part / store.PROGRAM)
    store.write_meta(part, _describe(part / store.PROGRAM))


def _fetch_source(scratch: Path, mirror: str | None, tarball: Path | None, progress: cache.Progress) -> Path:
    if tarball is None:
        archive = debian.open_archive(mirror, progress)
        progress(f"fetching the source of QEMU {recipe.VERSION}, 40 MB")
        try:
            return archive.download_file(recipe.TARBALL, scratch, recipe.TARBALL_SHA256)
        except debian.GoneError as error:
            raise MissingError(
                f"{error}; Debian's snapshot archive keeps {_WANTED}: give it with runoff qemu build --tarball"
            ) from error
    return tarball


def _require_source(tarball: Path) -> None:
    if not tarball.is_file():
        raise MissingError(f"{tarball} does not exist: leave --tarball out to fetch it")
    if cache.sha256(tarball) != recipe.TARBALL_SHA256:
        raise MissingError(f"{tarball} is not the source that is wanted: {_WANTED}")


def _unpack(tarball: Path, scratch: Path, progress: cache.Progress) -> Path:
    progress(f"unpacking {tarball.name}")
    with cache.explain_write_errors(), tarfile.open(tarball) as archive:
        # Python before 3.11.4 has no filters; the archive is known by its digest.
        archive.extraction_filter = getattr(tarfile, "data_filter", None)
        archive.extractall(scratch)
    source = scratch / recipe.TREE
    for each in recipe.PATCHES:
        tools.run(["patch", "--quiet", "-p1", "-i", each], what="patching QEMU", cwd=source)
    shutil.copy(recipe.DEVICES, source / "configs/devices/x86_64-softmmu/runoff.mak")
    return source


def _find_python(directory: Path, progress: cache.Progress) -> Path:
    """Return a Python that has what QEMU's configure needs."""
    progress("fetching meson and ninja")
    tools.run([sys.executable, "-m", "venv", directory], what="making a Python for the build")
    python = directory / "bin/python"
    install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--require-hashes", "--no-deps"]
    tools.run([python, *install, "-r", recipe.TOOLS], what="fetching meson and ninja")
    return python


def _describe(program: Path) -> store.Meta:
    version = tools.run([program, "--version"], what="asking QEMU for its version").partition("\n")[0]
    compiler = tools.run(["cc", "--version"], what="asking the compiler for its version").partition("\n")[0]
    return store.Meta(version=version, sha256=cache.sha256(program), compiler=compiler)


class NinjaProgress:
    """Reports the progress of ninja, every tenth of its way."""

    def __init__(self, progress: cache.Progress, clock: Callable[[], float] = time.monotonic) -> None:
        self._progress = progress
        self._clock = clock
        self._start = clock()
        self._tenths = 0

    def line(self, line: str) -> None:
        step = _STEP.match(line)
        if step is None:
            return
        done, planned = int(step[1]), int(step[2])
        if 10 * done // planned == self._tenths:
            return
        self._tenths = 10 * done // planned
        share = done / planned
        left_s = math.ceil((self._clock() - self._start) * (1 - share) / share)
        self._progress(f"building QEMU: {share:.0%}, ETA {left_s} s")

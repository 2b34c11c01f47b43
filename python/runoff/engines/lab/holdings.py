"""What the lab's cache holds, how large it is, and what of it can go."""

import contextlib
import time
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

from runoff.engines.lab import cache, image, kernel, snapshot
from runoff.engines.lab.emulator import store as emulator
from runoff.engines.programs import store as programs

DAY_S = 86400.0


@dataclass(frozen=True, slots=True)
class Holding:
    """A folder of the cache."""

    kind: str
    name: str
    """As the commands of its kind call it."""
    path: Path
    size_bytes: int
    """What it takes of the disk."""
    used_s: float
    """When it was last used or made, in seconds of the epoch."""
    is_needed: bool
    """Whether this runoff would fetch or ask for it again; guests are made again without being asked for."""


def list_holdings() -> list[Holding]:
    """Return all of them, by kind, the largest first."""
    found = [*_list_kernels(), *_list_images(), *_list_emulators(), *_list_programs(), *_list_others()]
    return sorted(found, key=lambda each: (_KINDS.index(each.kind), -each.size_bytes))


_KINDS = ("kernel", "image", "QEMU", "scx program", "guest", "received", "package lists", "tools")


def prune(days: float, *, everything: bool = False, is_dry: bool = False) -> list[Holding]:
    """Remove what was not used for ``days`` days and is not needed, or all with ``everything``; return what went.

    What another process holds is spared; with ``is_dry`` all is. Raises MissingError.
    """
    oldest_s = time.time() - max(days * DAY_S, snapshot.IN_USE_S)
    chosen = [each for each in list_holdings() if everything or (not each.is_needed and each.used_s <= oldest_s)]
    return [each for each in chosen if is_dry or _remove(each)]


def _remove(holding: Holding) -> bool:
    with cache.explain_write_errors(), cache.try_lock(holding.path) as is_held:
        if not is_held:
            return False
        cache.remove(holding.path)
        return True


def _list_kernels() -> Iterator[Holding]:
    usable = {each.directory: each.name for each in kernel.list_stored()}
    yield from _describe("kernel", cache.kernels(), usable, lambda path: usable.get(path, path.name))


def _list_images() -> Iterator[Holding]:
    yield from _describe("image", cache.images(), {each.path.parent for each in image.list_stored()})


def _list_emulators() -> Iterator[Holding]:
    current = {emulator.directory_of(each.name) for each in emulator.list_stored() if each.is_current}
    yield from _describe("QEMU", cache.emulators(), current)


def _list_programs() -> Iterator[Holding]:
    yield from _describe("scx program", programs.root(), {each.directory for each in programs.list_stored()})


def _list_others() -> Iterator[Holding]:
    yield from _describe("guest", cache.snapshots(), ())
    yield from _describe("received", cache.root() / "received", ())
    for kind, folder in (("package lists", cache.apt()), ("tools", cache.root() / "tools")):
        yield from _describe(kind, folder, {*folder.glob("*")})


def _describe(
    kind: str, folder: Path, needed: Collection[Path], name: Callable[[Path], str] = lambda path: path.name
) -> Iterator[Holding]:
    for path in folder.glob("[!.]*"):
        # Another runoff may remove it at the same time.
        with contextlib.suppress(FileNotFoundError):
            used_s = path.lstat().st_mtime
            yield Holding(kind, name(path), path, cache.measure_bytes(path), used_s, path in needed)

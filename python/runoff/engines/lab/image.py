"""The lab's root file systems: ext4 images in the cache, named by what they are made of."""

import hashlib
import json
import re
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from runoff.engines import ext4
from runoff.engines.lab import cache, debian, rootfs
from runoff.errors import MissingError, UsageError
from runoff.workloads import Definition

FORMAT = 4
"""Version of how images are made; raising it makes all of them anew."""
_META = "meta.json"
_IMAGE = "image.ext4"
_NAME_LENGTH = 12
_PACKAGE_NAME = re.compile(r"[a-z0-9][a-z0-9+.-]+")


@dataclass(frozen=True, slots=True)
class Recipe:
    """What decides the name of an image."""

    suite: str
    packages: tuple[str, ...]
    """Names of packages, sorted; their dependencies and `rootfs.USUAL` come with them."""
    sources: tuple[str, ...]
    """Names of source packages, sorted; unpacked in /usr/src/NAME."""
    setup: tuple[tuple[str, ...], ...] = ()
    """Commands that were run inside, in this order, after everything else."""
    tarball_sha256: str | None = None
    """Digest of the root tarball, if the image was made from one instead."""
    format: int = FORMAT

    @property
    def name(self) -> str:
        """The image's name: a digest of the recipe."""
        text = json.dumps(asdict(self), sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:_NAME_LENGTH]


@dataclass(frozen=True, slots=True)
class Image:
    """A root file system ready to be attached as an NVDIMM."""

    name: str
    path: Path
    sha256: str
    size_bytes: int
    """A multiple of `ext4.ALIGN_BYTES`."""
    recipe: Recipe
    packages: Mapping[str, str] = field(default_factory=dict)
    """Versions of all Debian packages in it, by name."""
    origin: str = ""
    """The tarball's file name, when it was made from one."""

    @property
    def is_whole(self) -> bool:
        """Whether the file is undamaged."""
        try:
            return cache.known_sha256(self.path) == self.sha256
        except OSError:
            return False


def make_recipe(packages: Sequence[str], sources: Sequence[str] = (), setup: Sequence[Sequence[str]] = ()) -> Recipe:
    """Return the recipe of an image with these Debian packages and unpacked source packages, set up by commands."""
    for name in [*packages, *sources]:
        if not _PACKAGE_NAME.fullmatch(name):
            raise UsageError(f"{name!r} is not the name of a Debian package: give names such as rt-tests")
    return Recipe(
        debian.SUITE,
        tuple(sorted(set(packages))),
        tuple(sorted(set(sources))),
        tuple(dict.fromkeys(tuple(argv) for argv in setup)),
    )


def find_cached(wanted: Recipe) -> Image | None:
    """Return the image of this recipe, if it has been made and is as it was made."""
    return next((image for image in list_stored() if image.recipe == wanted and image.is_whole), None)


def ensure(wanted: Recipe, progress: cache.Progress, mirror: str | None = None) -> Image:
    """Return the image of this recipe, made now if it is not in the cache.

    Raises:
        MissingError: a program, a package or the archive is not there, or the cache has no room.
        RunoffError: a step failed.
    """
    found = find_cached(wanted)
    if found is not None:
        return found
    archive = debian.open_archive(mirror, progress)
    with cache.build_directory(cache.images() / wanted.name, progress, _is_whole) as part:
        if part is not None:
            tree = rootfs.bootstrap(archive, wanted.packages, wanted.sources, part, progress)
            rootfs.set_up(tree, wanted.setup, progress)
            _finish(part, tree, wanted, "", progress)
    return find(wanted.name)


def add(tarball: Path, progress: cache.Progress) -> Image:
    """Make an image from a root tarball.

    Raises:
        MissingError: there is no such file.
        RunoffError: it is not a root file system.
    """
    if not tarball.is_file():
        raise MissingError(f"{tarball} does not exist: pack a root file system with tar -C ROOT -cf {tarball.name} .")
    wanted = Recipe("", (), (), tarball_sha256=cache.sha256(tarball))
    with cache.build_directory(cache.images() / wanted.name, progress, _is_whole) as part:
        if part is not None:
            progress(f"unpacking {tarball.name}")
            tree = rootfs.unpack(tarball.absolute(), part)
            _finish(part, tree, wanted, tarball.name, progress)
    return find(wanted.name)


def list_stored() -> list[Image]:
    """Return all usable images, by name."""
    directories = [meta.parent for meta in sorted(cache.images().glob(f"[!.]*/{_META}"))]
    return [image for directory in directories if (image := _read(directory)) is not None]


def find(name: str) -> Image:
    """Return the stored image whose name, or the file name of its tarball, begins with ``name``.

    Raises:
        MissingError: there is none.
        UsageError: there are several.
    """
    fitting = [image for image in list_stored() if image.name.startswith(name) or (image.origin == name)]
    if not fitting:
        raise MissingError(f"the lab has no image {name}: see those it has", hint=("image", "list"))
    if len(fitting) > 1:
        raise UsageError(f"{name} fits {', '.join(image.name for image in fitting)}: give more of the name")
    return fitting[0]


def remove(name: str) -> Image:
    """Delete the image that `find` would return, and return its description."""
    image = find(name)
    with cache.explain_write_errors():
        shutil.rmtree(image.path.parent)
    return image


def _environment(work: Definition) -> list[str]:
    """Return the words before a command that give it the variables of the work."""
    return ["env", *(f"{name}={value}" for name, value in work.environment.items())] if work.environment else []


def derive_recipe(
    definitions: Iterable[Definition], packages: Sequence[str] = (), sources: Sequence[str] = ()
) -> Recipe:
    """Return the recipe of the image in which these workloads run, with more ``packages`` and ``sources`` if asked for.

    Raises:
        UsageError: a name is not a package name.
    """
    works = list(definitions)
    return make_recipe(
        [*packages, *(package for work in works for package in work.packages)],
        [*sources, *(source for work in works for source in work.sources)],
        [[*_environment(work), *command] for work in works for command in work.setup],
    )


def _finish(part: Path, tree: Path, wanted: Recipe, origin: str, progress: cache.Progress) -> None:
    """Make the image, describe it, and leave nothing else in ``part``."""
    progress("making the ext4 image")
    packages = rootfs.list_installed(tree)
    # A tarball may have anything in the place of its programs.
    ext4.make(tree, part / _IMAGE, is_trusted=not origin)
    size = (part / _IMAGE).stat().st_size
    meta = {
        "recipe": asdict(wanted),
        "sha256": cache.sha256(part / _IMAGE),
        "size_bytes": size,
        "packages": packages,
        "origin": origin,
    }
    for other in part.iterdir():
        if other.is_dir():
            shutil.rmtree(other)
        elif other.name != _IMAGE:
            other.unlink()
    (part / _META).write_text(json.dumps(meta, indent=2, sort_keys=True) + "\n")


def _is_whole(directory: Path) -> bool:
    image = _read(directory)
    return image is not None and image.is_whole


def _read(directory: Path) -> Image | None:
    """Return the image that is stored there; None if another version stored it, or if it is damaged."""
    try:
        fields = json.loads((directory / _META).read_text())
        raw = fields.pop("recipe")
        setup = tuple(tuple(argv) for argv in raw["setup"])
        made = Recipe(**{**raw, "packages": tuple(raw["packages"]), "sources": tuple(raw["sources"]), "setup": setup})
        image = Image(name=directory.name, path=directory / _IMAGE, recipe=made, **fields)
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return None
    return image if made.format == FORMAT else None

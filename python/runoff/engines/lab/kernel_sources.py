"""Where kernels come from: Debian's packages, the running machine, a file."""

import gzip
import hashlib
import json
import platform
import re
import shutil
import tempfile
from collections.abc import Iterable, Mapping, Set
from pathlib import Path

from runoff.engines import tools
from runoff.engines.agent import find_agent
from runoff.engines.lab import cache, debian, kernel, modules, vmlinuz
from runoff.errors import MissingError, UsageError

_RELEASE = re.compile(r"linux-(?:image|binary|binary-unsigned)-(\d+\.\d+\.\d+\S*-cloud-amd64)")
_FORMS = "debian, debian:VERSION, host, or file:VMLINUZ[,modules=DIR]"


def add(spec: str, *, mirror: str | None, progress: cache.Progress) -> kernel.Kernel:
    """Put a kernel into the cache, or find it there already.

    ``spec`` is ``debian``, ``debian:VERSION`` (a prefix such as 6.19), ``host``, or ``file:VMLINUZ[,modules=DIR]``.

    Raises:
        UsageError: the specification is none of these.
        MissingError: the kernel, a file of it, or the archive is not there.
        RunoffError: a package cannot be unpacked.
    """
    kind, _, rest = spec.partition(":")
    match kind:
        case "debian":
            return _add_debian(rest, mirror, progress)
        case "host" if not rest:
            return _add_host(progress)
        case "file" if rest:
            return _add_file(rest, progress)
        case _:
            raise UsageError(f"{spec!r} is not a kernel that can be added: give {_FORMS}")


def find_offered(names: Iterable[str]) -> dict[str, list[str]]:
    """Return the cloud kernels among package names: release -> packages that make it up, newest release first.

    Up to Linux 6.18 one package holds all; later ones are split, and an archive may have only some of the parts of an
    old one, which then is not a kernel. "Unsigned" is about Secure Boot, not about the archive's signature.
    """
    known = set(names)
    return {release: parts for release, parts in _parts(known).items() if known.issuperset(parts)}


def find_incomplete(names: Iterable[str]) -> dict[str, list[str]]:
    """Return the cloud kernels of which an archive has only some parts: release -> packages that are missing."""
    known = set(names)
    found = {release: [part for part in parts if part not in known] for release, parts in _parts(known).items()}
    return {release: missing for release, missing in found.items() if missing}


def _parts(known: Set[str]) -> dict[str, list[str]]:
    """Return the packages that each cloud kernel among the ``known`` names is made of, newest release first."""
    releases = {match[1] for name in known if (match := _RELEASE.fullmatch(name))}
    found: dict[str, list[str]] = {}
    for release in sorted(releases, key=kernel.release_key, reverse=True):
        binary = next((n for n in (f"linux-binary-{release}", f"linux-binary-unsigned-{release}") if n in known), None)
        split = [f"linux-modules-{release}", f"linux-base-{release}"]
        found[release] = [binary, *split] if binary else [f"linux-image-{release}"]
    return found


def group_by_series(kernels: Mapping[str, list[str]]) -> list[dict[str, list[str]]]:
    """Group ``kernels``, release -> packages, by series such as 7.3; newest series and release first."""
    series: dict[tuple[int, ...], dict[str, list[str]]] = {}
    for release in sorted(kernels, key=kernel.release_key, reverse=True):
        series.setdefault(kernel.release_key(release)[:2], {})[release] = kernels[release]
    return list(series.values())


def _add_debian(version: str, mirror: str | None, progress: cache.Progress) -> kernel.Kernel:
    archive = debian.open_archive(mirror, progress)
    names = archive.names("linux-")
    kernels = find_offered(names)
    if version:
        fitting = {release: parts for release, parts in kernels.items() if kernel.matches(release, version)}
        if not fitting:
            raise MissingError(_explain_missing(archive.address, version, names))
        return _add_first(archive, fitting, progress)
    for series in group_by_series(kernels):
        try:
            found = _add_first(archive, series, progress)
        except debian.GoneError:
            continue
        if found.sched_ext:
            return found
        progress(f"{found.name} takes no schedulers: {found.meta.objection or 'it has no sched_ext'}")
        kernel.remove(found.name)
    raise MissingError(
        f"no cloud kernel of the Debian archive {archive.address} takes schedulers: runoff kernel add debian:VERSION "
        "adds a certain one, file:VMLINUZ one of your own"
    )


def _explain_missing(address: str, version: str, names: Iterable[str]) -> str:
    """Say which parts of the cloud kernel ``version`` are among the package ``names``, and which kernels are
    complete."""
    lost = {release: parts for release, parts in find_incomplete(names).items() if kernel.matches(release, version)}
    series = dict.fromkeys(".".join(release.split(".")[:2]) for release in find_offered(names))
    whole = ", ".join(f"debian:{each}" for each in series)
    if not lost:
        return f"the Debian archive {address} has no cloud kernel {version}; it has {whole or 'none at all'}"
    release, missing = next(iter(lost.items()))
    return (
        f"the Debian archive {address} has only a part of Linux {release}, because newer releases replaced it: "
        f"{' and '.join(missing)} are gone; whole are {whole or 'none'}"
    )


def _add_first(archive: debian.Archive, kernels: Mapping[str, list[str]], progress: cache.Progress) -> kernel.Kernel:
    """Return the first of ``kernels``, release -> packages, whose files the archive still has.

    Raises:
        GoneError: it has the files of none.
    """
    gone: debian.GoneError | None = None
    for release, names in kernels.items():
        try:
            return _add_packages(archive, release, names, progress)
        except debian.GoneError as error:
            progress(f"the archive lists {release} and has its files no longer: taking the next one that fits")
            gone = error
    assert gone is not None
    raise gone


def _add_packages(archive: debian.Archive, release: str, names: list[str], progress: cache.Progress) -> kernel.Kernel:
    name = f"debian:{release}"
    with cache.build_directory(kernel.directory_of(name), progress, kernel.is_whole) as part:
        if part is not None:
            with tempfile.TemporaryDirectory(dir=part) as scratch:
                tree, packages = _unpack(archive, names, Path(scratch), progress)
                _store(
                    part,
                    name=name,
                    origin=packages[0].version,
                    image=_find_first(
                        tree,
                        f"lib/modules/{release}/vmlinuz",
                        f"lib/modules/{release}/vmlinuz.unsigned",
                        f"boot/vmlinuz-{release}",
                    ),
                    config=_find_first(tree, f"lib/modules/{release}/config", f"boot/config-{release}"),
                    module_source=_find_first(tree, f"lib/modules/{release}"),
                    packages=packages,
                    progress=progress,
                )
    return kernel.find(name)


def _unpack(
    archive: debian.Archive, names: list[str], scratch: Path, progress: cache.Progress
) -> tuple[Path, list[debian.Package]]:
    """Fetch the packages and unpack them over each other."""
    progress(f"fetching {', '.join(names)}")
    packages = archive.download(names, scratch, debian.BACKPORTS)
    tree = scratch / "tree"
    for package in packages:
        tools.run([tools.require("dpkg-deb", "dpkg"), "-x", package.path, tree], what=f"unpacking {package.name}")
    return tree, packages


def _add_host(progress: cache.Progress) -> kernel.Kernel:
    release = platform.release()
    image = Path("/boot") / f"vmlinuz-{release}"
    tree = Path("/lib/modules") / release
    if not image.exists():
        image = tree / "vmlinuz"
    if not image.exists():
        raise MissingError(
            f"no image of the running kernel {release} is in /boot or {tree}: "
            "runoff kernel add file:VMLINUZ names one, runoff kernel add debian fetches one"
        )
    return _add_local(f"host:{release}", image, tree, progress)


def _add_file(rest: str, progress: cache.Progress) -> kernel.Kernel:
    file, _, option = rest.partition(",")
    key, _, value = option.partition("=")
    if option and key != "modules":
        raise UsageError(f"{option!r} is not an option of a kernel file: give file:VMLINUZ,modules=DIR")
    image = Path(file).absolute()
    tree = Path(value).absolute() if value else None
    for needed in filter(None, (image, tree)):
        if not needed.exists():
            raise MissingError(f"{needed} does not exist: give file:VMLINUZ[,modules=DIR]")
    release = vmlinuz.read_release(image.read_bytes())
    if release is None:
        raise UsageError(f"{image} is not an x86 Linux kernel: give a vmlinuz or vmlinux")
    return _add_local(f"file:{release}", image, tree, progress)


def _add_local(name: str, image: Path, tree: Path | None, progress: cache.Progress) -> kernel.Kernel:
    """Store a kernel of this machine; one of the same name that differs is replaced."""
    digest = cache.sha256(image)
    directory = kernel.directory_of(name)
    if kernel.is_whole(directory) and kernel.find(name).meta.packages.get("image", {}).get("sha256") != digest:
        progress(f"replacing {name}: its image has changed")
        shutil.rmtree(directory)
    release = name.partition(":")[2]
    with cache.build_directory(directory, progress, kernel.is_whole) as part:
        if part is not None:
            _store(
                part,
                name=name,
                origin=str(image),
                image=image,
                config=_local_config(release, image, tree),
                module_source=tree if tree and tree.is_dir() else None,
                packages=[debian.Package("image", str(image), digest, image)],
                progress=progress,
            )
    return kernel.find(name)


def _local_config(release: str, image: Path, tree: Path | None) -> Path | None:
    places = [image.parent / f"config-{release}", Path("/boot") / f"config-{release}", image.parent / "config"]
    if tree:
        places += [tree / "config", tree / "build/.config"]
    if release == platform.release():
        places.append(Path("/proc/config.gz"))
    return next((place for place in places if place.exists()), None)


def _store(
    part: Path,
    *,
    name: str,
    origin: str,
    image: Path | None,
    config: Path | None,
    module_source: Path | None,
    packages: list[debian.Package],
    progress: cache.Progress,
) -> None:
    release = name.partition(":")[2]
    if image is None:
        raise MissingError(f"the packages of {name} hold no vmlinuz: choose another version")
    progress(f"unpacking the image of {name}")
    packed = image.read_bytes()
    elf = vmlinuz.extract_payload(packed)
    (part / "vmlinux").write_bytes(elf or packed)
    text = _config_text(config, elf)
    if text is not None:
        (part / "config").write_text(text)
    if module_source is not None:
        tree = kernel.module_tree(part, release)
        modules.copy(module_source, tree)
        modules.index(part, release)
        stored = modules.Modules(tree, part / "ko")
        for module in filter(stored.has, modules.LAB):
            stored.files(module)
    kernel.write_meta(
        part,
        kernel.Meta(
            name=name,
            release=release,
            version=origin,
            sched_ext=_is_enabled(text, "SCHED_CLASS_EXT"),
            btf=_is_enabled(text, "DEBUG_INFO_BTF"),
            objection=_find_objection(part / "vmlinux") if elf and _is_enabled(text, "DEBUG_INFO_BTF") else None,
            hz=int(found.group(1)) if text and (found := re.search(r"^CONFIG_HZ=(\d+)$", text, re.MULTILINE)) else None,
            elf=elf is not None,
            sha256=cache.sha256(part / "vmlinux"),
            config_sha256=text and hashlib.sha256(text.encode()).hexdigest(),
            packages={package.name: {"version": package.version, "sha256": package.sha256} for package in packages},
        ),
    )


def _find_objection(image: Path) -> str | None:
    """Ask the agent why schedulers cannot be attached although the configuration has sched_ext."""
    found: str | None = json.loads(tools.run([find_agent(), "kernel-types", image], what="reading the kernel's types"))
    return found


def _config_text(config: Path | None, elf: bytes | None) -> str | None:
    if config is None:
        return vmlinuz.extract_config(elf) if elf else None
    data = config.read_bytes()
    return (gzip.decompress(data) if config.suffix == ".gz" else data).decode()


def _is_enabled(config: str | None, option: str) -> bool | None:
    return None if config is None else f"\nCONFIG_{option}=y\n" in f"\n{config}\n"


def _find_first(tree: Path, *paths: str) -> Path | None:
    """Return the first path that exists, in a tree whose packages may or may not have merged /usr."""
    candidates = (tree / prefix / path for path in paths for prefix in ("usr", "."))
    return next((path for path in candidates if path.exists()), None)

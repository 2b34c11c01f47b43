"""Where kernels come from: Debian's packages, the running machine, a file."""

import gzip
import hashlib
import platform
import re
import shutil
import tempfile
from collections.abc import Iterable
from pathlib import Path

from runoff.engines.lab import cache, debian, kernel, modules, tools, vmlinuz
from runoff.errors import MissingError, UsageError

_META_PACKAGE = "linux-image-cloud-amd64"
_IMAGE = re.compile(r"linux-image-(\d+\.\d+\.\d+\S*-cloud-amd64)")
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
            raise UsageError(f"{spec!r} is no kernel to add: give {_FORMS}")


def candidates(names: Iterable[str], version: str) -> list[str]:
    """The signed image packages among ``names`` whose release begins with ``version``, the newest first."""
    releases = {found.group(1) for name in names if (found := _IMAGE.fullmatch(name))}
    fitting = [release for release in releases if kernel.matches(release, version)]
    return [f"linux-image-{release}" for release in sorted(fitting, key=kernel.release_key, reverse=True)]


def _add_debian(version: str, mirror: str | None, progress: cache.Progress) -> kernel.Kernel:
    archive = debian.open_archive(mirror, progress)
    image = _debian_image(archive, version, progress)
    release = image.removeprefix("linux-image-")
    name = f"debian:{release}"
    with cache.building(kernel.directory_of(name), progress) as part:
        if part is not None:
            with tempfile.TemporaryDirectory(dir=part) as scratch:
                tree, packages = _unpack(archive, image, Path(scratch), progress)
                _store(
                    part,
                    name=name,
                    origin=packages[0].version,
                    image=_first(tree, f"lib/modules/{release}/vmlinuz", f"boot/vmlinuz-{release}"),
                    config=_first(tree, f"lib/modules/{release}/config", f"boot/config-{release}"),
                    module_source=_first(tree, f"lib/modules/{release}"),
                    packages=packages,
                    progress=progress,
                )
    return kernel.find(name)


def _debian_image(archive: debian.Archive, version: str, progress: cache.Progress) -> str:
    """The image package: what the metapackage of the backports points to, or the newest that fits ``version``.

    Archives keep an old image longer than the packages it was split into; one that has lost a part is passed over.
    """
    if version:
        names = archive.names("linux-image-")
    else:
        names = re.findall(r"linux-image-\S+", archive.fields(_META_PACKAGE, debian.BACKPORTS).get("Depends", ""))
    for image in candidates(names, version):
        try:
            for part in _parts(archive, image):
                archive.fields(part, debian.BACKPORTS)
        except MissingError as incomplete:
            progress(f"passing over {image}: {incomplete}")
        else:
            return image
    raise MissingError(
        f"the Debian archive {archive.address} has no whole cloud kernel {version or _META_PACKAGE}: "
        "try a shorter version such as debian:7, or debian for the newest"
    )


def _parts(archive: debian.Archive, image: str) -> list[str]:
    """The image package and those it was split into."""
    release = image.removeprefix("linux-image-")
    depends = archive.fields(image, debian.BACKPORTS).get("Depends", "")
    return [image, *sorted(set(re.findall(rf"linux-\w+-{re.escape(release)}", depends)) - {image})]


def _unpack(
    archive: debian.Archive, image: str, scratch: Path, progress: cache.Progress
) -> tuple[Path, list[debian.Package]]:
    """Fetch the image and the packages it was split into, and unpack them over each other."""
    parts = _parts(archive, image)
    progress(f"fetching {', '.join(parts)}")
    packages = archive.download(parts, scratch, debian.BACKPORTS)
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
        raise UsageError(f"{option!r} is no option of a kernel file: give file:VMLINUZ,modules=DIR")
    image = Path(file).absolute()
    tree = Path(value).absolute() if value else None
    for needed in filter(None, (image, tree)):
        if not needed.exists():
            raise MissingError(f"{needed} does not exist: give file:VMLINUZ[,modules=DIR]")
    release = vmlinuz.release(image.read_bytes())
    if release is None:
        raise UsageError(f"{image} is no x86 Linux kernel: give a vmlinuz or vmlinux")
    return _add_local(f"file:{release}", image, tree, progress)


def _add_local(name: str, image: Path, tree: Path | None, progress: cache.Progress) -> kernel.Kernel:
    """Store a kernel of this machine; one of the same name that differs is replaced."""
    digest = cache.sha256(image)
    directory = kernel.directory_of(name)
    if directory.exists() and kernel.find(name).meta.packages.get("image", {}).get("sha256") != digest:
        progress(f"replacing {name}: its image has changed")
        shutil.rmtree(directory)
    release = name.partition(":")[2]
    with cache.building(directory, progress) as part:
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
    elf = vmlinuz.payload(packed)
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
            sched_ext=_enabled(text, "SCHED_CLASS_EXT"),
            btf=_enabled(text, "DEBUG_INFO_BTF"),
            hz=int(found.group(1)) if text and (found := re.search(r"^CONFIG_HZ=(\d+)$", text, re.MULTILINE)) else None,
            elf=elf is not None,
            sha256=cache.sha256(part / "vmlinux"),
            config_sha256=text and hashlib.sha256(text.encode()).hexdigest(),
            packages={package.name: {"version": package.version, "sha256": package.sha256} for package in packages},
        ),
    )


def _config_text(config: Path | None, elf: bytes | None) -> str | None:
    if config is None:
        return vmlinuz.embedded_config(elf) if elf else None
    data = config.read_bytes()
    return (gzip.decompress(data) if config.suffix == ".gz" else data).decode()


def _enabled(config: str | None, option: str) -> bool | None:
    return None if config is None else f"\nCONFIG_{option}=y\n" in f"\n{config}\n"


def _first(tree: Path, *paths: str) -> Path | None:
    """The first that exists, in a tree whose packages may or may not have merged /usr."""
    candidates = (tree / prefix / path for path in paths for prefix in ("usr", "."))
    return next((path for path in candidates if path.exists()), None)

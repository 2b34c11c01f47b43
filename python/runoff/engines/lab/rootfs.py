"""Root file system trees: from Debian packages and sources by mmdebstrap, or from a tarball."""

import os
import re
import shutil
from collections.abc import Sequence
from pathlib import Path

from runoff.engines import ext4, tools
from runoff.engines.lab import cache, debian
from runoff.errors import RunoffError

MOUNT_POINTS = ("proc", "sys", "dev", "tmp", "run", "scratch")
"""Directories that the guest's agent mounts something on."""
USUAL = (ext4.PACKAGE, "mount")
"""Packages that every tree has: the image is made with the first, and preparations mount with the second."""
_DOCUMENTATION = (
    "/usr/share/doc/*",
    "/usr/share/doc-base/*",
    "/usr/share/info/*",
    "/usr/share/lintian/*",
    "/usr/share/locale/*",
    "/usr/share/man/*",
    "/usr/share/bash-completion/*",
)
_LEFTOVERS = ("var/cache", "var/log", "var/lib/apt", "var/backups")
_BYTECODE = "usr/share/python3/debpython/__pycache__"
"""Left by Debian's own scripts while they install, not the same under each version of mmdebstrap."""
_WORLD_WRITABLE = 0o1777


def bootstrap(
    archive: debian.Archive, packages: Sequence[str], sources: Sequence[str], scratch: Path, progress: cache.Progress
) -> Path:
    """Return a tree with the essential packages, ``USUAL``, ``packages``, and each of ``sources`` in /usr/src/NAME.

    Raises:
        MissingError: mmdebstrap, a package or a source is not there.
        RunoffError: mmdebstrap failed.
    """
    for package in packages:
        archive.fields(package)
    fetched = {source: _fetch_source(archive, source, scratch, progress) for source in sources}
    progress(f"installing {', '.join(packages) or 'the essential packages'} in a tree of its own (about a minute)")
    tarball = scratch / "rootfs.tar"
    tools.run(_mmdebstrap(archive, packages, tarball), what="mmdebstrap", env={"SOURCE_DATE_EPOCH": str(ext4.EPOCH_S)})
    tree = unpack(tarball, scratch)
    tarball.unlink()
    for leftover in _LEFTOVERS:
        shutil.rmtree(tree / leftover, ignore_errors=True)
        (tree / leftover).mkdir(parents=True)
    shutil.rmtree(tree / _BYTECODE, ignore_errors=True)
    for source, description in fetched.items():
        _unpack_source(source, description, tree / "usr/src" / source)
    return tree


def set_up(tree: Path, commands: Sequence[Sequence[str]], progress: cache.Progress) -> None:
    """Run each command with the tree as its root directory and the machine's /dev and /proc in it.

    Raises:
        RunoffError: a command failed; the end of its output is in the message.
    """
    unshare = tools.require("unshare", "util-linux")
    # Without root's rights a user namespace provides them, as in mmdebstrap.
    namespace = ["--mount"] if os.geteuid() == 0 else ["--mount", "--map-root-user"]
    mounts = 'mount --rbind /dev "$1/dev" && mount --rbind /proc "$1/proc" && exec chroot "$@"'
    for argv in commands:
        progress(f"setting up the tree: {' '.join(argv)[:60]}")
        tools.run([unshare, *namespace, "sh", "-ec", mounts, "sh", tree, *argv], what="setting up the tree")


def unpack(tarball: Path, scratch: Path) -> Path:
    """Unpack a root tarball of any compression `tar` knows; owners and device nodes are left out.

    Raises:
        RunoffError: it is not a tarball, or it has no /bin or /usr.
    """
    tree = scratch / "tree"
    tree.mkdir()
    options = "-x -p --no-same-owner --delay-directory-restore --anchored --exclude=./dev/* --exclude=dev/*"
    command: list[str | Path] = [tools.require("tar", "tar"), *options.split(), "-C", tree, "-f", tarball]
    tools.run(command, what=f"unpacking {tarball.name}")
    if not (tree / "usr").is_dir() and not (tree / "bin").exists():
        raise RunoffError(f"{tarball.name} is not a root file system: it has no /usr; pack one with tar -C ROOT -c .")
    # The builder may not be root: it has to read everything, and to remove the tree afterwards.
    tools.run([tools.require("chmod", "coreutils"), "-R", "u+rwX", tree], what=f"opening the tree of {tarball.name}")
    for point in MOUNT_POINTS:
        (tree / point).mkdir(exist_ok=True)
    (tree / "tmp").chmod(_WORLD_WRITABLE)
    return tree


def list_installed(tree: Path) -> dict[str, str]:
    """Return versions of the Debian packages installed in a tree, by name; empty for other systems."""
    status = tree / "var/lib/dpkg/status"
    if not status.exists():
        return {}
    found = {}
    for stanza in status.read_text(errors="replace").split("\n\n"):
        fields = dict(re.findall(r"^(Package|Version|Status): (.*)$", stanza, re.MULTILINE))
        if fields.get("Status", "").endswith(" installed"):
            found[fields["Package"]] = fields["Version"]
    return found


def _mmdebstrap(archive: debian.Archive, packages: Sequence[str], tarball: Path) -> list[str]:
    options = [f"--include={','.join([*packages, *USUAL])}"]
    options += [f"--dpkgopt=path-exclude={pattern}" for pattern in _DOCUMENTATION]
    options += [f'--aptopt={name} "{value}"' for name, value in archive.proxies().items()]
    line = f"deb [signed-by={debian.keyring()}] {archive.address} {debian.SUITE} main"
    program = tools.require("mmdebstrap", "mmdebstrap")
    architecture = "--architectures=amd64"
    return [program, "--variant=essential", "--format=tar", architecture, *options, debian.SUITE, str(tarball), line]


def _fetch_source(archive: debian.Archive, source: str, scratch: Path, progress: cache.Progress) -> Path:
    progress(f"fetching the source of {source}")
    directory = scratch / f"source-{source}"
    directory.mkdir()
    return archive.download_source(source, directory)


def _unpack_source(source: str, description: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    unpacker = tools.require("dpkg-source", "dpkg-dev")
    # Apt has checked every file of the source against the signed index, so the maintainer's own signature adds nothing.
    tools.run([unpacker, "--no-check", "-x", description, target], what=f"unpacking the source of {source}")

"""How programs are installed on this distribution."""

import platform
from collections.abc import Iterable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Distribution:
    """A family of distributions with one package manager."""

    install: str
    """Command before the names of packages."""
    names: Mapping[str, str | None]
    """Packages that are called otherwise than Debian's; None for one that there is not."""

    def has(self, debian: str) -> bool:
        """Return whether there is a package that has what this one of Debian has."""
        return bool(self.install) and self.names.get(debian, debian) is not None

    def render_install(self, debian: Iterable[str]) -> str:
        """Return the command that installs what these packages of Debian have."""
        names = [self.names.get(name, name) for name in debian]
        wanted = " ".join(dict.fromkeys(name for name in names if name is not None))
        return f"{self.install} {wanted}" if self.install else f"install what Debian has in {wanted}"


DEBIAN = Distribution("sudo apt-get install", {})
FEDORA = Distribution(
    "sudo dnf install",
    {
        "qemu-system-x86": "qemu-system-x86-core",
        "debian-archive-keyring": "debian-keyring",
        "xz-utils": "xz",
        "pkg-config": "pkgconf-pkg-config",
        "libglib2.0-dev": "glib2-devel",
        "zlib1g-dev": "zlib-devel",
        "python3-venv": "python3",
        "rt-tests": "realtime-tests",
        "libc6-dev": "glibc-devel",
        "ffmpeg": "ffmpeg-free",
        "linux-source-6.12": None,
        "grub2-common": "grub2-tools",
        "systemd-boot": "systemd-udev",
        "postgresql": "postgresql-server postgresql-contrib",
        "rt-app": None,
    },
)
ARCH = Distribution(
    "sudo pacman -S",
    {
        "qemu-system-x86": "qemu-base",
        "mmdebstrap": None,
        "dpkg-dev": "dpkg",
        "xz-utils": "xz",
        "pkg-config": "pkgconf",
        "libglib2.0-dev": "glib2",
        "zlib1g-dev": "zlib",
        "python3-venv": "python",
        "libc6-dev": "glibc",
        "linux-source-6.12": None,
        "grub2-common": "grub",
        "systemd-boot": "systemd",
        "redis-server": "valkey",
        "redis-tools": "valkey",
        "rt-app": None,
    },
)
OTHER = Distribution("", {})
"""One that is not known: no command can be given."""

_FAMILIES = {"debian": DEBIAN, "ubuntu": DEBIAN, "fedora": FEDORA, "arch": ARCH}


def find_distribution() -> Distribution:
    """Return this machine's, by its own description; ``OTHER`` for one that is not known."""
    try:
        release = platform.freedesktop_os_release()
    except OSError:
        return OTHER
    for name in (release.get("ID", ""), *release.get("ID_LIKE", "").split()):
        if name in _FAMILIES:
            return _FAMILIES[name]
    return OTHER


def render_install(debian: Iterable[str]) -> str:
    """Return what installs here what these packages of Debian have."""
    return find_distribution().render_install(debian)

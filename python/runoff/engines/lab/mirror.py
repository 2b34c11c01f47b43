"""Finds the Debian archive for packages: the user's choice, the machine's own, or the one that mmdebstrap would use."""

import os
import re
import subprocess

from runoff.engines import tools
from runoff.errors import MissingError, UsageError
from runoff.files import temporary_directory

VARIABLE = "RUNOFF_DEBIAN_MIRROR"
SUITE = "trixie"
_NONE_FOUND = f"no Debian archive is known on this machine: name one with --mirror URL or {VARIABLE}"


def resolve(chosen: str | None) -> str:
    """Return the archive's base address, without a trailing slash.

    Raises:
        UsageError: the chosen one is not an address apt understands.
        MissingError: none was chosen and the machine knows none.
    """
    wanted = chosen or os.environ.get(VARIABLE)
    if wanted:
        if not re.match(r"(https?|file|copy|mirror)[:+]", wanted) or re.search(r"\s", wanted):
            raise UsageError(f"{wanted!r} is not an archive's address: give one such as http://HOST/debian")
        return wanted.rstrip("/")
    found = _read_apt_sources() or _read_mmdebstrap_sources()
    if found is None:
        raise MissingError(_NONE_FOUND)
    return found.rstrip("/")


def pick(index_targets: str) -> str | None:
    """Choose from ``apt-get indextargets`` lines of origin, address and code name, separated by ``|``.

    The security archive has only updates, so it is skipped.
    """
    for line in index_targets.splitlines():
        origin, address, codename = [*line.split("|"), "", ""][:3]
        if origin == "Debian" and not codename.endswith("-security") and "security" not in address:
            return address
    return None


def _read_apt_sources() -> str | None:
    apt = tools.locate("apt-get")
    if apt is None:
        return None
    listing = subprocess.run(
        [apt, "indextargets", "--format", "$(ORIGIN)|$(REPO_URI)|$(CODENAME)", "Created-By: Packages"],
        capture_output=True,
        text=True,
        check=False,
    )
    return pick(listing.stdout)


def _read_mmdebstrap_sources() -> str | None:
    """Let mmdebstrap set up its sources, read them, and stop it before it fetches anything."""
    program = tools.locate("mmdebstrap")
    if program is None:
        return None
    with temporary_directory() as directory:
        hook = 'cat "$1"/etc/apt/sources.list; exit 1'
        shown = subprocess.run(
            [program, "--variant=essential", "--format=null", f"--setup-hook={hook}", SUITE],
            cwd=directory,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
    line = re.search(rf"^deb (?:\[[^]]*\] )?(\S+) {SUITE} ", shown.stdout + shown.stderr, re.MULTILINE)
    return line.group(1) if line else None

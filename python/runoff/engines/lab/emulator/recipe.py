"""The source, patches and configuration of runoff's QEMU. Its name is their digest."""

import hashlib
import json
from pathlib import Path

VERSION = "10.0.13"
TARBALL = f"pool/main/q/qemu/qemu_{VERSION}+ds.orig.tar.xz"
"""Path below the address of a Debian archive: upstream's source without binary files."""
TARBALL_SHA256 = "6a0888e806c2ffc0c5f0733e974f9aea55491950d3c47c98669c8b236dde59ae"
TREE = f"qemu-{VERSION}"
"""The directory in the tarball."""

_HERE = Path(__file__).parent
QUANTUM = _HERE / "quantum.patch"
"""Adds -icount quantum=N: see the comment above icount_is_awake() in it."""
TLB = _HERE / "tlb.patch"
"""Keeps the host's clock out of what a guest sees: see the comment above tlb_window_now() in it."""
PATCHES = (QUANTUM, TLB)
DEVICES = _HERE / "devices.mak"
"""All that a guest has: QEMU's configuration of devices."""
TOOLS = _HERE / "build-tools.txt"

CONFIGURE = (
    "--target-list=x86_64-softmmu",
    "--without-default-features",
    "--without-default-devices",
    "--with-devices-x86_64=runoff",
    "--enable-tcg",
    "--enable-system",
    "--disable-docs",
    "--disable-tools",
    "--disable-fdt",
    "--disable-debug-info",
    "--enable-trace-backends=nop",
    "--disable-download",
    # The machine's own QEMU brings the firmware.
    "--disable-install-blobs",
    "--firmwarepath=/usr/share/qemu:/usr/share/seabios",
    # Asserts name the files of the source: the program must not depend on the cache in which it is built.
    "--extra-cflags=-ffile-prefix-map={scratch}=.",
)
"""Options of configure; {scratch} is the directory of the source and the build."""

_NAME_LENGTH = 12


def name() -> str:
    """Return the version and a digest of all of this."""
    parts = [path.read_text(encoding="utf-8") for path in (*PATCHES, DEVICES, TOOLS)]
    text = json.dumps([VERSION, TARBALL_SHA256, CONFIGURE, *parts])
    return f"{VERSION}-{hashlib.sha256(text.encode()).hexdigest()[:_NAME_LENGTH]}"

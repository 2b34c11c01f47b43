"""KVM where a guest really boots in it, else QEMU's multi-threaded emulation."""

import functools
import hashlib
import json
import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

from runoff.engines import tools
from runoff.engines.agent import AgentLost
from runoff.engines.lab import cache, qemu
from runoff.engines.lab.guest import Cargo, Orders, boot
from runoff.engines.lab.kernel import Kernel
from runoff.files import temporary_directory, write_whole

KVM = Path("/dev/kvm")

PROBE_LIMIT_S = 10.0

SAFE_QEMU = (8, 1)


def choose(kernel: Kernel, say: Callable[[str], None]) -> tuple[qemu.Accelerator, str]:
    """Return the accelerator and, for emulation, why. A device that can be opened is not enough: a guest is booted in
    it, once per boot of this machine, QEMU and kernel."""
    if not os.access(KVM, os.R_OK | os.W_OK):
        return "tcg", f"{KVM} cannot be used here"
    memory = cache.root() / f"kvm-{_identity(kernel)}.json"
    try:
        why = json.loads(memory.read_text(encoding="utf-8"))["why"]
    except (OSError, ValueError, KeyError):
        say("booting a guest to see whether KVM works here")
        with temporary_directory() as folder:
            why = _probe_kvm(kernel, folder)
        memory.parent.mkdir(parents=True, exist_ok=True)
        write_whole(memory, json.dumps({"why": why}).encode())
    return ("tcg", why) if why else ("kvm", "")


def _probe_kvm(kernel: Kernel, folder: Path) -> str:
    """Return why KVM does not work, or nothing."""
    machine = qemu.Machine(
        kernel=kernel.vmlinux,
        initramfs=folder / "initramfs",
        console=folder / "console.txt",
        cpus=2,
        memory_mb=512,
        clock="real",
        accelerator="kvm",
    )
    try:
        boot(folder, machine, kernel, Cargo(), Orders(), PROBE_LIMIT_S).close()
    except AgentLost as lost:
        return f"KVM does not carry this kernel here: {lost}"
    return ""


def _identity(kernel: Kernel) -> str:
    boot_id = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii")
    return hashlib.sha256(f"{boot_id}{qemu_version()}{kernel.sha256}".encode()).hexdigest()[:16]


def find_unsafe_emulation(cpus: int) -> str:
    """Return why guests with this many emulated CPUs may crash here, or nothing.

    Before 8.1 QEMU reads a page of guest code without its lock while it translates, so that a CPU may execute a
    byte that another has already patched back; the kernel patches itself whenever a scheduler is attached.
    """
    found = re.search(r"version (\d+)\.(\d+)", qemu_version())
    if cpus == 1 or found is None or (int(found[1]), int(found[2])) >= SAFE_QEMU:
        return ""
    return f"QEMU {found[1]}.{found[2]} crashes guests with several emulated CPUs now and then: use 8.1 or newer"


@functools.cache
def qemu_version() -> str:
    """Return the first line of QEMU's version output."""
    output = subprocess.run([qemu.PROGRAM, "--version"], capture_output=True, text=True, check=False).stdout
    return output.partition("\n")[0]


@functools.cache
def qemu_sha256() -> str:
    """Return the SHA-256 of the program."""
    return tools.hash_programs([qemu.PROGRAM])[qemu.PROGRAM]

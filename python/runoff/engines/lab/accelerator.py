"""KVM where a guest really boots in it, else QEMU's multi-threaded emulation."""

import functools
import hashlib
import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

from runoff.engines.agent import AgentLost
from runoff.engines.lab import cache, qemu
from runoff.engines.lab.guest import Cargo, Orders, boot
from runoff.engines.lab.kernel import Kernel

KVM = Path("/dev/kvm")

PROBE_LIMIT_S = 30.0


def choose(kernel: Kernel, folder: Path, say: Callable[[str], None]) -> tuple[qemu.Accelerator, str]:
    """The accelerator and, for emulation, why. A device that opens proves nothing: a guest is booted
    in it, once per boot of this machine, QEMU and kernel."""
    if not os.access(KVM, os.R_OK | os.W_OK):
        return "tcg", f"{KVM} cannot be used here"
    memory = cache.root() / f"kvm-{_identity(kernel)}.json"
    try:
        why = json.loads(memory.read_text(encoding="utf-8"))["why"]
    except (OSError, ValueError, KeyError):
        say("booting a guest to see whether KVM works here")
        why = _probe(kernel, folder)
        memory.write_text(json.dumps({"why": why}), encoding="utf-8")
    return ("tcg", why) if why else ("kvm", "")


def _probe(kernel: Kernel, folder: Path) -> str:
    """Why KVM does not work, or nothing."""
    probe = folder / "kvm-probe"
    probe.mkdir(parents=True, exist_ok=True)
    machine = qemu.Machine(
        kernel=kernel.vmlinux,
        initramfs=probe / "initramfs",
        console=probe / "console.txt",
        cpus=2,
        memory_mb=512,
        clock="real",
        accelerator="kvm",
    )
    try:
        boot(probe, machine, kernel, Cargo(), Orders(), PROBE_LIMIT_S).close()
    except AgentLost as lost:
        return f"KVM does not carry this kernel here: {lost}"
    return ""


def _identity(kernel: Kernel) -> str:
    boot_id = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii")
    return hashlib.sha256(f"{boot_id}{qemu_version()}{kernel.sha256}".encode()).hexdigest()[:16]


@functools.cache
def qemu_version() -> str:
    """First line of what QEMU says of itself."""
    output = subprocess.run([qemu.PROGRAM, "--version"], capture_output=True, text=True, check=False).stdout
    return output.partition("\n")[0]

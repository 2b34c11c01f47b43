"""One booted guest: its files, its agent, and the reason on its console when it dies."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from runoff.engines.agent import Agent, AgentLost, end_with_us, find_agent
from runoff.engines.lab import initramfs, qemu
from runoff.engines.lab.kernel import Kernel

IMAGE_MODULES = ("libnvdimm", "nd_btt", "nd_pmem", "nfit")
IMAGE_ROOT = "/image"
"""Where the guest mounts the image (crates/agent/src/guest/mounts.rs)."""
DISK_PLACE = "/scratch"
"""Where the guest mounts the disk, as work with the image as its root sees it."""
MEMORY_PLACE = "/tmp"
"""Where work with the image as its root sees the guest's memory."""


@dataclass(frozen=True, slots=True)
class Cargo:
    """The content of the initramfs besides the kernel's own files."""

    agent: Path = field(default_factory=find_agent)
    files: Mapping[str, Path | bytes] = field(default_factory=dict)
    """Files by path in the guest."""
    programs: Mapping[str, Path] = field(default_factory=dict)
    """Programs of the host and the libraries that they load, by path in the guest."""
    modules: Sequence[str] = ()
    """Kernel modules besides those that the guest's devices need."""


@dataclass(frozen=True, slots=True)
class Orders:
    """What makes this boot, or copy, different from the next."""

    seed: int | None = None
    requests: Sequence[Mapping[str, Any]] | None = None
    """Requests of the session that are there when it begins: under the virtual clock nothing may arrive from
    outside."""


class Guest:
    """A running guest; ``agent`` speaks with it."""

    def __init__(self, agent: Agent, console: Path, fingerprint: Mapping[str, Any], *, is_copy: bool = False) -> None:
        self.agent = agent
        self.fingerprint = fingerprint
        self._console = console
        self._is_copy = is_copy

    def last_words(self) -> str:
        return find_console_reason(self._console) or self.agent.last_words()

    def close(self) -> None:
        if self._is_copy:
            # A copy is not used again, so nothing needs to be put back.
            self.agent.kill()
        else:
            self.agent.close()

    def kill(self) -> None:
        self.agent.kill()


def boot(folder: Path, machine: qemu.Machine, kernel: Kernel, cargo: Cargo, orders: Orders, timeout_s: float) -> Guest:
    """Start a guest and wait for its agent. Raises AgentLost with the reason from the console."""
    pack(machine, kernel, cargo, orders)
    command = qemu.build_command(machine)
    agent = Agent(end_with_us(command), requests=orders.requests is None)
    try:
        fingerprint = agent.hello(timeout_s).fingerprint
    except AgentLost as lost:
        agent.kill()
        raise make_start_error(machine.console, agent, lost) from None
    finally:
        # QEMU has read it, and holds the others open, by the time the agent speaks.
        for file in (machine.initramfs, machine.disk, machine.swap):
            if file is not None:
                file.unlink(missing_ok=True)
    (folder / "qemu.txt").write_text(" ".join(command) + "\n", encoding="utf-8")
    return Guest(agent, machine.console, fingerprint)


def pack(machine: qemu.Machine, kernel: Kernel, cargo: Cargo, orders: Orders | None) -> None:
    """Write the initramfs; without ``orders`` for a guest that becomes a snapshot, whose copies get theirs later."""
    modules = _modules(kernel, [*(IMAGE_MODULES if machine.files else ()), *cargo.modules])
    initramfs.build(
        agent=cargo.agent,
        modules=modules,
        files={
            **kernel.guest_files(),
            **cargo.files,
            **_order_files(machine, [f"/modules/{module.name}" for module in modules], orders),
        },
        programs=cargo.programs,
        out=machine.initramfs,
    )


def make_start_error(console: Path, agent: Agent, why: Exception) -> AgentLost:
    """Return the error for a guest that did not start, with the best known reason."""
    return AgentLost(f"the guest did not start: {find_console_reason(console) or agent.last_words() or why}")


def _modules(kernel: Kernel, names: Sequence[str]) -> list[Path]:
    ordered: dict[Path, None] = {}
    for name in names:
        ordered.update(dict.fromkeys(kernel.module(name)))
    return list(ordered)


def _order_files(machine: qemu.Machine, modules: list[str], orders: Orders | None) -> dict[str, bytes]:
    files: dict[str, bytes] = {}
    requests = orders.requests if orders is not None else None
    if requests is not None:
        files["/requests.jsonl"] = b"".join(json.dumps(request).encode() + b"\n" for request in requests)
    files["/boot.json"] = json.dumps(
        {
            "modules": modules,
            **{name: name in machine.files for name in ("image", "disk", "swap")},
            "snapshot": orders is None,
            "seed": orders.seed if orders is not None else None,
            "requests": "/requests.jsonl" if requests is not None else None,
        }
    ).encode()
    return files


STALE = "Oops: int3: the emulator ran a stale instruction while the kernel changed its own code"
"""A fault of QEMU's emulation of several CPUs (docs/lab.md), not of the schedulers."""

_REASONS = (r"Kernel panic - not syncing: .*", r"the guest cannot start: .*", r"Out of memory.*", r"watchdog: BUG: .*")


def find_console_reason(console: Path) -> str:
    """Return the line of a guest's console that best says why it died, or nothing."""
    try:
        text = console.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    if "Oops: int3: " in text:
        return STALE
    for pattern in _REASONS:
        found = re.search(pattern, text)
        if found:
            return found[0].strip()
    return ""

"""Checks what this machine can do, without changing anything; each lack comes with the one command that mends it."""

import os
import platform
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from runoff.engine_kinds import ENGINES, load
from runoff.engines import cpu_limit, tools, ublk
from runoff.engines.agent import find_agent
from runoff.engines.distribution import find_distribution, render_install
from runoff.engines.lab import accelerator, debian, image, kernel, qemu
from runoff.engines.lab.emulator import build
from runoff.engines.lab.emulator import store as emulator
from runoff.engines.questions import find_in_charge
from runoff.errors import RunoffError
from runoff.installed import name_command_for_root

OWN_QEMU = "QEMU of runoff's"
"""The name of the finding about it."""

State = Literal["yes", "no", "note"]
"""``note`` is neither good nor bad: something to know."""
EVERYWHERE = "all"
"""The area of what every engine needs."""


@dataclass(frozen=True, slots=True)
class Finding:
    """The answer to one question about this machine."""

    area: str
    """The engine that needs it, or `EVERYWHERE`."""
    name: str
    state: State
    detail: str
    fix: str | None = None
    """The command that mends it, or what to do if no command can."""
    packages: tuple[str, ...] = ()
    """Debian's names of the packages that mend it, where this distribution has them."""


def examine() -> list[Finding]:
    """Return all findings, in the order to read them."""
    return [_check_agent(), *(finding for name in ENGINES for finding in examine_engine(name))]


def examine_engine(name: str) -> Iterable[Finding]:
    """Yield the findings that are about one engine."""
    findings: Iterable[Finding] = load(ENGINES[name].findings)() if ENGINES[name].findings else ()
    return findings


def is_able(findings: list[Finding], name: str) -> bool:
    """Return whether nothing that this engine needs is missing."""
    return all(finding.state != "no" for finding in findings if finding.area in (name, EVERYWHERE))


def advise(findings: Iterable[Finding]) -> str:
    """Return what mends all of these, in as few commands as possible."""
    findings = list(findings)
    packages = [package for finding in findings for package in finding.packages]
    install = [render_install(packages)] if packages else []
    return "; ".join([*install, *dict.fromkeys(f.fix for f in findings if f.fix and not f.packages)])


def _check_agent() -> Finding:
    try:
        return Finding(EVERYWHERE, "agent", "yes", str(find_agent()))
    except RunoffError as error:
        return Finding(EVERYWHERE, "agent", "no", str(error), "make setup")


def _check_sched_ext() -> Finding:
    state = Path("/sys/kernel/sched_ext/state")
    release = platform.release()
    if state.exists():
        return Finding("host", "sched_ext", "yes", f"kernel {release}, now {state.read_text().strip()}")
    return Finding(
        "host",
        "sched_ext",
        "no",
        f"kernel {release} cannot attach schedulers",
        "boot a kernel 6.12 or newer with CONFIG_SCHED_CLASS_EXT, or compare with --on lab",
    )


def _check_in_charge() -> Finding:
    try:
        held = find_in_charge()
    except RunoffError as error:
        return Finding("host", "in charge", "note", f"unknown: {error}")
    if held is None:
        return Finding("host", "in charge", "yes", "the kernel's own scheduler")
    by = held["unit"] or (f"process {held['pid']} ({held['program']})" if held["pid"] else "")
    return Finding(
        "host",
        "in charge",
        "note",
        f"{held['ops']}{f', by {by}' if by else ''}",
        "end it, or give --take-over if it is a service's",
    )


def _check_btf() -> Finding:
    path = Path("/sys/kernel/btf/vmlinux")
    if path.exists():
        return Finding("host", "BTF", "yes", str(path))
    return Finding(
        "host",
        "BTF",
        "no",
        f"{path} does not exist",
        "boot a kernel with CONFIG_DEBUG_INFO_BTF, or compare with --on lab",
    )


def _check_root() -> Finding:
    if os.geteuid() == 0:
        return Finding("host", "root", "yes", "attaching schedulers is allowed")
    return Finding("host", "root", "no", "attaching schedulers needs root", f"{name_command_for_root()} ...")


def _check_cgroup() -> Finding:
    top = cpu_limit.find_hierarchy()
    if top is not None:
        return Finding("host", "cgroup v2", "yes", str(top))
    return Finding(
        "host", "cgroup v2", "no", "no such hierarchy is mounted", "sudo mount -t cgroup2 none /sys/fs/cgroup"
    )


def _check_cpu_limit() -> Finding:
    top = cpu_limit.find_hierarchy()
    # The topmost group of a machine has no such file.
    file = None if top is None else top / "cpu.max"
    limit = None if file is None or not file.exists() else cpu_limit.describe_limit(file.read_text())
    return Finding("host", "CPU limit", "yes" if limit is None else "note", limit or "none")


def _make_program_check(program: str, package: str, purpose: str) -> Callable[[], Finding]:
    def check() -> Finding:
        path = tools.locate(program)
        if path:
            return Finding("lab", program, "yes", path)
        return _report_missing(program, package, f"not installed; {purpose}", is_maker=package in _MAKERS)

    return check


def _check_lab_qemu() -> Finding:
    found = _make_program_check(qemu.PROGRAM, "qemu-system-x86", "it boots the guests")()
    fault = accelerator.find_unsafe_emulation(cpus=2) if found.state == "yes" else ""
    return replace(found, state="note", detail=f"{found.detail}: {fault}") if fault else found


_MAKERS = ("mmdebstrap", "dpkg-dev", "apt", debian.KEYRING_PACKAGE)
"""Packages that fetch kernels and make images: the lab does without them where others made these."""
_OTHERS_MAKE = "use a kernel and an image made elsewhere (docs/lab.md#other-distributions)"


def _report_missing(name: str, package: str, detail: str, *, is_maker: bool) -> Finding:
    state: State = "note" if is_maker and _has_kernel_and_image() else "no"
    if is_maker and not find_distribution().has(package):
        return Finding("lab", name, state, detail, _OTHERS_MAKE)
    return Finding("lab", name, state, detail, render_install([package]), (package,))


def _has_kernel_and_image() -> bool:
    return bool(image.list_stored()) and any(each.sched_ext for each in kernel.list_stored())


def _check_keyring() -> Finding:
    if debian.KEYRING.exists():
        return Finding("lab", "Debian keys", "yes", str(debian.KEYRING))
    detail = "not installed; packages could not be checked"
    return _report_missing("Debian keys", debian.KEYRING_PACKAGE, detail, is_maker=True)


def _check_kernel() -> Finding:
    try:
        found = kernel.find_default()
    except RunoffError:
        return Finding("lab", "kernel", "no", "none with sched_ext in the cache", "runoff kernel add debian")
    return Finding("lab", "kernel", "yes", found.name)


def _check_image() -> Finding:
    found = image.list_stored()
    if found:
        return Finding("lab", "images", "yes", ", ".join(each.name for each in found))
    return Finding("lab", "images", "note", "none yet; the first run makes the one it needs in about a minute")


def _check_qemu() -> Finding:
    try:
        found = emulator.find_current()
    except RunoffError as error:
        return Finding("lab", OWN_QEMU, "no", str(error), "runoff qemu build")
    if found is None:
        detail = "not built: the virtual clock has one CPU, and a boot for each sample"
        lacking = tuple(build.list_lacking())
        first = f"{render_install(lacking)}; then: " if lacking else ""
        return Finding("lab", OWN_QEMU, "note", detail, f"{first}runoff qemu build", lacking)
    return Finding("lab", OWN_QEMU, "yes", found.name)


def _check_kvm() -> Finding:
    device = Path("/dev/kvm")
    if not device.exists():
        detail = "no /dev/kvm: guests run under emulation, which is slower and says so in every table"
        return Finding("lab", "KVM", "note", detail)
    if not os.access(device, os.R_OK | os.W_OK):
        detail = "/dev/kvm may not be opened: guests run under emulation"
        return Finding("lab", "KVM", "note", detail, "sudo usermod -aG kvm $USER, then log in again")
    return Finding("lab", "KVM", "note", "/dev/kvm is there; whether a guest boots in it is tried at the first run")


def _check_ublk() -> Finding:
    if ublk.CONTROL.exists():
        return Finding("host", "ublk", "yes", str(ublk.CONTROL))
    detail = f"{ublk.CONTROL} does not exist; it is needed for arms with +io= without --place, and for runoff disk"
    return Finding("host", "ublk", "note", detail, "sudo modprobe ublk_drv")


_HOST_CHECKS = (
    _check_sched_ext,
    _check_in_charge,
    _check_btf,
    _check_root,
    _check_cgroup,
    _check_cpu_limit,
    _check_ublk,
)
_LAB_CHECKS = (
    _check_lab_qemu,
    _make_program_check("mmdebstrap", "mmdebstrap", "it makes root file systems"),
    _make_program_check("mke2fs", "e2fsprogs", "it makes their images"),
    _make_program_check("depmod", "kmod", "it orders a kernel's modules"),
    _make_program_check("dpkg-source", "dpkg-dev", "it unpacks the sources that workloads compile"),
    _make_program_check("apt-get", "apt", "it fetches kernels and packages"),
    _check_keyring,
    _check_kernel,
    _check_image,
    _check_qemu,
    _check_kvm,
)


def examine_host() -> Iterator[Finding]:
    """Yield what the host engine needs."""
    yield from (check() for check in _HOST_CHECKS)


def examine_lab() -> Iterator[Finding]:
    """Yield what the lab needs."""
    yield from (check() for check in _LAB_CHECKS)

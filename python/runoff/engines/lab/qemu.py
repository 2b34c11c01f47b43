"""The command line of QEMU for one guest: a pure function of what the guest shall be."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from runoff.plan import Clock

PROGRAM = "qemu-system-x86_64"

Accelerator = Literal["kvm", "tcg"]


@dataclass(frozen=True, slots=True)
class Machine:
    """A guest before it is switched on."""

    kernel: Path
    initramfs: Path
    console: Path
    """Receives what the guest's kernel says."""
    cpus: int
    memory_mb: int
    clock: Clock
    accelerator: Accelerator
    seed: int = 0
    """Of the guest's own random numbers, under the virtual clock."""
    instruction_shift: int = 0
    """Under the virtual clock an instruction takes 2 to the power of this in ns: a slower CPU is sooner emulated."""
    image: Path | None = None
    """Root file system of workloads; the guest's writes to it are private and vanish, as those to the next two."""
    disk: Path | None = None
    """An empty file system."""
    swap: Path | None = None
    """As long as the swap space shall be."""

    @property
    def files(self) -> dict[str, Path]:
        """Those of the three that it has."""
        named = {"image": self.image, "disk": self.disk, "swap": self.swap}
        return {name: path for name, path in named.items() if path is not None}


def command(machine: Machine) -> list[str]:
    """Arguments for a guest whose second serial port is QEMU's standard input and output."""
    return [
        # A runoff that is killed takes its guests with it; QEMU knows how to do that only since 11.0.
        *("setpriv", "--pdeathsig", "KILL", "--"),
        PROGRAM,
        *("-nodefaults", "-no-user-config", "-display", "none", "-no-reboot"),
        *_clock(machine),
        *_memory(machine),
        *("-smp", str(machine.cpus)),
        *("-kernel", str(machine.kernel), "-initrd", str(machine.initramfs)),
        *("-append", kernel_command_line(machine)),
        *("-serial", f"file:{_escape(machine.console)}"),
        *("-chardev", "stdio,id=agent,signal=off", "-serial", "chardev:agent"),
    ]


def kernel_command_line(machine: Machine) -> str:
    # The console keeps warnings and what is worse; `quiet` would leave warnings out.
    words = ["console=ttyS0", "loglevel=5", "panic=-1", "oops=panic", "tsc=reliable", "cryptomgr.notests"]
    if machine.accelerator == "tcg":
        # Mitigations cost emulated instructions and protect from nothing here.
        words += ["mitigations=off", "no_timer_check"]
    if machine.clock == "virtual":
        words += ["nokaslr", "random.trust_cpu=off"]
    return " ".join(words)


def _clock(machine: Machine) -> list[str]:
    if machine.clock == "virtual":
        # Every instruction takes the same time, idle time is skipped, and nothing comes from outside:
        # the same bytes in every run.
        return [
            *("-accel", "tcg", "-icount", f"shift={machine.instruction_shift},sleep=off"),
            *("-rtc", "clock=vm,base=2026-01-01", "-seed", str(machine.seed % (1 << 32))),
            *("-cpu", "max,-rdrand,-rdseed"),
        ]
    if machine.accelerator == "kvm":
        return ["-accel", "kvm", "-cpu", "host"]
    return ["-accel", "tcg,thread=multi", "-cpu", "max"]


def _memory(machine: Machine) -> list[str]:
    files = machine.files
    if not files:
        return ["-machine", "pc", "-m", f"{machine.memory_mb}M"]
    sizes = {name: path.stat().st_size for name, path in files.items()}
    largest_mb = machine.memory_mb + sum(sizes.values()) // (1 << 20) + 1024
    words = ["-machine", "pc,nvdimm=on", "-m", f"{machine.memory_mb}M,slots={1 + len(files)},maxmem={largest_mb}M"]
    # Synchronous devices: they need no unpacking, no memory of the guest, and stay repeatable.
    for name, path in files.items():
        backend = f"memory-backend-file,id={name},mem-path={_escape(path)},share=off,size={sizes[name]}"
        words += ["-object", backend, "-device", f"nvdimm,memdev={name}"]
    return words


def _escape(path: Path) -> str:
    """A comma ends a value in QEMU's options; two stand for one."""
    return str(path).replace(",", ",,")

"""The command line of QEMU for one guest: a pure function of the guest's description."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from runoff.plan.topology import Topology
from runoff.results import Clock

PROGRAM = "qemu-system-x86_64"

Accelerator = Literal["kvm", "tcg"]


@dataclass(frozen=True, slots=True)
class SnapshotFiles:
    """The files of a snapshot of a quiet guest, and of its copies."""

    directory: Path
    """Directory of the guest's memory, with a file for each of its banks."""
    orders: Path
    """Orders that the guest reads when it goes on."""
    monitor: int
    """File descriptor of a socket for QEMU's own protocol."""
    writes: bool
    """Whether the guest's writes to memory and files are stored, or private and gone with it."""
    goes_on: bool
    """Whether it begins where a snapshot has stopped, not with a boot."""


@dataclass(frozen=True, slots=True)
class Machine:
    """A guest before it is switched on."""

    kernel: Path
    initramfs: Path
    console: Path
    """File for the output of the guest's kernel."""
    cpus: int
    memory_mb: int
    clock: Clock
    accelerator: Accelerator
    program: str | Path = PROGRAM
    quantum: int | None = None
    """Instructions that a CPU may be ahead of another; under the virtual clock, with runoff's QEMU."""
    budget_s: float | None = None
    """Limit of the guest's own time, after which it is ended; only with a quantum."""
    topology: Topology | None = None
    """None means one socket with ``cpus`` cores."""
    seed: int = 0
    """Seed of the guest's own random numbers, under the virtual clock."""
    instruction_shift: int = 0
    """An instruction takes 2 to the power of this in ns, under the virtual clock: a slower CPU is faster to emulate."""
    image: Path | None = None
    """Root file system of workloads; the guest's writes to it and to the next two files are private and vanish."""
    disk: Path | None = None
    """An empty file system."""
    swap: Path | None = None
    """A file of the size of the swap space."""

    parameters: str = ""
    """Words at the end of the kernel's command line."""
    keeping: SnapshotFiles | None = None

    @property
    def files(self) -> dict[str, Path]:
        """Image, disk and swap file, as far as the guest has them, by name."""
        named = {"image": self.image, "disk": self.disk, "swap": self.swap}
        return {name: path for name, path in named.items() if path is not None}

    @property
    def banks(self) -> dict[str, int]:
        """Sizes of its memory banks in MiB, by name: one bank for each NUMA node."""
        nodes = self.topology.nodes if self.topology is not None else 1
        if nodes == 1:
            return {"ram": self.memory_mb}
        each = self.memory_mb // nodes
        return {f"ram{node}": each + (self.memory_mb % nodes if node == 0 else 0) for node in range(nodes)}


def build_command(machine: Machine) -> list[str]:
    """Return arguments for a guest whose second serial port is QEMU's standard input and output."""
    return [
        str(machine.program),
        *("-nodefaults", "-no-user-config", "-display", "none", "-no-reboot"),
        *_clock(machine),
        *_memory(machine),
        *_topology(machine),
        *("-kernel", str(machine.kernel), "-initrd", str(machine.initramfs)),
        *("-append", build_kernel_command_line(machine)),
        *("-serial", f"file:{_escape(machine.console)}"),
        *("-chardev", "stdio,id=agent,signal=off", "-serial", "chardev:agent"),
        *_keeping(machine.keeping),
    ]


def build_kernel_command_line(machine: Machine) -> str:
    # The console keeps warnings and what is worse; `quiet` would leave warnings out.
    words = ["console=ttyS0", "loglevel=5", "panic=-1", "oops=panic", "tsc=reliable", "cryptomgr.notests"]
    if machine.accelerator == "tcg":
        # Mitigations cost emulated instructions and protect nothing here.
        words += ["mitigations=off", "no_timer_check"]
    if machine.clock == "virtual":
        words += ["nokaslr", "random.trust_cpu=off"]
    return " ".join([*words, *machine.parameters.split()])


def _clock(machine: Machine) -> list[str]:
    if machine.clock == "virtual":
        # Every instruction takes the same time, idle time is skipped, and nothing comes from outside:
        # the same bytes in every run.
        return [
            *("-accel", "tcg", "-icount", f"shift={machine.instruction_shift},sleep=off{_own_clocks(machine)}"),
            *("-rtc", "clock=vm,base=2026-01-01", "-seed", str(machine.seed % (1 << 32))),
            *("-cpu", _emulated_cpu(machine, "-rdrand", "-rdseed")),
        ]
    if machine.accelerator == "kvm":
        return ["-accel", "kvm", "-cpu", "host"]
    return ["-accel", "tcg,thread=multi", "-cpu", _emulated_cpu(machine)]


def _own_clocks(machine: Machine) -> str:
    if machine.quantum is None:
        return ""
    budget = "" if machine.budget_s is None else f",budget={round(1000 * machine.budget_s)}"
    return f",quantum={machine.quantum}{budget}"


def _emulated_cpu(machine: Machine, *features: str) -> str:
    # QEMU emulates an AMD CPU without the feature that describes its threads (topoext).
    threads = machine.topology is not None and machine.topology.threads > 1
    return ",".join(["max", *features, *(["vendor=GenuineIntel"] if threads else [])])


def _topology(machine: Machine) -> list[str]:
    topology = machine.topology
    if topology is None:
        return ["-smp", str(machine.cpus)]
    counts = f"sockets={topology.sockets},cores={topology.cores},threads={topology.threads}"
    words = ["-smp", f"{machine.cpus},{counts}"]
    if topology.nodes == 1:
        return words
    for node, bank in enumerate(machine.banks):
        cpus = topology.cpus_of(node)
        words += ["-numa", f"node,nodeid={node},cpus={cpus[0]}-{cpus[-1]},memdev={bank}"]
    for one in range(topology.nodes):
        for other in range(one + 1, topology.nodes):
            words += ["-numa", f"dist,src={one},dst={other},val={topology.distance}"]
    return words


def _keeping(keeping: SnapshotFiles | None) -> list[str]:
    if keeping is None:
        return []
    return [
        # With this the guest stops itself, at a time of its own clock, not of the host's.
        *("-device", "ib700", "-watchdog-action", "pause"),
        *("-fw_cfg", f"name=opt/org.runoff/orders,file={_escape(keeping.orders)}"),
        *("-chardev", f"socket,id=monitor,fd={keeping.monitor}", "-mon", "chardev=monitor,mode=control"),
        *(("-incoming", "defer") if keeping.goes_on else ()),
    ]


def _memory(machine: Machine) -> list[str]:
    files, keeping = machine.files, machine.keeping
    share = "on" if keeping is not None and keeping.writes else "off"
    kind, size, words = "pc", f"{machine.memory_mb}M", []
    banks = machine.banks
    if keeping is not None and len(banks) == 1:
        kind += ",memory-backend=ram"
    for name, mb in banks.items():
        if keeping is not None:
            words += ["-object", _backend(name, keeping.directory / name, mb << 20, share)]
        elif len(banks) > 1:
            words += ["-object", f"memory-backend-ram,id={name},size={mb}M"]
    if files:
        sizes = {name: path.stat().st_size for name, path in files.items()}
        largest_mb = machine.memory_mb + sum(sizes.values()) // (1 << 20) + 1024
        kind += ",nvdimm=on"
        size += f",slots={1 + len(files)},maxmem={largest_mb}M"
        # Synchronous devices: they need no unpacking, no memory of the guest, and stay repeatable.
        for name, path in files.items():
            words += ["-object", _backend(name, path, sizes[name], share), "-device", f"nvdimm,memdev={name}"]
    return ["-machine", kind, "-m", size, *words]


def _backend(name: str, path: Path, size: int, share: str) -> str:
    return f"memory-backend-file,id={name},mem-path={_escape(path)},share={share},size={size}"


def _escape(path: Path) -> str:
    """Escape commas, which end a value in QEMU's options, by doubling them."""
    return str(path).replace(",", ",,")

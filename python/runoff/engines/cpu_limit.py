"""The limit of CPU time of the control group that everything here runs in, such as a container's."""

from pathlib import Path

MOUNTS = Path("/proc/self/mounts")


def find_hierarchy() -> Path | None:
    """Return where control groups (v2) are mounted, if they are; the agent's are directly below it."""
    for line in MOUNTS.read_text().splitlines():
        _, place, kind, *_ = line.split(" ")
        if kind == "cgroup2":
            return Path(place)
    return None


def describe_limit(cpu_max: str | None) -> str | None:
    """Describe a ``cpu.max`` such as ``20000 100000`` (microseconds); None if it limits nothing."""
    if cpu_max is None or cpu_max.startswith("max"):
        return None
    quota_us, period_us = map(int, cpu_max.split())
    return (
        f"everything here runs in a control group that may use {quota_us / period_us:g} CPUs (cpu.max): "
        "the kernel's own scheduler keeps to that, schedulers that are attached do not"
    )

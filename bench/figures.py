"""How a measurement is printed: what, the figure with its spread, the target, and on what machine."""

import os
import platform
import re
import statistics
import subprocess
from collections.abc import Sequence
from pathlib import Path


def machine() -> str:
    """This machine in a line, without its name."""
    model = re.search(r"^model name\s*: (.*)$", Path("/proc/cpuinfo").read_text(encoding="utf-8"), re.MULTILINE)
    kibibytes = int(re.findall(r"^MemTotal: *(\d+)", Path("/proc/meminfo").read_text(encoding="utf-8"))[0])
    virtual = "a virtual machine, " if "hypervisor" in Path("/proc/cpuinfo").read_text(encoding="utf-8") else ""
    words = subprocess.run(["qemu-system-x86_64", "--version"], capture_output=True, text=True, check=False).stdout
    qemu = re.search(r"version (\S+)", words)
    return (
        f"{virtual}{os.cpu_count()} CPUs {model[1] if model else platform.machine()}, {kibibytes / (1 << 20):.0f} GiB, "
        f"Linux {platform.release().split('-')[0]}, Python {platform.python_version()}, "
        f"QEMU {qemu[1] if qemu else 'none'}, load average {os.getloadavg()[0]:.2f}"
    )


def spread(values: Sequence[float], unit: str) -> str:
    """Return median, extremes and number of values."""
    return (
        f"median {statistics.median(values):.3g} {unit} "
        f"(smallest {min(values):.3g}, largest {max(values):.3g}, n {len(values)})"
    )


def show(what: str, values: Sequence[float], unit: str, target: float | None = None) -> None:
    """One line a measurement; a missed target says so."""
    line = f"{what}: {spread(values, unit)}"
    if target is not None:
        line += f"; target {target:g} {unit}: {'met' if statistics.median(values) <= target else 'MISSED'}"
    print(line, flush=True)

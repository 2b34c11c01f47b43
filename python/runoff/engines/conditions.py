"""The machine on which a sample is taken: its id, and what it was doing at that moment."""

import contextlib
import hashlib
import os
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

import psutil

from runoff.results import Conditions

MACHINE_ID_FILES = (Path("/etc/machine-id"), Path("/var/lib/dbus/machine-id"))


def read_conditions() -> Conditions:
    """Read at this moment; what the machine cannot tell is None."""
    sensors = psutil.sensors_temperatures() if hasattr(psutil, "sensors_temperatures") else {}
    frequency = psutil.cpu_freq()
    return Conditions(
        started=datetime.now(UTC).isoformat(timespec="milliseconds"),
        load1=os.getloadavg()[0],
        temperature_c=_largest(reading.current for readings in sensors.values() for reading in readings),
        frequency_khz=round(1000 * frequency.current) if frequency is not None and frequency.current else None,
    )


def read_machine_id() -> str:
    """Return an id of this machine, which tells nothing about it but whether two campaigns are of the same.

    Empty where the machine has no id of its own (machine-id(5)).
    """
    for path in MACHINE_ID_FILES:
        with contextlib.suppress(OSError):
            if text := path.read_text().strip():
                return hashlib.sha256(f"runoff {text}".encode()).hexdigest()[:16]
    return ""


def _largest(values: Iterable[float]) -> float | None:
    return max(values, default=None)

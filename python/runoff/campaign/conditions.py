"""What this machine was doing when a sample began."""

import os
from collections.abc import Iterable
from datetime import UTC, datetime

import psutil

from runoff.results import Conditions


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


def _largest(values: Iterable[float]) -> float | None:
    return max(values, default=None)

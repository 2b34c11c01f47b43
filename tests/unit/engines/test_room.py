"""Loads that do not fit are refused before they start, with the numbers."""

from pathlib import Path

import pytest

from runoff.engines import capacity
from runoff.engines.capacity import Capacity
from runoff.errors import MissingError
from runoff.workloads import parse_loads

ROOMY = Capacity("the guest", disk_mb=1024, memory_mb=256, swap_mb=512)


@pytest.mark.parametrize(
    ("load", "has", "message"),
    [
        ("io", Capacity("the guest", 200, 256, 0), "load 'io' writes 256 MB, but the disk of the guest has 200 MB"),
        ("read:size_mb=2000", ROOMY, "load 'read:size_mb=2000' writes 2000 MB, but the disk of the guest has 1024 MB"),
        (
            "mem",
            Capacity("this machine", 200, 256, 0),
            "'mem' makes a machine swap, but this machine has no swap space",
        ),
        ("mem:size_mb=705", ROOMY, "needs 705 MB, but memory and swap space of the guest have 704 MB for it"),
    ],
)
def test_too_little_is_refused_with_the_numbers(load: str, has: Capacity, message: str) -> None:
    with pytest.raises(MissingError, match=message):
        capacity.require(parse_loads(load, 1), has)


@pytest.mark.parametrize("load", ["none", "process", "io", "mem", "mem:size_mb=704", "ctar", "cacherun"])
def test_what_fits_is_not_refused(load: str) -> None:
    capacity.require(parse_loads(load, 1), ROOMY)


def test_this_machine_has_some_memory() -> None:
    assert capacity.measure_machine(Path("/")).memory_mb > 0

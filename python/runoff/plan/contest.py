"""contest's protocol as a plan: its loads, how often its author ran each, and the memory of his machine.

The source is what Con Kolivas published with contest 0.61 on the kernel's mailing lists in 2003: the script of his four
calls (17 August), and the machine's memory and swap space (28 February).
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from runoff.results import NO_LOAD
from runoff.workloads import parse_loads

RUNS = {
    NO_LOAD: 1, "cacherun": 1, "process": 2, "ctar": 3, "xtar": 3, "io": 4, "io_other": 2, "read": 2, "list": 2,
    "mem": 2, "dbench": 4,
}  # fmt: skip
"""How often contest's author ran each load: the noisy ones more often. The order is that of his tables."""

NEEDS_A_PATH = "io_other"
"""Load that runs only on request, because it needs the path of another disk."""

NEEDS_SWAP = "mem"
"""Load that is left out on a machine without swap space, unless it is asked for."""

CPUS = 1
MEMORY_MB = 256
"""Memory of the machine of 2003."""

JOBS_PER_CPU = 4
WORK = "compile:part=ext2fs"
QUICK_WORK = "compile:part=et"


def make_plan_values(
    given: Mapping[str, Any], cpus: int, *, quick: bool, left_out: Collection[str] = (NEEDS_A_PATH,)
) -> dict[str, Any]:
    """Return the keys of a plan, with contest's values for those that are not given.

    ``cpus`` do the work, ``quick`` is one small run of each, ``left_out`` are loads that run only on request.
    """
    work = f"{QUICK_WORK if quick else WORK},jobs={JOBS_PER_CPU * cpus}"
    loads = given.get("loads") or tuple(load for load in RUNS if load not in left_out)
    values = {"cpus": cpus, "memory_mb": MEMORY_MB, "workloads": (work,), "flush": True, **given, "loads": loads}
    if "blocks" in given:
        return values
    counts = {label: 1 if quick else RUNS.get(label.partition(":")[0], 1) for label in _labels(loads, cpus)}
    counts |= given.get("load_blocks", {})
    blocks = max(counts.values())
    return {**values, "blocks": blocks, "load_blocks": {label: n for label, n in counts.items() if n < blocks}}


def _labels(loads: Sequence[str], cpus: int) -> list[str]:
    parsed = (load for text in loads for load in parse_loads(text, cpus))
    return [NO_LOAD if load is None else load.label for load in parsed]

"""The probes that can observe a workload while it runs; the agent describes what each counts, docs/probes.md explains
it."""

from collections.abc import Sequence

from runoff.errors import UsageError
from runoff.text import suggest

ALL = "all"
"""Word for every probe, with the one of the disk only if there is a disk."""

REQUESTS = "requests"
"""The probe of the disk's server: it logs each request."""

PROBES = ("wakeups", "turns", "idle", "migrations", "scheduler", REQUESTS)
"""The names of all probes, as the agent has them."""


def parse_probes(names: Sequence[str], *, makes_disks: bool) -> tuple[str, ...]:
    """Return the names checked, each once, in the order of `PROBES`. Raises UsageError.

    ``makes_disks``: some arm has a disk behind an elevator that runoff makes.
    """
    for name in names:
        if name not in (*PROBES, ALL):
            raise UsageError(f"unknown probe {name!r}{suggest(name, [*PROBES, ALL])}")
    if REQUESTS in names and not makes_disks:
        raise UsageError(
            f"the probe {REQUESTS} is for disks that runoff makes: add an arm such as default+io=cfq, without --place"
        )
    wanted = [name for name in PROBES if name != REQUESTS or makes_disks] if ALL in names else names
    return tuple(name for name in PROBES if name in wanted)

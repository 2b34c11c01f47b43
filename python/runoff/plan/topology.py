"""The CPU topology of the lab's guest: sockets, cores, threads, and NUMA nodes with a distance."""

from dataclasses import dataclass
from typing import Any

from runoff.errors import UsageError
from runoff.plan.parameters import check_parameters
from runoff.text import parse_assignments

LOCAL = 10
"""The distance of a node to itself; access at twice the distance takes twice as long."""

_MOST_CPUS = 64


def _number(name: str, least: int, most: int) -> dict[str, Any]:
    return {"name": name, "min": least, "max": most, "unit": "1"}


_PARAMETERS = (
    *(_number(name, 1, _MOST_CPUS) for name in ("sockets", "cores", "threads", "nodes")),
    _number("distance", LOCAL + 1, 254),
)


@dataclass(frozen=True, slots=True)
class Topology:
    """A CPU topology; ``cores`` are per socket, ``threads`` per core."""

    sockets: int = 1
    cores: int = 1
    threads: int = 1
    nodes: int = 1
    distance: int = 2 * LOCAL
    """The distance of any node to any other."""

    @property
    def untold(self) -> str | None:
        """What QEMU's machine does not do about it, although the guest's kernel sees it; None if that is nothing."""
        missing = []
        if self.threads > 1:
            missing.append("threads of a core do not slow each other down")
        if self.nodes > 1:
            missing.append("another node's memory is as near as one's own")
        return None if not missing else f"topology: {' and '.join(missing)}: see what schedulers do, not what it costs"

    @property
    def cpus(self) -> int:
        return self.sockets * self.cores * self.threads

    def cpus_of(self, node: int) -> range:
        each = self.cpus // self.nodes
        return range(node * each, (node + 1) * each)


def parse_topology(text: str) -> Topology:
    """Parse ``sockets=2,cores=2,threads=2,nodes=2,distance=30``; defaults are 1, and 20. Raises UsageError."""
    where = f"topology {text!r}"
    if not text.strip():
        raise UsageError(f"{where}: name what there is more than one of, e.g. cores=2")
    given = parse_assignments(text, where)
    check_parameters("a topology", given, _PARAMETERS, where)
    found = Topology(**{key: int(value) for key, value in given.items()})
    if found.sockets % found.nodes:
        raise UsageError(f"{where}: {found.nodes} nodes cannot share {found.sockets} sockets: each lies on one node")
    if "distance" in given and found.nodes == 1:
        raise UsageError(f"{where}: a distance is between nodes: add nodes=2")
    return found

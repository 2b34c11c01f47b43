"""How much memory the maps of an object hold, for a number of CPUs and of tasks."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

_PAGE_BYTES = 4096
_STEP_BYTES = 8
"""Keys and values begin at multiples of it (kernel/bpf/arraymap.c, hashtab.c)."""
_EACH = {
    "entry": "",
    "entry_and_cpu": " for each CPU",
    "task": " for each task",
    "cgroup": " for each control group",
}
_WITH_KEYS = ("hash", "lpm_trie")
"""In the names of kinds of maps that keep the keys; the others count them."""
Found = Mapping[str, Any]


class Machine(NamedTuple):
    """What memory is counted for."""

    cpus: int
    tasks: int


def describe_memory(found: Found, machine: Machine) -> Iterator[str]:
    """Yield a line for the variables, one for each map, and their sum."""
    yield f"variables: {found['data_bytes']:,} bytes"
    for each in found["maps"]:
        yield f"map {each['name']}: {each['kind']}, {_describe_size(each)}"
    most = describe_bytes(count_bytes(found, machine))
    yield f"in all at most {most} with {_count(machine.cpus, 'CPU')} and {_count(machine.tasks, 'task')}"
    if any(each["each"] == "cgroup" for each in found["maps"]):
        yield "  and what control groups have"


def count_bytes(found: Found, machine: Machine) -> int:
    """Return the bytes of variables, keys and values when all maps are full; not what the kernel needs for itself."""
    return int(found["data_bytes"]) + sum(_count_map(each, machine) for each in found["maps"])


def describe_bytes(count: int) -> str:
    """Write a number of bytes in the largest unit of which there is one."""
    size, unit = float(count), "bytes"
    for larger in ("KiB", "MiB", "GiB"):
        if size < 1000:
            break
        size, unit = size / 1024, larger
    return f"{size:,.0f} {unit}" if unit == "bytes" or size >= 10 else f"{size:.1f} {unit}"


def _count_map(each: Found, machine: Machine) -> int:
    if each["each"] == "other":
        return int(each["entries"]) * (_PAGE_BYTES if each["kind"] == "arena" else 1)
    value = _aligned(each["value_bytes"])
    if each["each"] in ("task", "cgroup"):
        return value * machine.tasks if each["each"] == "task" else 0
    values = value * (machine.cpus if each["each"] == "entry_and_cpu" else 1)
    keys = _aligned(each["key_bytes"]) if any(word in each["kind"] for word in _WITH_KEYS) else 0
    return int(each["entries"]) * (keys + values)


def _aligned(count: int) -> int:
    return -(-count // _STEP_BYTES) * _STEP_BYTES


def _describe_size(each: Found) -> str:
    if each["each"] == "other":
        return f"{each['entries']:,} {'pages' if each['kind'] == 'arena' else 'bytes'}"
    entries = f"{each['entries']:,} x " if each["entries"] else ""
    return f"{entries}{each['value_bytes']:,} bytes{_EACH[each['each']]}"


def _count(number: int, thing: str) -> str:
    return f"{number:,} {thing}{'s' * (number != 1)}"

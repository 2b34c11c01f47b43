"""Elevators of arms and the disk below them: ``name[:key=value,...]``, checked against the agent's catalogue."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from runoff.errors import UsageError
from runoff.plan.parameters import check_parameters
from runoff.results import Metric
from runoff.text import parse_assignments, suggest

DescribeElevators = Callable[[], Mapping[str, Any]]
"""Yields ``elevators``, those of the ``kernel``, the parameters of a ``disk``, and its ``models``."""

KERNEL_MODULES = {"mq-deadline": "mq-deadline", "kyber": "kyber-iosched", "bfq": "bfq"}
"""What the guest's kernel has to load for an elevator of its own."""

KERNEL_ELEVATORS = ("none", *KERNEL_MODULES)
"""Those that a kernel of today has."""


def _latencies(kind: str) -> tuple[Metric, ...]:
    titles = {"p50": f"median {kind} latency", **{p: f"{kind} latency {p}" for p in ("p95", "p99")}}
    titles["max"] = f"longest {kind} latency"
    return tuple(Metric(f"disk_{kind}_{p}_ms", "ms", "none", f"disk: {title}") for p, title in titles.items())


DISK_METRICS = (
    Metric("disk_requests", "", "none", "disk: requests of the kernel"),
    Metric("disk_served", "", "none", "disk: requests served, merged ones once"),
    Metric("disk_busy_s", "s", "none", "disk: time with a request under way"),
    Metric("disk_held_s", "s", "none", "disk: time held idle by the elevator"),
    Metric("disk_read_kb", "KiB", "none", "disk: read"),
    Metric("disk_written_kb", "KiB", "none", "disk: written"),
    Metric("disk_read_mean_ms", "ms", "none", "disk: mean read latency"),
    Metric("disk_write_mean_ms", "ms", "none", "disk: mean write latency"),
    *_latencies("read"),
    *_latencies("write"),
    Metric("disk_late_pct", "%", "none", "disk: served later than the model's time"),
)
"""What the server of a disk behind an elevator counts, or the kernel of one of the machine's (docs/protocol.md)."""


@dataclass(frozen=True, slots=True)
class Elevator:
    """An I/O scheduler with its parameters."""

    name: str
    parameters: Mapping[str, str] = field(default_factory=dict)

    @property
    def modules(self) -> tuple[str, ...]:
        """Kernel modules that the guest needs for it, besides the disk's own."""
        return (KERNEL_MODULES[self.name],) if self.name in KERNEL_MODULES else ()

    @property
    def is_the_kernels(self) -> bool:
        return self.name in KERNEL_ELEVATORS

    @property
    def identity(self) -> str:
        """How it tells which process sent a request (crates/ublk/src/setup.rs)."""
        if self.is_the_kernels:
            return "the kernel's own"
        return "none" if self.name == "noop" else "process; the kernel's flusher for what it writes back"


def parse_elevator(text: str, describe: DescribeElevators | None, where: str) -> Elevator:
    """Return the elevator that ``text`` describes. Raises UsageError; ``where`` starts the sentence."""
    name, _, assignments = text.partition(":")
    if not name:
        raise UsageError(f"{where}: an elevator must follow +io=, e.g. +io=cfq")
    parameters = parse_assignments(assignments, where)
    if describe is not None:
        _check(name, parameters, describe(), where)
    return Elevator(name, parameters)


def _check(name: str, parameters: Mapping[str, str], catalogue: Mapping[str, Any], where: str) -> None:
    described = {entry["name"]: entry["parameters"] for entry in [*catalogue["elevators"], *catalogue["kernel"]]}
    if name not in described:
        raise UsageError(f"{where}: unknown elevator {name!r}{suggest(name, described)}")
    check_parameters(name, parameters, described[name], where)
    _check_variant(parameters, described[name], where)


def _check_variant(given: Mapping[str, str], described: list[Mapping[str, Any]], where: str) -> None:
    table = {parameter["name"]: parameter for parameter in described}
    if "variant" not in table:
        return
    variant = given.get("variant", table["variant"]["default"])
    for key in given:
        wanted = table[key].get("variants")
        if wanted and variant not in wanted:
            raise UsageError(f"{where}: {key} is for variant={' or '.join(wanted)} only, not for variant={variant}")


def check_model(text: str, size_mb: int, describe: DescribeElevators) -> None:
    """Raise UsageError unless ``text`` is a disk model of at least that size."""
    where = f"disk model {text!r}"
    name, _, assignments = text.partition(":")
    parameters = parse_assignments(assignments, where)
    catalogue = describe()
    models = {entry["name"]: dict(entry["values"]) for entry in catalogue["models"]}
    if name not in models:
        raise UsageError(f"{where}: unknown model {name!r}{suggest(name, models)}")
    described = catalogue["disk"]["parameters"]
    check_parameters(name, parameters, described, where)
    defaults = {parameter["name"]: parameter["default"] for parameter in described}
    model_mb = int({**defaults, **models[name], **parameters}["sectors"]) // 2048
    if size_mb > model_mb:
        raise UsageError(f"{where} has {model_mb} MiB, not the {size_mb} MiB that are wanted: use a smaller --disk")

"""What an engine knows: schedulers and elevators, which a plan is checked against, and the metrics of its samples."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from runoff.plan.arm_settings import DescribeSettings
from runoff.plan.arms import Describe
from runoff.plan.elevators import DescribeElevators
from runoff.plan.probes import REQUESTS
from runoff.plan.programs import DescribeModes
from runoff.results import Metric
from runoff.workloads import MetricDefinition

DescribeScene = Callable[[str], Mapping[str, MetricDefinition]]
"""Returns what is measured of a scene, by name. Raises UsageError with the line for a text that is not one."""


@dataclass(frozen=True, slots=True)
class Probe:
    """One question to the kernel, or to the disk's server."""

    name: str
    title: str
    metrics: tuple[Metric, ...]


@dataclass(frozen=True, slots=True)
class EngineMetrics:
    """All metrics that a sample can have besides the workload's own."""

    workload: tuple[Metric, ...] = ()
    """Metrics of every workload; the headline metric judges arms if the workload has none of its own."""
    server: tuple[Metric, ...] = ()
    """Metrics of a sample of a workload that has a server."""
    limits: tuple[Metric, ...] = ()
    """Metrics of a sample whose work or load is in a control group with a quota or a weight."""
    load: tuple[Metric, ...] = ()
    """Metrics of a sample with a load."""
    disk: tuple[Metric, ...] = ()
    """Metrics of a sample on a disk behind an elevator, or on a disk of the machine's own that is watched."""
    probes: tuple[Probe, ...] = ()
    probe_cost: tuple[Metric, ...] = ()
    """The cost of the probes, in every sample with a probe in the kernel."""

    def list_probe_metrics(self, names: Sequence[str]) -> tuple[Metric, ...]:
        """Return all that probes of these names add to a sample."""
        added = tuple(metric for probe in self.probes if probe.name in names for metric in probe.metrics)
        in_kernel = any(name != REQUESTS for name in names)
        return (*added, *self.probe_cost) if in_kernel else added


@dataclass(frozen=True, slots=True)
class Catalogue:
    """Functions that ask the engine; each is called only for a plan that needs its answer."""

    schedulers: Describe | None = None
    """None means that names and parameters of schedulers are not checked."""
    elevators: DescribeElevators | None = None
    """None means that names and parameters of elevators are not checked."""
    metrics: Callable[[], EngineMetrics] = EngineMetrics
    settings: DescribeSettings | None = None
    """None means that names of settings are not checked."""
    modes: DescribeModes | None = None
    """None means that a program's mode has the options that the plan has for it, or none."""
    scenes: DescribeScene | None = None
    """None means that scenes are not checked, and that nothing is measured of them."""

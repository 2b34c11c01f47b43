"""The metrics that the agent can measure, as it describes them itself (docs/protocol.md)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from runoff.plan.probes import REQUESTS
from runoff.results import Metric


@dataclass(frozen=True, slots=True)
class Probe:
    """One question to the kernel, or to the disk's server."""

    name: str
    title: str
    metrics: tuple[Metric, ...]


@dataclass(frozen=True, slots=True)
class AgentMetrics:
    """All metrics that a sample can have besides the workload's own."""

    workload: tuple[Metric, ...]
    """Metrics of every workload; the headline metric judges arms if the workload has none of its own."""
    load: tuple[Metric, ...]
    """Metrics of a sample with a load."""
    disk: tuple[Metric, ...]
    """Metrics of a sample on a disk behind an elevator, or on a disk of the machine's own that is watched."""
    probes: tuple[Probe, ...]
    probe_cost: Metric
    """The cost of the probes, in every sample with a probe in the kernel."""

    def list_probe_metrics(self, names: Sequence[str]) -> tuple[Metric, ...]:
        """Return all that probes of these names add to a sample."""
        added = [metric for probe in self.probes if probe.name in names for metric in probe.metrics]
        in_kernel = any(name != REQUESTS for name in names)
        return (*added, self.probe_cost) if in_kernel else tuple(added)


def parse_agent_metrics(described: Mapping[str, Any]) -> AgentMetrics:
    """Return what ``runoff-agent metrics`` printed."""
    return AgentMetrics(
        workload=_parse_metrics(described["workload"]),
        load=_parse_metrics(described["load"]),
        disk=_parse_metrics(described["disk"]),
        probes=tuple(
            Probe(each["name"], each["title"], _parse_metrics(each["metrics"])) for each in described["probes"]
        ),
        probe_cost=Metric(**described["probe_cost"]),
    )


def _parse_metrics(described: Sequence[Mapping[str, Any]]) -> tuple[Metric, ...]:
    return tuple(Metric(**each) for each in described)

"""Reads how the agent describes the metrics that it can measure (docs/protocol.md)."""

from collections.abc import Mapping, Sequence
from typing import Any

from runoff.plan.catalogue import EngineMetrics, Probe
from runoff.results import Metric


def parse_metrics(described: Mapping[str, Any]) -> EngineMetrics:
    """Return what ``runoff-agent metrics`` printed."""
    return EngineMetrics(
        workload=_parse_metrics(described["workload"]),
        server=_parse_metrics(described["server"]),
        limits=_parse_metrics(described["limits"]),
        load=_parse_metrics(described["load"]),
        disk=_parse_metrics(described["disk"]),
        probes=tuple(
            Probe(each["name"], each["title"], _parse_metrics(each["metrics"])) for each in described["probes"]
        ),
        probe_cost=_parse_metrics([described["probe_cost"]]),
    )


def _parse_metrics(described: Sequence[Mapping[str, Any]]) -> tuple[Metric, ...]:
    return tuple(Metric(**each) for each in described)

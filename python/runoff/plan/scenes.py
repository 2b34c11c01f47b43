"""What is measured of workloads that are scenes."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from runoff.errors import UsageError
from runoff.plan.catalogue import DescribeScene
from runoff.text import suggest
from runoff.workloads import MetricDefinition, Work


def find_scene_metrics(work: Work, describe: DescribeScene | None) -> Work:
    """Return the work with the metrics of its scene, if it is one. Raises UsageError for a text that is not one."""
    if not work.scene or describe is None:
        return work
    where = f"workload {work.label!r}"
    try:
        metrics = describe(work.scene)
    except UsageError as error:
        raise UsageError(f"{where}: its scene, {error}") from None
    for name in work.definition.metrics:
        if name in metrics:
            raise UsageError(f"{where}: metrics.{name}: the scene has a metric of that name, so give it another one")
    return replace(work, scene_metrics=_judge(metrics, work.definition.judged, where))


def _judge(
    metrics: Mapping[str, MetricDefinition], judged: Sequence[str] | None, where: str
) -> Mapping[str, MetricDefinition]:
    """Return the metrics with those as headlines that the workload names."""
    if judged is None:
        return metrics
    for name in judged:
        if name not in metrics:
            raise UsageError(f"{where}: judged: the scene has no metric {name!r}{suggest(name, metrics)}")
    return {name: metric.model_copy(update={"headline": name in judged}) for name, metric in metrics.items()}

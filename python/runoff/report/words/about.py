"""What the arms, the work and its headline metrics are, a sentence each, for readers who do not know the names."""

import re
from collections.abc import Iterator

from runoff.analysis.labels import shorten_labels
from runoff.analysis.values import Report
from runoff.results import Metric

ELAPSED = "from the start of the work to its end"
_PERCENTILE = re.compile(r"(?:^|_)p(\d+)(?:_|$)")


def list_descriptions(report: Report) -> list[tuple[str, str]]:
    """Return names with their sentences: arms, workloads, loads and headline metrics; equal sentences share a row."""
    rows: dict[tuple[str, str], list[str]] = {}
    for kind, name, sentence in _list_all(report):
        names = rows.setdefault((kind, sentence), [])
        if name not in names:
            names.append(name)
    return [(", ".join(names), sentence) for (_, sentence), names in rows.items()]


def _list_all(report: Report) -> Iterator[tuple[str, str, str]]:
    """Yield kind, name and sentence of all that has a sentence."""
    results, known = report.results, report.results.descriptions
    short = shorten_labels(results.workloads)
    for kind, labels, sentences in (
        ("arm", results.arms, known.arms),
        ("workload", results.workloads, known.workloads),
        ("load", results.loads, known.loads),
    ):
        yield from ((kind, short.get(label, label), sentences[label]) for label in labels if label in sentences)
    for table in report.headline:
        text = known.metrics.get(table.workload, {}).get(table.metric.name) or _describe_metric(table.metric)
        if text:
            yield "metric", table.metric.title, text


def _describe_metric(metric: Metric) -> str:
    """Return what follows from the name of a metric; empty where nothing does."""
    if metric.name == "elapsed_s":
        return ELAPSED
    found = _PERCENTILE.search(metric.name)
    if found is None:
        return ""
    digits = found[1]
    return f"{digits} of {10 ** max(2, len(digits))} are {'faster' if metric.direction == 'lower' else 'lower'}"

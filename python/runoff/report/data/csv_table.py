"""Every sample as rows, for spreadsheets and other tools."""

from collections.abc import Iterator, Sequence

from runoff.analysis.values import Report
from runoff.separated import render_rows

COLUMNS = (
    "id", "engine", "clock", "block", "position", "warmup", "arm", "workload", "load", "valid", "reason",
    "metric", "unit", "direction", "value",
)  # fmt: skip


def render(report: Report) -> str:
    """Return one row per sample and metric in run order; a void sample is one row without a metric.

    Of a campaign on several machines the first column is the machine.
    """
    return render_rows(_list_rows(report))


def _list_rows(report: Report) -> Iterator[Sequence[object]]:
    results = report.results
    several = bool(results.machines)
    yield (*(["machine"] if several else []), *COLUMNS)
    for sample in results.samples:
        head = (
            *([sample.machine] if several else []),
            sample.id, results.engine, results.clock, sample.block + 1, sample.position + 1,
            "yes" if sample.is_warmup else "no", sample.arm,
            sample.workload, sample.load, "yes" if sample.valid else "no", sample.reason or "",
        )  # fmt: skip
        if not sample.valid:
            yield (*head, "", "", "", "")
            continue
        for metric in results.metrics[sample.workload]:
            if metric.name in sample.metrics:
                yield (*head, metric.name, metric.unit, metric.direction, float(sample.metrics[metric.name]))

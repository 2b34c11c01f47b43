"""Every sample as rows, for spreadsheets and other tools."""

from collections.abc import Iterator, Sequence

from runoff.analysis.values import Report
from runoff.results import Sample
from runoff.separated import render_rows

COLUMNS = (
    "id", "engine", "clock", "block", "position", "warmup", "arm", "workload", "load", "valid", "reason", "started",
    "load1_before", "temperature_c", "frequency_khz", "metric", "unit", "direction", "headline", "value",
)  # fmt: skip


def render(report: Report) -> str:
    """Return one row per sample and metric in run order; a void sample is one row without a metric.

    Of a campaign on several machines the first column is the machine. Where samples of one number do not belong
    together, the column ``block`` is called ``run``.
    """
    return render_rows(_list_rows(report))


def _list_rows(report: Report) -> Iterator[Sequence[object]]:
    results = report.results
    several = bool(results.machines)
    columns = COLUMNS if results.is_paired else ["run" if name == "block" else name for name in COLUMNS]
    yield (*(["machine"] if several else []), *columns)
    for sample in results.samples:
        head = (
            *([sample.machine] if several else []),
            sample.id, results.engine, results.clock, sample.block + 1, sample.position + 1,
            "yes" if sample.is_warmup else "no", sample.arm,
            sample.workload, sample.load, "yes" if sample.valid else "no", sample.reason or "", *_conditions(sample),
        )  # fmt: skip
        if not sample.valid:
            yield (*head, "", "", "", "", "")
            continue
        for metric in results.metrics[sample.workload]:
            if metric.name in sample.metrics:
                about = (metric.name, metric.unit, metric.direction, "yes" if metric.headline else "no")
                yield (*head, *about, float(sample.metrics[metric.name]))


def _conditions(sample: Sample) -> tuple[str | None, float | None, float | None, float | None]:
    """Return start, load, temperature and frequency of the machine that runoff ran on; of an imported sample none."""
    began = sample.conditions
    if began is None:
        return None, None, None, None
    return began.started, began.load1, began.temperature_c, began.frequency_khz

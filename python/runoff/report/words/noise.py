"""A machine's noise in sentences."""

import math
from collections.abc import Iterator

from runoff.analysis.noise import MetricNoise, Noise, Pooled
from runoff.analysis.values import Report
from runoff.errors import UsageError
from runoff.report.words.numbers import choose_difference_unit

DOES_NOT_VARY = "no difference varies, so the noise is less than the digits show"


def describe_noise(report: Report) -> list[str]:
    """Return a line for each headline metric whose noise is known, and one for each file that cannot be read."""
    return [line for found in report.noise for line in _lines(report, found)]


def _lines(report: Report, found: Noise | UsageError) -> Iterator[str]:
    if isinstance(found, UsageError):
        yield f"the noise of this machine is not told: {found}"
        return
    for metric in report.results.metrics[found.workload]:
        pooled = found.metric(metric.name)
        if metric.headline and metric.direction != "none" and pooled is not None:
            about = f"noise of this machine on {found.place}, {metric.title}"
            comparisons = (len(report.results.arms) - 1) * report.question.tables
            yield f"{about}: {describe_pooled(pooled, report.results.blocks, comparisons)}"


def describe_pooled(pooled: Pooled, blocks: int, comparisons: int = 1) -> str:
    """Return how much equal arms differ, and what a number of blocks can show beside it, in one of ``comparisons``."""
    from runoff.statistics import DEFAULT_ALPHA
    from runoff.statistics.level import critical
    from runoff.statistics.power import detectable_difference

    if pooled.sd == 0:
        return f"{DOES_NOT_VARY}, over {pooled.blocks} blocks"
    size = format_amount(pooled.sd, pooled.metric)
    text = f"equal arms differ by {size} (SD) from block to block, over {pooled.blocks} blocks"
    if blocks < 2:
        return text
    seen = (
        detectable_difference(blocks - 1, critical(DEFAULT_ALPHA, comparisons, blocks - 1))
        * pooled.sd
        / math.sqrt(blocks)
    )
    among = f" among {comparisons} comparisons" if comparisons > 1 else ""
    return f"{text}; {blocks} blocks show {format_amount(seen, pooled.metric)}{among} with 80 % chance"


def format_size(difference: float, unit: str, *, relative: bool) -> str:
    """Return a difference as a reader has it: of logarithms of ratios in percent, else in the metric's unit."""
    return (
        f"{100 * math.expm1(difference):.2g} %"
        if relative
        else f"{difference:.3g} {choose_difference_unit(unit)}".rstrip()
    )


def format_amount(difference: float, metric: MetricNoise) -> str:
    """Return a difference of a metric with stored noise, as `format_size` does."""
    return format_size(difference, metric.unit, relative=metric.relative)

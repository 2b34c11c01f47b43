"""A sweep of sizes in words, the same in all views."""

from collections.abc import Iterator, Sequence

from runoff.matrix.sizes.values import Cell, Group, SizeSweep
from runoff.report.words import wording
from runoff.report.words.cpu_limits import describe_limits
from runoff.report.words.numbers import Scale, choose_percent_decimals, format_change, format_change_range, format_p
from runoff.statistics import Verdict
from runoff.version import __version__

TITLES = ("CPUs", "blocks", "baseline", "mean", "change", "its 95 % CI", "p(adj)", "")
"""Titles of the columns of `list_cells`."""

LEGEND = (
    "Each number of CPUs is a comparison of its own: no sample of one is compared with a sample of another, and the "
    "5 % hold for each size, not for all together. Whether a change depends on the size is not tested."
)

_TOLD = {
    Verdict.BETTER: "better than {baseline} with {sizes}",
    Verdict.WORSE: "worse than {baseline} with {sizes}",
    Verdict.SAME: "the same as {baseline} with {sizes}",
    Verdict.SMALL: "within the margin of {baseline} with {sizes} (more blocks are needed to call that the same)",
    Verdict.MIXED: "better on some machines and worse on others with {sizes}",
    Verdict.UNCLEAR: "not told apart from {baseline} with {sizes}",
    Verdict.VOID: "without a valid sample with {sizes}",
    Verdict.PENDING: "not run yet with {sizes}",
    Verdict.ABSENT: "not compared with {sizes}",
}


def describe_title(sweep: SizeSweep) -> str:
    """Return tool, arms, sizes, blocks and engine."""
    results = sweep.first.results
    blocks = sorted({report.results.blocks for report in sweep.reports.values()})
    counted = f"{blocks[0]} blocks each" if len(blocks) == 1 else f"{blocks[0]} to {blocks[-1]} blocks each"
    sizes = _join_numbers(sweep.sizes)
    return f"runoff {__version__}, {len(results.arms)} arms with {sizes} CPUs, {counted}, {sweep.first.engine}"


def describe_outcome(sweep: SizeSweep) -> Iterator[str]:
    """Yield a sentence for each arm and headline metric."""
    if missing := [cpus for cpus in sweep.sizes if cpus not in sweep.reports]:
        yield f"Provisional: nothing is taken yet with {_name_sizes(missing)}."
    for group in sweep.list_groups():
        for arm in sweep.arms:
            by = {verdict: [c for c in group.list_cells(arm) if c.comparison.verdict is verdict] for verdict in Verdict}
            sizes = [
                _TOLD[verdict].format(
                    baseline=sweep.first.baseline if not number else "it", sizes=_list_sizes(cells, verdict)
                )
                for number, (verdict, cells) in enumerate((v, cells) for v, cells in by.items() if cells)
            ]
            yield f"{group.heading}, {group.metric.title}: {arm} is {', and '.join(sizes)}."


def _list_sizes(cells: Sequence[Cell], verdict: Verdict) -> str:
    if verdict not in (Verdict.BETTER, Verdict.WORSE):
        return _name_sizes([cell.cpus for cell in cells])
    changes = [cell.comparison.percent for cell in cells]
    sizes = _name_sizes([cell.cpus for cell in cells])
    known = [format_change(change, 1) for change in changes if change is not None]
    return f"{sizes} ({', '.join(known)})" if known else sizes


def _name_sizes(sizes: Sequence[int]) -> str:
    return f"{_join_numbers(sizes)} CPU{'' if list(sizes) == [1] else 's'}"


def _join_numbers(sizes: Sequence[int]) -> str:
    texts = [str(cpus) for cpus in sizes]
    return texts[0] if len(texts) == 1 else f"{', '.join(texts[:-1])} and {texts[-1]}"


def describe_heading(group: Group, arm: str) -> str:
    """Return the heading of the table of one arm."""
    return f"{group.heading}: {group.metric.title}, {arm} ({wording.DIRECTIONS[group.metric.direction]})"


def list_cells(sweep: SizeSweep, group: Group, arm: str) -> list[tuple[str, ...]]:
    """Return a row for each size, in the order of ``TITLES``; means have their unit, as sizes may differ by far."""
    return [_make_row(sweep.first.baseline, cell) for cell in group.list_cells(arm)]


def _make_row(baseline: str, cell: Cell) -> tuple[str, ...]:
    table, comparison = cell.table, cell.comparison
    scale, decimals = Scale.from_table(table), choose_percent_decimals(table)
    means = [table.find_centre(arm) for arm in (baseline, cell.arm)]
    shown = ["-" if mean is None else f"{scale.plain(mean[0])} {scale.unit}".strip() for mean in means]
    percent, interval = comparison.percent, comparison.percent_interval
    if percent is not None:
        change = format_change(percent, decimals)
        reach = "" if interval is None else format_change_range(interval, percent, decimals)
    else:
        change = "-" if comparison.difference is None else scale.difference(comparison.difference)
        reach = "" if comparison.interval is None else scale.signed_range(comparison.interval)
    p = "" if comparison.p is None else format_p(comparison.p)
    return (str(cell.cpus), str(comparison.n), *shown, change, reach, p, str(comparison.verdict or ""))


def list_notes(sweep: SizeSweep) -> Iterator[str]:
    """Yield voids and warnings with the sizes that each is about."""
    sizes_of: dict[str, list[int]] = {}
    for cpus, report in sorted(sweep.reports.items()):
        voids = (line for line, _ in wording.list_voids(report))
        for note in (*report.results.warnings, *describe_limits(report.results), *voids):
            sizes_of.setdefault(note, []).append(cpus)
    for note, sizes in sizes_of.items():
        yield note if len(sizes) == len(sweep.sizes) else f"{_name_sizes(sizes)}: {note}"

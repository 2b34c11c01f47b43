"""Words that more than one view uses."""

from collections.abc import Iterator, Sequence

from runoff.analysis.table import Table
from runoff.analysis.values import Overall, Report
from runoff.analysis.why import Explanation
from runoff.report.words.campaign_warnings import describe_campaign
from runoff.report.words.load_rows import Matrix
from runoff.report.words.numbers import Scale, format_change
from runoff.results import IMPORTED, Sample
from runoff.statistics import Verdict

MOST_LISTED = 8
"""Blocks a void line names."""

DIRECTIONS = {"lower": "lower is better", "higher": "higher is better", "none": "not judged"}
"""Which way is better, in words."""


def describe_title(report: Report) -> str:
    """Return the title: tool, size of the campaign, engine."""
    r = report.results
    void = f", {len(report.voids)} void" if report.voids else ""
    arms = f"{len(r.arms)} arm{'s' if len(r.arms) != 1 else ''}"
    unit = "block" if r.is_paired else "run"
    blocks = f"{r.blocks} {unit}{'s' if r.blocks != 1 else ''}"
    if len(r.machines) > 1:
        blocks += f" on {len(r.machines)} machines"
    return (
        f"runoff {r.version}  {arms} x {blocks}  {len(r.samples)}/{r.planned} samples{void}  {report.engine}".replace(
            "runoff  ", "runoff "
        )
    )


def describe_order(report: Report) -> str:
    """Return how the run order was drawn, or that it is not known."""
    if not report.results.is_paired:
        if report.results.engine != IMPORTED:
            return "each campaign's own, at its own time"
        return "not known: the files do not say which runs were taken together, or when"
    if report.results.engine == IMPORTED:
        return "the blocks of the files; how the order was drawn is not known"
    source = "a seed of each machine" if report.results.members else f"seed {report.results.seed}"
    return f"arms in random order, every second block backwards, drawn from {source}"


def describe_seed(report: Report) -> str:
    """Return from which seed the order was drawn, as the end of a list; empty if it was not, or from several."""
    is_drawn = report.results.engine != IMPORTED and report.results.is_paired and not report.results.members
    return "" if not is_drawn else f", order seed {report.results.seed}"


def render_heading(table: Table) -> str:
    """Return workload, load and metric."""
    return f"{table.place}: {table.metric.title}"


def render_short_heading(table: Table) -> str:
    """Return a short heading for lines that have little room."""
    return f"{table.short_place}: {table.metric.title}"


def render_place(table: Table, tables: Sequence[Table]) -> str:
    """Return the shortest name that tells the table from the others."""
    if len([each for each in tables if each.place == table.place]) == 1:
        return table.short_place
    if len({each.place for each in tables}) == 1:
        return table.metric.title
    return f"{table.short_place} {table.metric.title}"


def describe_size(table: Table, arm: str) -> str:
    """Describe the size of a difference, and how many samples are valid if that may be a selection."""
    comparison, scale = table.analysis.comparisons[arm], Scale.from_table(table)
    size = scale.difference(comparison.difference or 0.0)
    if comparison.percent is not None:
        size = format_change(comparison.percent, 1)
    lost = table.find_selection(arm)
    if lost is None:
        return size
    kind = "runs with a value" if lost.unmeasured else "valid runs"
    return f"{size}, of {lost.taken - lost.count} {kind} in {lost.taken}"


def join_names(names: Sequence[str]) -> str:
    """Return names as a list in a sentence."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def render_matrix_heading(matrix: Matrix) -> str:
    """Return what a matrix of loads and arms shows."""
    unit = f"{matrix.scale.unit}, " if matrix.scale.unit else ""
    times = "; x: times that arm alone" if matrix.has_ratios else ""
    return f"{matrix.subject} ({unit}{describe_direction(matrix.first)}{times})"


def render_why_heading(panel: Explanation) -> str:
    """Return workload, load, arm, and how many counters differ."""
    return f"why, {panel.short_place}: {panel.arm}, {describe_why_share(panel)}"


def describe_why_share(panel: Explanation) -> str:
    """Return how many counters differ of how many, and how many are shown of these."""
    shown = f", the {len(panel.reasons)} largest" if len(panel.reasons) < panel.separated else ""
    return f"{panel.separated} of {panel.compared} counters differ{shown}"


def describe_why_note(panels: Sequence[Explanation]) -> str:
    """Return what to think of panels of counters."""
    compared, chance = sum(panel.compared for panel in panels), sum(panel.chance for panel in panels)
    return (
        f"They may explain it or not: of {compared} counters that were compared, up to {chance:.2g} are listed by "
        "chance. The largest difference comes first, in standard deviations of one run within a block (SDs)."
    )


def describe_unseen(table: Table) -> Iterator[str]:
    """Yield what arms that are the same were not seen to do; nothing without such an arm."""
    same = [c for c in table.analysis.comparisons.values() if c.verdict is Verdict.SAME]
    if same:
        share = max(c.unseen or 0.0 for c in same)
        taken = min(c.n for c in same)
        text = f"{taken} blocks" if table.analysis.question.paired else f"{taken} runs of each"
        yield (
            f"{', '.join(c.arm for c in same)}: the same in {text}; what happens in less than {100 * share:.2g} % of "
            "runs may have gone unseen"
        )


def render_overall_heading(found: Overall) -> str:
    """Return the heading of the geometric mean, or why there is none."""
    if found.analysis is None:
        return f"No geometric mean over workloads: {found.refused}."
    return f"geometric mean of the changes: {found.over}"


def describe_timelines(count: int) -> str:
    """Return where to find what disks did over time; empty without any."""
    if not count:
        return ""
    return (
        f"What the disk did over time is drawn in the page (--html) for {count} sample{'s' if count != 1 else ''}; "
        "each request of one: runoff report DIR --requests SAMPLE"
    )


def name_mean(table: Table) -> str:
    """Return the title of the column of means."""
    return "geo. mean" if table.has_geometric_means else "mean"


def describe_means(table: Table) -> Iterator[str]:
    """Yield why a table has geometric means; nothing where it has the usual ones."""
    if not table.has_geometric_means:
        return
    text = "means are geometric, as the changes are"
    if table.analysis.machines:
        text += ": arithmetic ones would be those of the slow machines"
    elif any(summary.outliers for summary in table.analysis.summaries.values()):
        text += ": a few runs are far from the rest"
    yield text


def describe_heaps(table: Table) -> Iterator[str]:
    """Yield for each arm whose values fall into two heaps where these are, and how many runs each has."""
    scale = Scale.from_table(table)
    for arm in table.arms:
        heaps = table.find_heaps(arm)
        if heaps is not None:
            low, high = (f"{scale.short(ends[0])} to {scale.short(ends[1])}" for ends in (heaps.low, heaps.high))
            yield (
                f"{arm} has two heaps of values, which no mean describes: {100 * (1 - heaps.share):.0f} % of the "
                f"runs at {low} and {100 * heaps.share:.0f} % at {high} {scale.unit}".rstrip()
            )


def describe_direction(table: Table) -> str:
    """Return which way is better, in words."""
    return DIRECTIONS[table.metric.direction]


def describe_unit_and_direction(table: Table) -> str:
    """Return what stands in brackets behind a heading."""
    unit = Scale.from_table(table).unit
    return f"{unit}, {describe_direction(table)}" if unit else describe_direction(table)


def list_voids(report: Report) -> Iterator[tuple[str, str]]:
    """Yield one line per arm, workload, machine and reason, and the first log that explains it, if there is one."""
    alike: dict[tuple[str, str, str, str], list[Sample]] = {}
    for sample in report.voids:
        place = sample.work.label(len(report.results.loads))
        reason = sample.reason or "no reason given"
        alike.setdefault((sample.arm, place, sample.machine, reason), []).append(sample)
    for (arm, place, machine, reason), samples in alike.items():
        blocks = _blocks([sample.block + 1 for sample in samples], report.results.blocks)
        blocks += f" on {machine}" if machine else ""
        detail = next((sample.detail for sample in samples if sample.detail), "")
        yield f"void: {arm}, {place}, {blocks}: {reason}", detail


def list_notes(report: Report) -> list[str]:
    """Return what is void, in lines, and where their logs are; then the warnings."""
    return list(_list_notes(report))


def _list_notes(report: Report) -> Iterator[str]:
    found = tuple(list_voids(report))
    yield from (line for line, _detail in found)
    if any(detail for _line, detail in found):
        yield "what was logged when samples became void is in the page (--html) and in --json"
    yield from describe_campaign(report)


def _blocks(numbers: list[int], planned: int) -> str:
    if len(numbers) == planned > 1:
        return f"all {planned} blocks"
    listed = ", ".join(map(str, numbers[:MOST_LISTED])) + (" ..." if len(numbers) > MOST_LISTED else "")
    return f"block {listed}" if len(numbers) == 1 else f"{len(numbers)} blocks ({listed})"


def list_legend(report: Report) -> tuple[str, ...]:
    """Return what the glyphs and intervals mean, and how many tables invite chance."""
    if len(report.results.arms) < 2:
        return (f"Intervals are 95 % confidence intervals of the mean.{describe_void_mark(report)}",)
    question = report.question
    level = f"{100 * (1 - question.alpha):g} %"
    where = f"in any of {question.tables} headline tables (Holm)" if question.tables > 1 else "in the headline table"
    others, false = report.others_judged
    rest = (
        f" {others} more metric{'s are' if others != 1 else ' is'} tested on the page, at {100 * question.alpha:g} % "
        f"each: expect about {false:.2g} false alarms there."
        if others
        else ""
    )
    in_units = any(not table.analysis.is_relative for table in report.tables)
    diff = f" diff = arm - {report.baseline}, in the metric's unit." if in_units else ""
    sequential = (
        "Intervals and p(adj) hold after all blocks at once, however often somebody looked. "
        if question.is_sequential
        else ""
    )
    return (
        f"+ better  - worse  = same (whole interval within +-{100 * question.margin:g} %, and what happens in "
        f"{100 * question.rare:g} % of runs would have been seen)  ? unclear{_list_rare_glyphs(report)}"
        f"{_describe_machine_glyphs(report)}",
        *_describe_machine_intervals(report),
        f"{_describe_change(report)}. Its {level} intervals and p(adj) hold for all arms of a table together, "
        f"each from that arm's own {name_unit(report)}; intervals of means are {level} each."
        f"{describe_void_mark(report)}{diff}",
        f"{sequential}If no mean differs, at most {100 * question.alpha:g} % of campaigns show a + or - {where}; more "
        f"do if arms differ in shape, as by rare slow runs.{rest}",
    )


_RARE_GLYPHS = {
    Verdict.SMALL: "within the margin, in too few {units} for =",
    Verdict.MIXED: "machines disagree",
    Verdict.VOID: "void",
    Verdict.PENDING: "not run yet",
    Verdict.ABSENT: "not compared: the files have numbers of one arm alone",
}


def _list_rare_glyphs(report: Report) -> str:
    """Return what those glyphs mean that few reports have."""
    analyses = [
        each for table in report.tables if table.points for each in (table.analysis, *table.analysis.machines.values())
    ]
    there = {comparison.verdict for analysis in analyses for comparison in analysis.comparisons.values()}
    texts = {verdict: text.format(units=name_unit(report)) for verdict, text in _RARE_GLYPHS.items()}
    return "".join(f"  {verdict} {text}" for verdict, text in texts.items() if verdict in there)


def _describe_machine_glyphs(report: Report) -> str:
    """Return at which certainty machines have their glyphs; empty for a campaign of one."""
    if len(report.results.machines) < 2:
        return ""
    return ". A + or - of one machine holds for all of them together: the interval of a ? may exclude 0"


def name_unit(report: Report) -> str:
    """Return what samples are counted in."""
    return "blocks" if report.results.is_paired else "runs"


def _describe_change(report: Report) -> str:
    if report.results.is_paired:
        return f"Change: how much more (+) or less (-) than {report.baseline}, as the geometric mean over blocks"
    return f"Change: how much more (+) or less (-) than {report.baseline}, of the geometric means"


def describe_void_mark(report: Report) -> str:
    """Return what marks arms in tables that lost samples; empty without any."""
    if any(table.unmeasured for table in report.headline):
        return " n! = some samples are void or have no value."
    return " n! = some samples are void." if report.voids else ""


def _describe_machine_intervals(report: Report) -> Iterator[str]:
    """Yield what intervals over machines mean; nothing for a campaign of one machine."""
    if len(report.results.machines) < 2:
        return
    yield (
        "Over machines: the mean of their changes, each machine counting once. Its interval is Student's t over "
        "machines, so that it holds for others like them; of two machines it is the hull of their intervals, and holds "
        "for these two. The verdicts of single machines hold for all of them together, their intervals for each by "
        "itself."
    )


def describe_method(report: Report) -> tuple[str, ...]:
    """Return how the numbers came about; docs/statistics.md has the formulas."""
    question = report.question
    return (
        *_describe_samples(report),
        f"{_describe_comparison(report)}, at Sidak's level for {100 * question.alpha:g} % over the arms of a table. "
        "From five blocks on, what other arms do changes nothing but their number. Where a value is zero or negative, "
        "differences are given in the metric's unit.",
        f"An arm is the same (=) if its whole interval lies within ±{100 * question.margin:g} % of the baseline, by a "
        f"step of the values at least, and there are {name_unit(report)} enough to have seen, with 90 % chance, what "
        f"hits {100 * question.rare:g} % of runs; better (+) or worse (-) if its interval excludes no change, by "
        "Holm's procedure over all headline tables, and it is not the same; and else unclear (?).",
        "Intervals of means use each arm's own SD and Student's t. Quantiles use rank p(n + 1). Drift along the run "
        "order is checked by Mann-Kendall at 1 %. runoff report DIR --table classic has the one-way analysis of "
        "variance with Tukey-Kramer's pairs.",
    )


def _describe_samples(report: Report) -> tuple[str, ...]:
    """Return where the samples came from, and which count."""
    results = report.results
    if results.engine == IMPORTED:
        order = describe_order(report)
        return (f"The numbers were imported from files, which this campaign has copies of; order: {order}.",)
    if not results.is_paired:
        return (
            f"Each arm is a campaign ({report.engine}), taken at its own time. Where there is a control, its values "
            "are multiples of the control's in the same block.",
        )
    return (
        f"Samples were taken in {results.blocks} blocks ({report.engine}); {describe_order(report)}. "
        "Samples of different engines are never in one table.",
        "A sample is void if the arm's scheduler was not in charge from before its start until after its end, or the "
        "work failed. Voids are counted and shown; no valid sample is left out.",
    )


def _describe_comparison(report: Report) -> str:
    if not report.results.is_paired:
        return (
            "Each arm is compared with the baseline by the means of the logarithms of their runs: Welch's t, with each "
            "arm's own SD and Satterthwaite's degrees of freedom, wider where runs resemble the run before (seen from "
            "20 runs of two arms on), and where few runs stand against many the difference is also held against values "
            "that are dealt anew"
        )
    return (
        "Each arm is compared with the baseline within blocks: the mean of the log ratios of their samples, Student's "
        "t with these ratios' own SD"
    )

"""Where the typical case or the whole run stands otherwise than the headline, in sentences and pictures."""

from collections.abc import Iterator, Sequence

from runoff.analysis.counterparts import Counterpart, find_counterparts
from runoff.analysis.table import Table
from runoff.analysis.values import Report
from runoff.report.words.wording import describe_size, join_names, render_short_heading
from runoff.statistics import Verdict

MOST_TOLD = 4
"""Counterparts that are told; of more, the first."""
MOST_ARMS = 3
"""Arms of each that are named; of more, the first in the table."""

_WHERE = {"typical": "In the typical case", "whole": "Over the whole run"}


def describe_counterparts(tables: Sequence[Table]) -> Iterator[str]:
    """Yield a sentence for each counterpart."""
    found = find_counterparts(tables)
    yield from map(_describe, found[:MOST_TOLD])
    if len(found) > MOST_TOLD:
        yield (
            f"The typical case or the whole run stands otherwise than the headline in {len(found) - MOST_TOLD} more "
            "tables of the page."
        )


def list_drawn(report: Report) -> list[Table]:
    """Return the tables that a picture of all changes has: headline tables, each before its counterparts."""
    found = find_counterparts(report.tables)
    return [
        table
        for headline in report.headline
        for table in (headline, *(each.table for each in found if each.headline is headline))
    ]


def describe_undrawn(report: Report) -> str:
    """Return which arms such a picture has no row for though there is a difference; empty if it has all."""
    named = [
        f"{render_short_heading(table)} of {join_names(arms)}"
        for table in list_drawn(report)
        if (
            arms := [
                arm for arm, each in table.analysis.comparisons.items() if each.interval and not each.percent_interval
            ]
        )
    ]
    return f"Not drawn, because a ratio needs values above 0: {'; '.join(named)}." if named else ""


def _describe(found: Counterpart) -> str:
    table, baseline = found.table, found.table.analysis.question.baseline
    where = f"{_WHERE[found.kind]} ({table.short_place} {table.metric.title})"
    sides = []
    for verdict in (Verdict.BETTER, Verdict.WORSE):
        arms = [arm for arm in found.arms if table.analysis.comparisons[arm].verdict is verdict]
        if arms:
            named = [f"{arm} ({describe_size(table, arm)})" for arm in arms[:MOST_ARMS]]
            named += [f"{len(arms) - MOST_ARMS} more"] if len(arms) > MOST_ARMS else []
            sides.append(f"{join_names(named)} {'is' if len(arms) == 1 else 'are'} {verdict.word} than {baseline}")
    return f"{where} {', and '.join(sides)}."

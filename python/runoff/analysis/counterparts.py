"""Tables that stand otherwise than a headline table of the same work: of its typical case, and of the whole run.

A 99th percentile can be five times as long where the median is a hundredth, and the part of a run that a program
measures can be shorter where the run is longer.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from runoff.analysis.table import Table
from runoff.statistics import Comparison, Verdict

ERROR_SHARE = 0.1
"""Part of the error of the verdict that all counterparts together may add to it where the headline shows nothing."""

WHOLE_RUN = "elapsed_s"
"""The metric of the whole run, which every sample that runoff takes has."""

_TAIL = re.compile(r"(?<![a-z0-9])(?:p9\d*(?:\.\d+)?|max|largest|9\d(?:\.\d+)?th percentile)(?![a-z0-9])")
_TYPICAL = ("p50", "median", "50th percentile")
_CLEAR = (Verdict.BETTER, Verdict.WORSE)
_COMPARED = (*_CLEAR, Verdict.SAME, Verdict.SMALL, Verdict.UNCLEAR)


@dataclass(frozen=True, slots=True)
class Counterpart:
    """A table that is not a headline table, and in which arms stand otherwise than in one."""

    kind: Literal["typical", "whole"]
    table: Table
    headline: Table
    arms: tuple[str, ...]
    """The arms that are better or worse in it, and are not so in the headline table; in the order of its rows."""


def find_counterparts(tables: Sequence[Table]) -> tuple[Counterpart, ...]:
    """Return the counterparts in which an arm stands otherwise, in the order of their headline tables.

    An arm that is better or worse in a counterpart is there if its p, times the number of counterparts, is within the
    error that the report may have; where the headline shows no difference, within ``ERROR_SHARE`` of that.
    """
    pairs = list(_pair(tables))
    found = (
        Counterpart(kind, table, headline, tuple(_differ(table, headline, len(pairs))))
        for kind, table, headline in pairs
    )
    return tuple(each for each in found if each.arms)


def _pair(tables: Sequence[Table]) -> Iterator[tuple[Literal["typical", "whole"], Table, Table]]:
    judged = [table for table in tables if table.is_judged]
    whole: set[str] = set()
    for headline in (table for table in judged if table.metric.headline):
        beside = [table for table in judged if not table.metric.headline and table.place == headline.place]
        if typical := _find_typical(headline.metric.name, beside):
            yield "typical", typical, headline
        elapsed = next((table for table in beside if table.metric.name == WHOLE_RUN), None)
        if elapsed is not None and not headline.is_percentile and headline.place not in whole:
            whole.add(headline.place)
            yield "whole", elapsed, headline


def _find_typical(name: str, tables: Sequence[Table]) -> Table | None:
    """Return the table of the median of what the metric ``name`` is a tail of."""
    words = name.lower().replace("_", " ")
    wanted = {_TAIL.sub(typical, words) for typical in _TYPICAL} - {words}
    return next((table for table in tables if table.metric.name.lower().replace("_", " ") in wanted), None)


def _differ(table: Table, headline: Table, among: int) -> Iterator[str]:
    limit = table.analysis.question.alpha / among
    for arm in table.arms:
        own, first = table.analysis.comparisons[arm], headline.analysis.comparisons[arm]
        least = limit if first.verdict in _CLEAR else ERROR_SHARE * limit
        if _is_certain(own, least) and first.verdict in _COMPARED and first.verdict is not own.verdict:
            yield arm


def _is_certain(comparison: Comparison, limit: float) -> bool:
    return comparison.verdict in _CLEAR and comparison.p is not None and comparison.p <= limit

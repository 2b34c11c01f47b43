"""Which verdicts survive when a campaign is repeated with another quantum."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from runoff.analysis.table import Table
from runoff.analysis.values import Report
from runoff.statistics import Verdict


@dataclass(frozen=True, slots=True)
class Survey:
    """The verdict on one arm in one table, and what the repeats say."""

    table: Table
    arm: str
    here: Verdict
    repeated: Mapping[str, Verdict | None]
    """By repeat; None where it has no such table, or no verdict."""

    @property
    def has_survived(self) -> bool:
        return all(verdict == self.here for verdict in self.repeated.values())


def collect_surveys(headline: Sequence[Table], repeats: Mapping[str, Report]) -> Iterator[Survey]:
    """Return the survey of every verdict, in the order of the tables; nothing without repeats."""
    if not repeats:
        return
    for table in headline:
        for arm, comparison in table.analysis.comparisons.items():
            if table.is_judged and comparison.verdict is not None:
                repeated = {name: _verdict(table, arm, report) for name, report in repeats.items()}
                yield Survey(table, arm, comparison.verdict, repeated)


def describe_surveys(headline: Sequence[Table], repeats: Mapping[str, Report]) -> tuple[str, ...]:
    """Return how many survive, and what becomes of each that does not; nothing without repeats."""
    all_of_them = list(collect_surveys(headline, repeats))
    if not all_of_them:
        return ()
    others = [survey for survey in all_of_them if not survey.has_survived]
    count = f"{len(all_of_them) - len(others)} of {len(all_of_them)} verdicts"
    first = f"Again with {' and with '.join(repeats)}: {count} survive{'.' if not others else ', the others:'}"
    return (first, *map(_describe_lost, others))


def _verdict(table: Table, arm: str, repeat: Report) -> Verdict | None:
    for other in repeat.headline:
        if (other.place, other.metric) == (table.place, table.metric):
            return other.analysis.comparisons[arm].verdict
    return None


def _describe_lost(survey: Survey) -> str:
    parts = [f"with {name} {verdict.word if verdict else 'nothing'}" for name, verdict in survey.repeated.items()]
    return f"{survey.table.place}, {survey.table.metric.title}: {survey.arm} {survey.here.word}, {', '.join(parts)}."

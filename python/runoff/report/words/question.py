"""What a campaign asks, and on what machine and when it was answered: the head of the page."""

from collections.abc import Iterator, Sequence

from runoff.analysis.environment import describe_machine
from runoff.analysis.labels import shorten_labels
from runoff.analysis.values import Report

MOST_NAMED = 3
"""Arms and workloads that are named; more are counted."""
LONGEST_NAMES = 60
"""Characters of names that leave the first screen to the answer."""


def describe_question(report: Report) -> str:
    """Return the question that the verdict answers."""
    results = report.results
    works = list(dict.fromkeys(shorten_labels(results.workloads).values()))
    work = _name(works, "and", f"{len(works)} workloads")
    others = results.arms[1:]
    if not others:
        return f"How does {_name(results.arms, 'and', 'one arm')} do on {work}?"
    if report.sweep is not None:
        return (
            f"Which {_name(report.sweep.parameters, 'and', 'values')} of {_find_scheduler(report)} is best for {work}?"
        )
    baseline = _name([results.arms[0]], "and", "its baseline")
    return f"Is {_name(others, 'or', _count(others))} better than {baseline} for {work}?"


def _name(names: Sequence[str], joint: str, many: str) -> str:
    text = names[0] if len(names) == 1 else f"{', '.join(names[:-1])} {joint} {names[-1]}"
    return many if len(names) > MOST_NAMED or len(text) > LONGEST_NAMES else text


def _count(arms: Sequence[str]) -> str:
    return "the other arm" if len(arms) == 1 else f"any of {len(arms)} arms"


def _find_scheduler(report: Report) -> str:
    return report.results.arms[0].partition(":")[0]


def list_facts(report: Report) -> Iterator[str]:
    """Yield where and when the samples were taken."""
    results = report.results
    if results.machines:
        yield f"machines: {', '.join(results.machines)}"
    yield from describe_machine(results.fingerprint).values()
    yield report.engine
    days = sorted({sample.conditions.started[:10] for sample in results.samples if sample.conditions is not None})
    if days:
        yield days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}"

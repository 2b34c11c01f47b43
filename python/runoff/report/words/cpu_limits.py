"""Limits of CPU time that work was under, in sentences."""

from collections.abc import Iterator, Sequence

from runoff.analysis.cpu_limits import (
    ExceededQuota,
    IgnoredLimits,
    LimitedWork,
    LimitFinding,
    UnwatchedGroups,
    find_limits,
)
from runoff.results import Results

MOST = 3
"""Limits, or arms, that are named one by one."""


def describe_limits(results: Results) -> list[str]:
    """Return a sentence for each place where limits may be what differs."""
    return [describe_limit(found) for found in find_limits(results)]


def describe_limit(found: LimitFinding) -> str:
    """Return what a reader of the verdicts has to know of limits."""
    match found:
        case UnwatchedGroups(samples, why):
            return f"limits of control groups may have gone unseen in {samples} valid samples: {why}"
        case IgnoredLimits(limits, arms, is_known):
            why = "does not apply limits of control groups" if is_known else "may not apply limits of control groups"
            does = "does" if len(limits) == 1 else "do"
            nothing = f"{does} nothing" if is_known else "may do nothing"
            return f"{_join(limits)} {nothing} under {_join(arms)}, whose scheduler {why}"
        case ExceededQuota(limit, arms, percent):
            return f"{limit} did not hold under {_join(arms)}: up to {percent:.0f} % of it were used"
        case LimitedWork() if not found.may_differ:
            return f"{found.place}: {_who(found)} the limit of CPU time that work was under ({_limits(found)})"
        case _:
            return (
                f"{found.place}: work was under a limit of CPU time ({_limits(found)}), which {_who(found)}, so a "
                "difference may be the limit and not the scheduler: take it again without the limit"
            )


def _limits(found: LimitedWork) -> str:
    return _join(found.limits, "; ")


def _who(found: LimitedWork) -> str:
    return " and ".join(_list_groups(found))


def _list_groups(found: LimitedWork) -> Iterator[str]:
    if found.applying:
        yield f"{_join(found.applying)} {_say(found.applying, 'applies', 'apply')}"
    if found.ignoring:
        yield f"{_join(found.ignoring)} {_say(found.ignoring, 'does', 'do')} not{'' if found.applying else ' apply'}"
    if found.unknown:
        yield f"{_join(found.unknown)} may not{'' if found.applying or found.ignoring else ' apply'}"


def _say(arms: Sequence[str], one: str, more: str) -> str:
    return one if len(arms) == 1 else more


def _join(names: Sequence[str], separator: str = ", ") -> str:
    more = len(names) - MOST
    return separator.join(names[:MOST]) + (f" and {more} more" if more > 0 else "")

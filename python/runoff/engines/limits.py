"""How long an agent may be silent before it counts as lost, on the host and in the lab."""

from runoff.workloads import Work

CHECK_LIMIT_S = 60.0
"""Limit for the start of an agent, and for trying an arm."""

MARGIN_S = 60.0
"""Time for attaching, detaching and cleaning up, beyond a command's own time-out."""


def silence_limit_s(work: Work, load: Work | None = None) -> float:
    """Return the longest time between two events of one sample."""
    definitions = [each.definition for each in (work, load) if each is not None]
    if load is not None and load.definition.rehearse:
        definitions.append(work.definition)
    return sum((len(each.prepare) + 1) * each.timeout_s for each in definitions) + MARGIN_S

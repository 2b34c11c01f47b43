"""Names of workloads with as few of their parameters as tell them from each other."""

import re
from collections.abc import Sequence

PARAMETER = re.compile(r"[a-z][a-z0-9_]*=\S*")


def shorten_labels(workloads: Sequence[str]) -> dict[str, str]:
    """Return a short label for each workload: its name without the parameters that all of its kind share."""
    kinds: dict[str, list[str]] = {}
    for workload in dict.fromkeys(workloads):
        kinds.setdefault(workload.partition(":")[0], []).append(workload)
    return {workload: _drop_parameters(workload, _find_shared(same)) for same in kinds.values() for workload in same}


def _find_shared(workloads: Sequence[str]) -> set[str]:
    return set[str].intersection(*(set(_parameters(workload)) for workload in workloads))


def _drop_parameters(workload: str, shared: set[str]) -> str:
    parameters = _parameters(workload)
    if not parameters:
        return workload
    own = ",".join(each for each in parameters if each not in shared)
    kind = workload.partition(":")[0]
    return f"{kind}:{own}" if own else kind


def _parameters(workload: str) -> list[str]:
    """Return the parameters of ``workload``; none if a command line follows the colon."""
    parameters = workload.partition(":")[2].split(",")
    return parameters if all(PARAMETER.fullmatch(each) for each in parameters) else []

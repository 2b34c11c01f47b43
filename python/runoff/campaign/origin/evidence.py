"""Are the samples of several machines evidence of several machines? Copies are not, nor is a clock without machines."""

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from itertools import combinations
from typing import Protocol

from runoff.errors import UsageError
from runoff.results import Results


class _Taken(Protocol):
    """A sample, wherever it is from."""

    @property
    def arm(self) -> str: ...

    @property
    def workload(self) -> str: ...

    @property
    def load(self) -> str: ...

    @property
    def block(self) -> int: ...

    @property
    def valid(self) -> bool: ...

    @property
    def metrics(self) -> Mapping[str, float]: ...


def require_evidence(machines: Mapping[str, Results]) -> None:
    """Raise UsageError where the results of several ``machines``, by name, say nothing about machines."""
    if any(results.clock == "virtual" for results in machines.values()):
        raise UsageError(
            "under the virtual clock the machine is not a factor, every machine takes the same samples: keep one "
            "campaign, and take more blocks in it",
            hint=("resume", "DIR", "--blocks", "N"),
        )
    refuse_copies({name: results.samples for name, results in machines.items()}, "blocks")


def refuse_copies(machines: Mapping[str, Iterable[_Taken]], unit: str) -> None:
    """Raise UsageError where two machines have the same samples; ``unit`` is what those of one number make up."""
    contents = {name: _count_contents(samples) for name, samples in machines.items()}
    for (name, ours), (other, theirs) in combinations(contents.items(), 2):
        if copied := _count_copied(ours, theirs):
            raise UsageError(
                f"{name} and {other} have {copied} of {min(ours.total(), theirs.total())} {unit} in common, equal to "
                "the last digit, and copies are not evidence of another machine: leave one out, or take the plan anew "
                "on its machine"
            )


def _count_contents(samples: Iterable[_Taken]) -> Counter[Hashable]:
    """Return how often each content of a block occurs: the values of its valid samples, in whatever order."""
    blocks: dict[int, set[Hashable]] = {}
    for sample in samples:
        if sample.valid and sample.metrics:
            values = (sample.arm, sample.workload, sample.load, tuple(sorted(sample.metrics.items())))
            blocks.setdefault(sample.block, set()).add(values)
    return Counter(frozenset(values) for values in blocks.values())


def _count_copied(ours: Counter[Hashable], theirs: Counter[Hashable]) -> int:
    """Return how many blocks two machines have in common.

    Where a content occurs twice on one machine its values are coarse enough to be equal by chance, so it counts only
    where one machine has nothing of its own.
    """
    common = ours & theirs
    if common in (ours, theirs):
        return common.total()
    return sum(1 for content in common if ours[content] == theirs[content] == 1)

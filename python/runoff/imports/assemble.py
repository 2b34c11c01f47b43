"""What was read from files, put together as arms, workloads and samples."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from runoff.errors import UsageError
from runoff.imports import account
from runoff.imports.files import Source
from runoff.imports.identity import Entry, Wishes, assign_roles, list_entries, refuse_equal_columns
from runoff.imports.labels import name_workloads
from runoff.imports.metrics import decide_directions, join_metrics
from runoff.imports.samples import ImportedSample, make_samples
from runoff.imports.values import FoundMetric, Reading
from runoff.results import Metric

MOST_ARMS = 500
MOST_WORKLOADS = 2000


@dataclass(frozen=True, slots=True)
class Imported:
    """All that was imported."""

    arms: tuple[str, ...]
    """The first is the baseline."""
    metrics: Mapping[str, tuple[Metric, ...]]
    """By workload, headline metrics first."""
    loads: tuple[str, ...]
    """An empty one where nothing ran beside the work."""
    samples: tuple[ImportedSample, ...]
    machines: tuple[str, ...]
    """Their names, if there are several."""
    is_paired: bool
    account: tuple[str, ...]
    """What was taken for what, and what became of every number."""
    notes: tuple[str, ...]


def assemble(sources: Sequence[Source], readings: Sequence[Reading], wishes: Wishes) -> Imported:
    """Put together what was read. Raises UsageError where that cannot be one comparison."""
    files = assign_roles(sources, readings, wishes)
    joined = join_metrics(files, wishes)
    entries = list(list_entries(files))
    if not entries:
        raise UsageError(f"{sources[0].file.name}: it has no run")
    refuse_equal_columns(files, entries)
    arms = _order_arms(list(dict.fromkeys(entry.arm for entry in entries)), wishes.baseline)
    _refuse_too_many(arms, "arms", MOST_ARMS)
    machines = _list_machines(entries)
    blocks = {entry.block is not None for entry in entries}
    if len(blocks) > 1:
        raise UsageError("some of the files have blocks and others not, so nothing says which runs belong together")
    is_paired = blocks == {True}
    labels = name_workloads(files, entries)
    _refuse_too_many({entry.workload for entry in labels.entries}, "workloads", MOST_WORKLOADS)
    found = make_samples(files, labels.entries, joined, is_paired=is_paired)
    decided, unjudged = decide_directions(joined.metrics)
    notes = (*dict.fromkeys(note for reading in readings for note in reading.notes), *labels.notes, *unjudged)
    if max(Counter((sample.arm, sample.workload, sample.load) for sample in found.samples).values()) < 2:
        raise UsageError(
            "; ".join(("there is one run of each arm, and nothing says how much such runs vary: give ten", *notes))
        )
    return Imported(
        arms=arms,
        metrics=_list_metrics(labels.entries, decided),
        loads=tuple(dict.fromkeys(sample.load for sample in found.samples)),
        samples=found.samples,
        machines=machines,
        is_paired=is_paired,
        account=account.describe(files, found.samples, labels.keys, found.kept, found.void, is_paired=is_paired),
        notes=notes,
    )


def _refuse_too_many(names: Collection[str], noun: str, most: int) -> None:
    if len(names) > most:
        raise UsageError(f"these would be {len(names)} {noun}, and a report has at most {most}: give a part of them")


def _list_machines(entries: Sequence[Entry]) -> tuple[str, ...]:
    """Return the names of several machines; none for one. Raises UsageError where some numbers have one alone."""
    names = tuple(dict.fromkeys(entry.machine for entry in entries))
    if len(names) > 1 and "" in names:
        known = next(name for name in names if name)
        raise UsageError(
            f"some numbers are of the machine {known} and of others nothing says the machine: say it of all files, "
            "as in --machine NAME=FILE"
        )
    _refuse_too_many(names, "machines", MOST_ARMS)
    return names if len(names) > 1 else ()


def _order_arms(arms: list[str], baseline: str) -> tuple[str, ...]:
    if baseline and baseline not in arms:
        raise UsageError(f"--baseline {baseline}: there is no such arm; there are: {', '.join(arms)}")
    return (*([baseline] if baseline else []), *(arm for arm in arms if arm != baseline))


def _list_metrics(entries: Sequence[Entry], metrics: Mapping[str, FoundMetric]) -> dict[str, tuple[Metric, ...]]:
    """Return the metrics of each workload; what has a direction is judged."""
    names: dict[str, set[str]] = {}
    for entry in entries:
        names.setdefault(entry.workload, set()).add(entry.number.metric)
    return {
        work: tuple(
            sorted((_finish(metrics[name]) for name in metrics if name in own), key=lambda metric: not metric.headline)
        )
        for work, own in names.items()
    }


def _finish(metric: FoundMetric) -> Metric:
    direction = metric.direction or "none"
    return Metric(
        metric.name, metric.unit, direction, metric.title or metric.name, metric.is_headline and direction != "none"
    )

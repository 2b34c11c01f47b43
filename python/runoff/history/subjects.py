"""What of many campaigns is drawn: each metric of each arm under each work."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from runoff.analysis.common import take_values
from runoff.errors import UsageError
from runoff.results import LoadedWork, Metric, Results
from runoff.text import suggest


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is drawn; None is everything, or of metrics the headline ones."""

    work: str | None = None
    load: str | None = None
    arm: str | None = None
    metric: str | None = None
    """The name, or the title as reports print it."""
    control: str | None = None


@dataclass(frozen=True, slots=True)
class Subject:
    """One metric of one arm under one work."""

    work: LoadedWork
    label: str
    """Name of the arm; empty if each campaign has only one, by names of its own."""
    arms: Mapping[str, str]
    """The arm that stands for it by campaign."""
    metric: Metric


def list_subjects(campaigns: Mapping[str, Results], control: str | None, wanted: Wanted) -> Iterator[Subject]:
    """Yield everything that is wanted, in the order of the last campaign that has it. Raises UsageError."""
    every = list(campaigns.values())[::-1]
    works = list(dict.fromkeys(LoadedWork(w, load) for each in every for w in each.workloads for load in each.loads))
    arms = _list_arms(campaigns, control)
    metrics = {
        work.workload: list(dict.fromkeys(m for each in every for m in each.metrics.get(work.workload, ())))
        for work in works
    }
    _require_known("--work", wanted.work, [work.workload for work in works])
    _require_known("--load", wanted.load, [work.load for work in works])
    _require_known("--arm", wanted.arm, list(arms))
    every_metric = [metric for known in metrics.values() for metric in known]
    if wanted.metric not in {metric.title for metric in every_metric}:
        _require_known("--metric", wanted.metric, [metric.name for metric in every_metric])
    for work in works:
        if wanted.work not in (None, work.workload) or wanted.load not in (None, work.load):
            continue
        for metric in metrics[work.workload]:
            if not (metric.headline if wanted.metric is None else wanted.metric in (metric.name, metric.title)):
                continue
            for label, by_campaign in arms.items():
                if wanted.arm in (None, label):
                    yield Subject(work, label, by_campaign, metric)


def take_subject(campaigns: Mapping[str, Results], subject: Subject, control: str | None) -> dict[str, list[float]]:
    """Return the values by campaign, of those that have any."""
    metric, work = subject.metric, subject.work
    found = {}
    for name, arm in subject.arms.items():
        own = campaigns[name].metrics.get(work.workload, ())
        if not any((m.name, m.unit, m.direction) == (metric.name, metric.unit, metric.direction) for m in own):
            continue
        values = take_values(campaigns[name], (work.workload, work.load), arm, control, [metric])
        finite = [run.values[metric.name] for run in values if math.isfinite(run.values.get(metric.name, math.nan))]
        if finite:
            found[name] = finite
    return found


def _list_arms(campaigns: Mapping[str, Results], control: str | None) -> dict[str, Mapping[str, str]]:
    """Return by label which arm it is in each campaign that has it: the same, or the only one beside the control."""
    others = {name: [arm for arm in results.arms if arm != control] for name, results in campaigns.items()}
    labels = list(dict.fromkeys(arm for arms in list(others.values())[::-1] for arm in arms))
    if len(labels) > 1 and all(len(arms) == 1 for arms in others.values()):
        return {"": {name: arm for name, (arm,) in others.items()}}
    return {label: {name: label for name, arms in others.items() if label in arms} for label in labels}


def _require_known(option: str, asked: str | None, known: Sequence[str]) -> None:
    if asked is not None and asked not in known:
        names = list(dict.fromkeys(name or "none" for name in known))
        hint = suggest(asked, names)
        listed = "" if hint == suggest("", names) else f"; there are: {', '.join(names)}"
        raise UsageError(f"{option} {asked}: no campaign has it{hint}{listed}")

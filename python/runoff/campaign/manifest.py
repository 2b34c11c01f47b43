"""What a plan comes to, as a campaign keeps it: labels, metrics, and the definitions of its workloads and loads."""

import hashlib
from collections.abc import Iterable, Iterator
from pathlib import Path

from runoff.campaign.journal.records import Definitions, Outline, StoredDefinition
from runoff.engines.choose import find_catalogue
from runoff.errors import UsageError
from runoff.plan.plan import Plan
from runoff.results import Metric
from runoff.workloads import LOADS, WORKLOADS, Work


def make_outline(plan: Plan) -> Outline:
    """Return all that a reader of the samples needs, even if files, runoff or the machine change later."""
    return Outline(
        clock=plan.clock,
        arms=[arm.label for arm in plan.arms],
        workloads=[work.label for work in plan.works],
        loads=list(plan.load_labels),
        metrics={work.label: list_metrics(plan, work) for work in plan.works},
        parameters={work.label: dict(work.values) for work in plan.works},
        twins=dict(plan.twins),
        about={arm.label: arm.about for arm in plan.arms if arm.about},
        kernels={arm.label: kernel for arm, kernel in zip(plan.arms, plan.boots, strict=False)},
    )


def list_metrics(plan: Plan, work: Work) -> list[Metric]:
    """Return all that a sample of ``work`` may have, headline metrics first."""
    known = find_catalogue(plan.settings.on).metrics()
    return [
        *work.list_metrics(known.workload),
        *(known.server if work.definition.server else ()),
        *(known.limits if plan.has_limits else ()),
        *(known.load if plan.settings.loads else ()),
        *(known.disk if plan.has_elevators or plan.settings.place else ()),
        *known.list_probe_metrics(plan.probes),
    ]


def collect_definitions(plan: Plan) -> Definitions:
    """Return the texts of the definitions as they were read."""
    return Definitions(
        workloads=_collect_texts(plan.works), loads=_collect_texts(load for load in plan.loads if load is not None)
    )


def _collect_texts(works: Iterable[Work]) -> dict[str, StoredDefinition]:
    sources = (work.source for work in works)
    return {source.name: StoredDefinition(sha256=source.sha256, toml=source.text) for source in sources}


def find_changes(plan: Plan) -> Iterator[str]:
    """Yield a sentence for each file that is no longer what ``plan``, of a campaign that goes on, has kept of it."""
    kept = {(WORKLOADS, work.source) for work in plan.works}
    kept |= {(LOADS, load.source) for load in plan.loads if load is not None}
    for catalogue, source in sorted(kept, key=lambda each: (each[0].noun, each[1].name)):
        try:
            found = catalogue.read(source.name).sha256
        except UsageError:
            found = "gone"
        if found != source.sha256:
            yield _note(f"{catalogue.noun} {source.name}", source.sha256, found)
    named = {("object", arm.object.name, arm.object.sha256) for arm in plan.arms if arm.object is not None}
    named |= {("file", file.key, file.sha256) for file in plan.own_files}
    for noun, name, sha256 in sorted(named):
        try:
            found = hashlib.sha256(Path(name).expanduser().read_bytes()).hexdigest()
        except OSError:
            found = "gone"
        if found != sha256:
            yield _note(f"{noun} {name}", sha256, found)


def _note(what: str, was: str, is_now: str) -> str:
    return (
        f"the {what} is not what the campaign began with (sha256 was {was[:12]}, is {is_now[:12]}): "
        "it goes on with what it has kept"
    )

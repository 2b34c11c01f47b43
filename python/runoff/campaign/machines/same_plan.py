"""Can campaigns of several machines be one? They must have one plan, and each its own machine."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

from runoff.campaign.imported import is_imported
from runoff.campaign.journal.journal import Journal
from runoff.campaign.journal.records import Definitions, ImportRecord, Outline, Part
from runoff.campaign.origin.mixing import IN_CHARGE
from runoff.engine_kinds import ENGINES
from runoff.errors import UsageError
from runoff.results import IMPORTED
from runoff.workloads import StoredFile

_OWN = ("seed", "blocks", "most_blocks")
"""Settings that each machine may have for itself."""
_OF_THE_MACHINE = ("cpus",)
"""Settings that describe a machine that is used as it is."""


@dataclass(frozen=True, slots=True)
class CampaignIdentity:
    """The plan, the machines and the first sample of a campaign."""

    place: Path
    plan: Mapping[str, Any]
    """Everything that must be the same on all machines, by a name that people understand."""
    machines: frozenset[str]
    """Ids of all machines that took samples of it, or their hostnames on a cluster; without those that have none."""
    first_row: str
    """Digest of its first sample: two copies of a campaign share it."""


def identify_campaign(place: Path) -> CampaignIdentity:
    """Read what merging depends on. Raises UsageError."""
    with Journal.open(place, write=False) as journal:
        if is_imported(journal):
            return _identify_import(place, journal)
        settings: dict[str, Any] = journal.fact("settings", {})
        outline: Outline | None = journal.fact("outline")
        definitions: Definitions | None = journal.fact("definitions")
        parts: list[Part] = journal.fact("parts", [])
        if outline is None or definitions is None or not parts:
            raise UsageError(f"{place} has no samples: carry it out first", hint=("resume", place))
        return CampaignIdentity(
            place=place,
            plan=dict(_describe_plan(settings, outline, definitions, parts[-1], _read_digests(journal))),
            machines=_find_machines(place, parts),
            first_row=journal.first_sample,
        )


def _identify_import(place: Path, journal: Journal) -> CampaignIdentity:
    """Read what merging imported numbers depends on: what they are of. Of which machine, only the user knows."""
    outline: Outline = journal.fact("outline")
    record: ImportRecord = journal.fact("imported")
    if record.machines:
        raise UsageError(f"{place} is of several machines already: give the files of all of them to runoff import")
    plan = {
        "engine": IMPORTED,
        "arms": outline.arms,
        "workloads": outline.workloads,
        "metrics": {work: sorted(metric.name for metric in metrics) for work, metrics in outline.metrics.items()},
        "blocks": "in the files" if record.is_paired else "not in the files",
    }
    return CampaignIdentity(place=place, plan=plan, machines=frozenset(), first_row=journal.first_sample)


def _find_machines(place: Path, parts: Sequence[Part]) -> frozenset[str]:
    """Return who took the parts of a campaign. Raises UsageError for several machines that blocks do not name."""
    found = frozenset(part.runoff.machine or part.runoff.hostname for part in parts) - {""}
    # A sample of the virtual clock is of no machine.
    taken_by = [part.runoff for part in parts if part.runoff.clock == "real"]
    if len(found) > 1 and not all(taker.hostname for taker in taken_by):
        raise UsageError(
            f"{place} was begun on one machine and gone on with on another, so that it is of neither: take the plan "
            "anew on one of them, or leave it out"
        )
    return found


def _read_digests(journal: Journal) -> dict[str, str]:
    """Return the SHA-256 of objects and of the user's own files; libraries are of each machine."""
    objects: dict[str, str] = journal.fact("objects", {})
    files: dict[str, StoredFile] = journal.fact("files", {})
    return {f"object {name}": sha256 for name, sha256 in objects.items()} | {
        f"file {key}": file.sha256 for key, file in files.items()
    }


def _describe_plan(
    settings: Mapping[str, Any], outline: Outline, definitions: Definitions, part: Part, digests: Mapping[str, str]
) -> Iterator[tuple[str, Any]]:
    yield "engine", settings.get("on")
    yield "clock", outline.clock
    engine = ENGINES.get(settings.get("on", ""))
    own = (*_OWN, *(_OF_THE_MACHINE if engine is not None and engine.is_this_machine else ()))
    for key, value in settings.items():
        if key not in (*own, "on", "clock"):
            yield key, value
    for key in ("arms", "workloads", "loads"):
        yield key, getattr(outline, key)
    yield "metrics", {work: [metric.name for metric in metrics] for work, metrics in outline.metrics.items()}
    for noun, table in (("workload", definitions.workloads), ("load", definitions.loads)):
        for name, stored in table.items():
            yield f"definition of the {noun} {name}", stored.sha256
    yield from digests.items()
    for label, facts in part.arms.items():
        for key in IN_CHARGE:
            yield f"{key} of the arm {label}", facts.get(key, "")


def require_compatible(campaigns: Mapping[str, CampaignIdentity]) -> None:
    """Raise UsageError naming the first thing that keeps ``campaigns``, by machine, from being one."""
    (first_name, first), *others = campaigns.items()
    for name, other in others:
        for key in {**first.plan, **other.plan}:
            ours, theirs = first.plan.get(key, "none"), other.plan.get(key, "none")
            if ours != theirs:
                raise UsageError(
                    f"{first.place} and {other.place} are not of one plan: {key} is {_show(ours)} for {first_name} and "
                    f"{_show(theirs)} for {name}"
                )
    _refuse_twice(campaigns)


def _refuse_twice(campaigns: Mapping[str, CampaignIdentity]) -> None:
    for one, other in combinations(campaigns.values(), 2):
        if one.first_row and one.first_row == other.first_row:
            what = "the same campaign"
        elif one.machines & other.machines:
            what = "of the same machine"
        else:
            continue
        raise UsageError(
            f"{one.place} and {other.place} are {what}: give each machine once; more blocks on one machine are added "
            "to its campaign",
            hint=("resume", one.place, "--blocks", "N"),
        )


def _show(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)

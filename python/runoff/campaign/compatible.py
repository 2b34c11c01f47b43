"""Can campaigns of several machines be one? They must have one plan, and each its own machine."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from runoff.campaign.imported import is_imported
from runoff.campaign.journal import Journal
from runoff.campaign.records import Definitions, Outline, Part
from runoff.errors import UsageError
from runoff.workloads import StoredFile

_OWN = ("seed", "blocks", "most_blocks")
"""Settings that each machine may have for itself."""
_OWN_ON_THE_HOST = ("cpus",)
"""Settings that describe the machine."""
_IN_CHARGE = ("scheduler", "object_sha256", "program_sha256")
"""What is known of an arm, and must be the same everywhere."""


@dataclass(frozen=True, slots=True)
class CampaignIdentity:
    """What a campaign was asked for, by whom it was taken, and which it is."""

    place: Path
    plan: Mapping[str, Any]
    """Everything that must be the same on all machines, by a name that people understand."""
    machine: str
    """Id of the machine that took it; empty if it has none."""
    first_row: str
    """Digest of its first sample: two copies of a campaign share it."""


def identify_campaign(place: Path) -> CampaignIdentity:
    """Read what merging depends on. Raises UsageError."""
    with Journal.open(place, write=False) as journal:
        if is_imported(journal):
            raise UsageError(f"{place} was imported: give the files of all machines to runoff import, not to merge")
        settings: dict[str, Any] = journal.fact("settings", {})
        outline: Outline | None = journal.fact("outline")
        definitions: Definitions | None = journal.fact("definitions")
        parts: list[Part] = journal.fact("parts", [])
        if outline is None or definitions is None or not parts:
            raise UsageError(f"{place} has no samples: carry it out first, with: runoff resume {place}")
        return CampaignIdentity(
            place=place,
            plan=dict(_describe_plan(settings, outline, definitions, parts[-1], _read_digests(journal))),
            machine=parts[-1].runoff.machine,
            first_row=journal.first_sample,
        )


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
    own = (*_OWN, *(_OWN_ON_THE_HOST if settings.get("on") == "host" else ()))
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
        for key in _IN_CHARGE:
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
    seen: dict[str, CampaignIdentity] = {}
    for campaign in campaigns.values():
        for key, what in ((campaign.first_row, "the same campaign"), (campaign.machine, "of the same machine")):
            if key and key in seen:
                raise UsageError(
                    f"{seen[key].place} and {campaign.place} are {what}: give each machine once; more blocks on one "
                    f"machine are added by: runoff resume {seen[key].place} --blocks N"
                )
        seen |= {key: campaign for key in (campaign.first_row, campaign.machine) if key}


def _show(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)

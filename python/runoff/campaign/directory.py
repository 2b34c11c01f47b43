"""A campaign's directory: made from a plan, opened again, read as results."""

import json
from pathlib import Path
from typing import Any

from runoff import __version__
from runoff.campaign import requests
from runoff.campaign.journal import Journal
from runoff.elevators import DISK_METRICS
from runoff.engines.agent import describe_elevators, describe_schedulers
from runoff.errors import UsageError
from runoff.plan import USUAL_DISK_MODEL, Plan, Settings, make_plan, parse_settings
from runoff.probes import probe_metrics
from runoff.results import Conditions, Results, Sample
from runoff.workloads import LOAD_METRICS


def create(directory: Path, plan: Plan) -> Journal:
    """Start a campaign. Raises RunoffError."""
    facts = {"settings": plan.settings.model_dump(mode="json"), "version": __version__}
    return Journal.create(directory, facts)


def open_again(directory: Path) -> tuple[Plan, Journal]:
    """A campaign to go on with. Raises RunoffError."""
    journal = Journal.open(directory, write=True)
    return make_plan(_settings(journal), describe_schedulers, describe_elevators), journal


def _settings(journal: Journal) -> Settings:
    values = journal.fact("settings")
    if values is None:
        raise UsageError(f"the journal in {journal.directory} has no plan: its start was cut short, begin anew")
    return parse_settings(values, str(journal.directory))


def read_results(directory: Path) -> Results:
    """All that a campaign has produced so far. Raises RunoffError."""
    with Journal.open(directory, write=False) as journal:
        settings = _settings(journal)
        # Reading needs no agent: what the plan names was checked when the campaign began.
        plan = make_plan(settings, None)
        fingerprints = journal.fact("fingerprints", [])
        added = (
            *(LOAD_METRICS if settings.loads else ()),
            *(DISK_METRICS if plan.has_elevators or settings.place else ()),
            *probe_metrics(plan.probes),
        )
        samples = tuple(_sample(row) for row in journal.rows())
        return Results(
            engine=settings.on,
            clock=settings.clock,
            seed=settings.seed,
            blocks=settings.blocks,
            arms=tuple(arm.label for arm in plan.arms),
            workloads=tuple(work.label for work in plan.works),
            loads=plan.load_labels,
            metrics={work.label: (*work.metrics, *added) for work in plan.works},
            samples=samples,
            requests=requests.kept(directory, [sample.id for sample in samples if sample.valid]),
            planned=plan.planned,
            parameters={work.label: work.values for work in plan.works},
            fingerprint={**(fingerprints[-1] if fingerprints else {}), "arms": journal.fact("arms", {})},
            warnings=(*journal.fact("warnings", []), *_changes(fingerprints)),
            rerun=rerun_command(settings),
            plan_text=plan_text(settings),
            version=journal.fact("version", __version__),
        )


def _sample(row: dict[str, Any]) -> Sample:
    return Sample(
        id=row["cell"],
        block=row["block"],
        position=row["position"],
        arm=row["arm"],
        workload=row["workload"],
        load=row["load"],
        valid=bool(row["valid"]),
        reason=row["reason"],
        metrics=row["metrics"],
        conditions=None if row["conditions"] is None else Conditions(**row["conditions"]),
        detail=row["detail"],
    )


def _changes(fingerprints: list[dict[str, Any]]) -> tuple[str, ...]:
    if any(fingerprint != fingerprints[0] for fingerprint in fingerprints[1:]):
        return ("the machine, kernel or tools changed between the parts of this campaign: compare its fingerprints",)
    return ()


def rerun_command(settings: Settings) -> str:
    """The command line that makes the same campaign again."""
    import shlex

    words = ["runoff", "compare", *settings.arms]
    for text in settings.workloads:
        words += ["--work", text]
    for text in settings.loads:
        words += ["--load", text]
    for name in settings.probes:
        words += ["--probe", name]
    words += ["--on", settings.on, "--clock", settings.clock]
    if settings.on == "lab":
        words += ["--cpus", str(settings.cpus), "--memory", str(settings.memory_mb)]
    if settings.disk_mb:
        words += ["--disk", str(settings.disk_mb)]
    if settings.disk_model != USUAL_DISK_MODEL:
        words += ["--disk-model", settings.disk_model]
    if settings.place:
        words += ["--place", settings.place]
    if settings.swap_mb:
        words += ["--swap", str(settings.swap_mb)]
    if settings.kernel:
        words += ["--kernel", settings.kernel]
    for package in settings.packages:
        words += ["--package", package]
    for label, count in settings.load_blocks.items():
        words += ["--load-blocks", f"{label}={count}"]
    if settings.warmup:
        words += ["--warmup", str(settings.warmup)]
    if settings.flush:
        words.append("--flush")
    return shlex.join([*words, "--blocks", str(settings.blocks), "--seed", str(settings.seed)])


def plan_text(settings: Settings) -> str:
    """The plan as a TOML file that ``runoff run`` takes."""
    values = settings.model_dump(mode="json", exclude_defaults=False)
    return "".join(f"{key} = {_toml(value)}\n" for key, value in values.items() if value is not None)


def _toml(value: Any) -> str:
    """JSON's strings, numbers and arrays are TOML's as well; a table is not."""
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{json.dumps(key)} = {_toml(inner)}" for key, inner in value.items()) + " }"
    return json.dumps(value)

"""A campaign's directory: made from a plan, opened again, read as results."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from runoff.campaign import imported, pace, repeats
from runoff.campaign.about import describe_parts
from runoff.campaign.journal import consistency, requests, trust
from runoff.campaign.journal.journal import Journal
from runoff.campaign.journal.records import Outline, Part
from runoff.campaign.journal.stored_files import store_copies
from runoff.campaign.machines import takers
from runoff.campaign.machines.join import join_results
from runoff.campaign.machines.members import find_members, is_merged, refuse_merged
from runoff.campaign.manifest import collect_definitions, make_outline
from runoff.campaign.more_blocks import extend
from runoff.campaign.origin.arms import describe_rounded
from runoff.campaign.sanitize import make_printable
from runoff.engines.choose import find_catalogue
from runoff.errors import UsageError
from runoff.plan import stopping
from runoff.plan.cells import draw_cells
from runoff.plan.make import make_plan
from runoff.plan.order import Cell
from runoff.plan.plan import Plan
from runoff.plan.rerun import render_command, render_plan
from runoff.plan.settings import Settings, parse_settings
from runoff.plan.stored import StoredInputs
from runoff.results import Ended, Results, Stopping
from runoff.version import __version__
from runoff.workloads import StoredFile
from runoff.workloads.own_files import describe_stored


def create(directory: Path, plan: Plan, *, trusted: bool = False) -> Journal:
    """Start a campaign and keep in it all that its plan names.

    Not ``trusted``: root starts none where others may write. Raises RunoffError.
    """
    facts = {
        "settings": plan.settings.model_dump(mode="json"),
        "version": __version__,
        "outline": make_outline(plan).model_dump(mode="json"),
        "definitions": collect_definitions(plan).model_dump(mode="json"),
        "objects": {arm.object.name: arm.object.sha256 for arm in plan.arms if arm.object is not None},
    }
    if plan.own_files:
        stored = describe_stored(plan.own_files)
        facts["files"] = {key: each.model_dump(mode="json") for key, each in stored.items()}
    return Journal.create(directory, facts, lambda held: store_copies(plan, held), trusted=trusted)


def reopen(directory: Path, *, blocks: int | None = None, trusted: bool = False) -> tuple[Plan, Journal]:
    """Open a campaign to go on with, by what it has kept; with ``blocks`` it is to have that many in all.

    Not ``trusted``: root does not go on with what others may have written. Raises RunoffError.
    """
    refuse_merged(directory)
    with Journal.open(directory, write=False) as journal:
        imported.refuse_imported(journal)
        plan = _load_plan(journal)
    trust.require_no_links(directory)
    if not trusted:
        trust.require_own(directory, plan)
    if blocks is not None:
        extend(directory, blocks)
    journal = Journal.open(directory, write=True)
    try:
        return _load_plan(journal), journal
    except BaseException:
        journal.close()
        raise


def _load_plan(journal: Journal) -> Plan:
    """Return the plan from what the campaign has stored. Raises UsageError."""
    written = _require_fact(journal, "definitions")
    stored = StoredInputs(
        {name: each.toml for name, each in written.workloads.items()},
        {name: each.toml for name, each in written.loads.items()},
        _require_fact(journal, "objects"),
        journal.fact("files", {}),
    )
    settings = _settings(journal)
    plan = make_plan(settings, find_catalogue(settings.on), stored=stored)
    _refuse_another(_require_fact(journal, "outline"), make_outline(plan))
    begun: list[Part] = journal.fact("parts", [])
    named = [part.tables.get("kernel_names", {}) for part in begun]
    return replace(plan, kernels={name: full for names in named for name, full in names.items()})


def _refuse_another(was: Outline, is_now: Outline) -> None:
    for key in ("clock", "arms", "workloads", "loads", "parameters", "twins"):
        if getattr(was, key) != getattr(is_now, key):
            raise UsageError(
                f"this runoff would take other samples than the campaign began with ({key} were {getattr(was, key)}, "
                f"are {getattr(is_now, key)}): go on with the runoff that began it"
            )


def _settings(journal: Journal) -> Settings:
    return parse_settings(_require_fact(journal, "settings"), str(journal.directory))


def _require_fact(journal: Journal, key: str) -> Any:
    value = journal.fact(key)
    if value is None:
        raise UsageError(f"the journal in {journal.directory} has no {key}: copy the campaign back from a backup")
    return value


def read_results(directory: Path) -> Results:
    """Return all that a campaign has produced so far, from its directory alone. Raises RunoffError."""
    try:
        if is_merged(directory):
            members = find_members(directory)
            return make_printable(join_results({name: _read(place) for name, place in members.items()}))
        return make_printable(_read(directory))
    except PermissionError as error:
        raise UsageError(f"cannot read {error.filename} of the campaign {directory}: {error.strerror}") from None


def _read(directory: Path) -> Results:
    with Journal.open(directory, write=False) as journal:
        if imported.is_imported(journal):
            return imported.read_imported(journal)
        settings = _settings(journal)
        outline: Outline = _require_fact(journal, "outline")
        begun: list[Part] = journal.fact("parts", [])
        ended: Ended | None = journal.fact("ended")
        rows = journal.rows()
        with journal.explain_contents():
            cells = _draw_cells(settings, outline)
            consistency.check(settings, outline, begun, cells, rows)
            descriptions = describe_parts(outline, _require_fact(journal, "definitions"))
        names = takers.name_takers(begun, rows)
        samples = tuple(row.make_sample(names.get(row.part, "")) for row in rows)
        return Results(
            engine=settings.on,
            clock=outline.clock,
            seed=settings.seed or 0,
            blocks=ended.blocks if ended is not None else stopping.find_most_blocks(settings),
            arms=tuple(outline.arms),
            workloads=tuple(outline.workloads),
            loads=tuple(outline.loads),
            metrics={label: tuple(metrics) for label, metrics in outline.metrics.items()},
            samples=samples,
            requests=requests.find_logs(directory, rows),
            planned=len(cells) if ended is None else sum(cell.block < ended.blocks for cell in cells.values()),
            parameters=outline.parameters,
            twins=outline.twins,
            descriptions=descriptions,
            fingerprint=_fingerprint(journal, outline, begun, names),
            machines=tuple(dict.fromkeys(names.values())),
            warnings=(*journal.fact("warnings", []), *describe_rounded(begun)),
            changes=takers.describe_changes(outline, begun, rows, names),
            rerun=render_command(settings),
            plan_text=render_plan(settings),
            version=_require_fact(journal, "version"),
            margin=settings.margin if settings.until is None else settings.until,
            rare=settings.rare,
            stopping=Stopping(settings.until, tuple(journal.fact("looks", [])), ended),
            seconds_per_block=pace.seconds_per_block(rows, Counter(c.block for c in cells.values() if c.block >= 0)),
            repeats={
                name: read_results(repeats.repeat_directory(directory, name))
                for name in repeats.derive_settings(settings)
                if repeats.exists(directory, name)
            },
        )


def _draw_cells(settings: Settings, outline: Outline) -> Mapping[str, Cell]:
    """Return the cells by id, in run order."""
    cells = draw_cells(
        settings, outline.arms, len(outline.workloads), outline.loads, twins=outline.twins, kernels=outline.kernels
    )
    return {cell.id: cell for cell in cells}


def _fingerprint(
    journal: Journal, outline: Outline, begun: Sequence[Part], names: Mapping[int, str]
) -> Mapping[str, Any]:
    """Return the fingerprint of the last session, or of the machines that ``names`` has by part, with the digests of
    the files that the plan names."""
    written = _require_fact(journal, "definitions")
    digests = {
        "workloads": {name: each.sha256 for name, each in written.workloads.items()},
        "loads": {name: each.sha256 for name, each in written.loads.items()},
        "objects": _require_fact(journal, "objects"),
        "files": _list_digests(journal.fact("files", {})),
    }
    return {
        **takers.join_tables(outline, begun, names),
        **{noun: table for noun, table in digests.items() if table},
    }


def _list_digests(files: Mapping[str, StoredFile]) -> dict[str, str]:
    """Return the SHA-256 of the users' own files and of the libraries that they brought."""
    libraries = {f"{key}: {name}": sha256 for key, file in files.items() for name, sha256 in file.libraries}
    return {key: file.sha256 for key, file in files.items()} | libraries

"""Campaigns of numbers that were measured elsewhere: a journal and copies of the files that they came from."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from pathlib import Path
from shlex import join
from typing import Any

from runoff.campaign.journal.journal import Journal
from runoff.campaign.journal.records import ImportedFile, ImportRecord, Outline, Row
from runoff.campaign.journal.stored_files import FILES
from runoff.campaign.origin.evidence import refuse_copies
from runoff.engines.outcome import Outcome, ValidSample, VoidSample
from runoff.engines.questions import find_numbers
from runoff.errors import MissingError, UsageError
from runoff.files import HeldDirectory
from runoff.imports import formats
from runoff.imports.assemble import Imported, assemble
from runoff.imports.files import Source, read_sources
from runoff.imports.formats import by_pattern
from runoff.imports.identity import Wishes
from runoff.imports.samples import ImportedSample
from runoff.imports.values import File, Reading
from runoff.plan.order import Cell
from runoff.results import IMPORTED, Results
from runoff.version import __version__

_NO_WISHES = Wishes()
UNPROVEN = "these numbers were imported: which scheduler was in charge was not verified"
UNORDERED = (
    "the files do not say which runs were taken together: each arm is judged by its own spread, and what changed on "
    "the machine between the runs of two arms looks like a difference of theirs"
)


def import_files(
    files: Sequence[str],
    directory: Path,
    wishes: Wishes = _NO_WISHES,
    *,
    format: str = "",
    machines: Mapping[str, str] | None = None,
    trusted: bool = False,
    watch: Callable[[str], AbstractContextManager[None]] = lambda _: nullcontext(),
) -> Results:
    """Make a campaign of the numbers in ``files``, each ``FILE`` or ``NAME=FILE``, and return its results.

    ``machines`` has the machine of each file, by its path. ``format`` is one of `runoff.imports.formats.NAMES`; empty
    means that of each file's content. ``watch`` is entered for each stage with what is done in it. Not ``trusted``:
    root makes no campaign where others may write. Raises RunoffError; the directory is not made then.
    """
    formats.check_name(format)
    if wishes.pattern and format:
        raise UsageError("--pattern is for a text of no format: leave it or --format out")
    if wishes.thousands and not wishes.pattern:
        raise UsageError("--thousands goes with --pattern")
    with watch(f"reading {files[0] if len(files) == 1 else f'{len(files)} files'}"):
        sources = read_sources(files, machines)
    readings = []
    for source in sources:
        with watch(f"looking for numbers in {source.file.name}"):
            readings.append(_read(source.file, wishes, format))
    command = ["runoff", "import", *files, *_list_options(wishes, format, machines or {})]
    with watch(f"storing {sum(len(reading.numbers) for reading in readings):,} numbers in {directory}"):
        _store(directory, sources, readings, wishes, command, trusted=trusted)
    with Journal.open(directory, write=False) as journal:
        return read_imported(journal)


def _read(file: File, wishes: Wishes, format: str) -> Reading:
    if not wishes.pattern:
        return formats.read(file, wishes.roles, format)
    pattern = by_pattern.Pattern(wishes.pattern, wishes.units.get("", ""), wishes.thousands)
    return by_pattern.read(file, pattern, _find_numbers)


def _find_numbers(pattern: by_pattern.Pattern, text: str) -> list[dict[str, Any]]:
    return find_numbers(pattern.text, text, unit=pattern.unit, thousands=pattern.thousands)


def _list_options(wishes: Wishes, format: str, machines: Mapping[str, str]) -> list[str]:
    """Return the words of a command line for what was wished."""
    words = [("--unit", _assign(metric, unit)) for metric, unit in wishes.units.items()]
    words += [("--better", _assign(metric, side)) for metric, side in wishes.better.items()]
    words += [("--columns", ",".join(_assign(role, keys) for role, keys in wishes.roles.items()))]
    words += [("--machine", f"{machine}={path}") for path, machine in machines.items()]
    words += [("--pattern", wishes.pattern), ("--thousands", wishes.thousands)]
    words += [("--cases", wishes.cases or ""), ("--baseline", wishes.baseline), ("--format", format)]
    return [word for option, value in words if value for word in (option, value)]


def _assign(name: str, value: str) -> str:
    return f"{name}={value}" if name else value


def _store(
    directory: Path,
    sources: Sequence[Source],
    readings: Sequence[Reading],
    wishes: Wishes,
    command: Sequence[str],
    *,
    trusted: bool,
) -> None:
    imported = assemble(sources, readings, wishes)
    _refuse_copies(imported)
    works = list(imported.metrics)
    outline = Outline(
        clock="real",
        arms=list(imported.arms),
        workloads=works,
        loads=list(imported.loads),
        metrics={work: list(metrics) for work, metrics in imported.metrics.items()},
        parameters={work: {} for work in works},
    )
    record = ImportRecord(
        files=[
            ImportedFile(name=source.file.name, format=reading.format, sha256=source.sha256)
            for source, reading in zip(sources, readings, strict=True)
        ],
        is_paired=imported.is_paired,
        machines=list(imported.machines),
        notes=list(imported.notes),
        account=list(imported.account),
        command=list(command),
    )
    facts = {
        "version": __version__,
        "outline": outline.model_dump(mode="json"),
        "imported": record.model_dump(mode="json"),
    }

    def fill(journal: Journal) -> None:
        _add_samples(imported, works, journal)

    Journal.create(directory, facts, lambda held: _keep(sources, held), fill, trusted=trusted).close()


def _refuse_copies(imported: Imported) -> None:
    """Raise UsageError where two machines have the same numbers."""
    own = {name: [s for s in imported.samples if s.machine == name] for name in imported.machines}
    if imported.is_paired:
        refuse_copies(own, "blocks")
    else:
        runs = {name: [replace(s, block=run) for run, s in enumerate(samples)] for name, samples in own.items()}
        refuse_copies(runs, "runs")


def is_imported(journal: Journal) -> bool:
    """Return whether the campaign's numbers were measured elsewhere."""
    return journal.fact("imported") is not None


def refuse_imported(journal: Journal) -> None:
    """Raise UsageError for a campaign of imported numbers, which takes no samples of its own."""
    if is_imported(journal):
        raise UsageError(f"{journal.directory} was imported, and takes no samples: import more runs anew")


def read_imported(journal: Journal) -> Results:
    """Return the results. Raises UsageError."""
    record: ImportRecord = journal.fact("imported")
    outline: Outline = journal.fact("outline")
    rows = journal.rows()
    with journal.explain_contents():
        _check(outline, record, rows)
    return Results(
        engine=IMPORTED,
        clock=outline.clock,
        seed=0,
        blocks=max((row.block for row in rows), default=-1) + 1,
        arms=tuple(outline.arms),
        workloads=tuple(outline.workloads),
        loads=tuple(outline.loads),
        metrics={work: tuple(metrics) for work, metrics in outline.metrics.items()},
        samples=tuple(row.make_sample(record.machines[row.part] if record.machines else "") for row in rows),
        machines=tuple(record.machines),
        planned=len(rows),
        is_paired=record.is_paired,
        fingerprint={"files": {file.name: f"{file.format}, sha256 {file.sha256}" for file in record.files}},
        warnings=(UNPROVEN, *([] if record.is_paired else [UNORDERED]), *record.notes),
        account=tuple(record.account),
        rerun=join(record.command),
        version=journal.fact("version", ""),
    )


def _keep(sources: Sequence[Source], directory: HeldDirectory) -> None:
    try:
        for source in sources:
            directory.write_whole(Path(FILES, source.sha256), source.content, source.permissions)
    except OSError as error:
        raise MissingError(
            f"cannot write in {directory.path / FILES}: {error.strerror}; choose another --out"
        ) from None


def _add_samples(imported: Imported, works: Sequence[str], journal: Journal) -> None:
    for position, sample in enumerate(imported.samples):
        arm, work = imported.arms.index(sample.arm), works.index(sample.workload)
        load, loads = imported.loads.index(sample.load), len(imported.loads)
        name = f"b{sample.block}.w{work}{f'.l{load}' if loads > 1 else ''}.a{arm}"
        cell = Cell(name, sample.block, position, arm, work, load, 0)
        part = imported.machines.index(sample.machine) if imported.machines else 0
        journal.add(cell, sample.arm, sample.workload, sample.load, _make_outcome(sample), part=part)


def _make_outcome(sample: ImportedSample) -> Outcome:
    return VoidSample(sample.why_void) if sample.why_void else ValidSample(dict(sample.metrics), {})


def _check(outline: Outline, record: ImportRecord, rows: Sequence[Row]) -> None:
    """Raise ValueError for a sample that is of no arm, workload or machine."""
    for row in rows:
        if row.part >= max(len(record.machines), 1):
            raise ValueError(f"sample {row.cell}: part: there is no machine {row.part}")
        for noun, name, known in (
            ("arm", row.arm, outline.arms),
            ("workload", row.workload, outline.workloads),
            ("load", row.load, outline.loads),
        ):
            if name not in known:
                raise ValueError(f"sample {row.cell}: {noun}: there is no {name!r}")

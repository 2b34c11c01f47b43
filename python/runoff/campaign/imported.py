"""Campaigns of numbers that were measured elsewhere: a journal and copies of the files that they came from."""

from collections.abc import Sequence
from pathlib import Path
from shlex import join

from runoff.campaign.copies import FILES
from runoff.campaign.journal import Journal
from runoff.campaign.records import ImportedFile, ImportRecord, Outline, Row
from runoff.engines.outcome import ValidSample
from runoff.errors import MissingError, UsageError
from runoff.files import HeldDirectory
from runoff.imports.assemble import Imported, Wishes, assemble
from runoff.imports.files import Source
from runoff.imports.reading import Reading
from runoff.plan.order import Cell
from runoff.results import IMPORTED, Results
from runoff.version import __version__

UNPROVEN = "these numbers were imported: nobody proved which scheduler was in charge"
UNORDERED = (
    "the files do not say which runs were taken together: each arm is judged by its own spread, and what changed on "
    "the machine between arms looks like a difference"
)


def store_import(
    directory: Path,
    sources: Sequence[Source],
    readings: Sequence[Reading],
    wishes: Wishes,
    command: Sequence[str],
    *,
    trusted: bool = False,
) -> None:
    """Make a campaign of what was read; ``command`` has the words that import it.

    Not ``trusted``: root makes none where others may write. Raises RunoffError.
    """
    imported = assemble(sources, readings, wishes)
    works = list(imported.metrics)
    outline = Outline(
        clock="real",
        arms=list(imported.arms),
        workloads=works,
        loads=[""],
        metrics={work: list(metrics) for work, metrics in imported.metrics.items()},
        parameters={work: {} for work in works},
    )
    record = ImportRecord(
        files=[
            ImportedFile(name=source.file.name, format=reading.format, sha256=source.sha256)
            for source, reading in zip(sources, readings, strict=True)
        ],
        is_paired=imported.is_paired,
        notes=list(imported.notes),
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
        _check(outline, rows)
    return Results(
        engine=IMPORTED,
        clock=outline.clock,
        seed=0,
        blocks=max((row.block for row in rows), default=-1) + 1,
        arms=tuple(outline.arms),
        workloads=tuple(outline.workloads),
        loads=tuple(outline.loads),
        metrics={work: tuple(metrics) for work, metrics in outline.metrics.items()},
        samples=tuple(row.make_sample() for row in rows),
        planned=len(rows),
        is_paired=record.is_paired,
        fingerprint={"files": {file.name: f"{file.format}, sha256 {file.sha256}" for file in record.files}},
        warnings=(UNPROVEN, *([] if record.is_paired else [UNORDERED]), *record.notes),
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
        cell = Cell(f"b{sample.block}.w{work}.a{arm}", sample.block, position, arm, work, 0, 0)
        journal.add(cell, sample.arm, sample.workload, "", ValidSample(dict(sample.metrics), {}))


def _check(outline: Outline, rows: Sequence[Row]) -> None:
    """Raise ValueError for a sample that is of no arm or workload."""
    for row in rows:
        for noun, name, known in (("arm", row.arm, outline.arms), ("workload", row.workload, outline.workloads)):
            if name not in known:
                raise ValueError(f"sample {row.cell}: {noun}: there is no {name!r}")

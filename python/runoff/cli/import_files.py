"""``runoff import``: numbers that other programs have measured, as a campaign."""

from pathlib import Path
from typing import get_args

import click

from runoff.cli.campaign import conclude
from runoff.cli.newest import choose_new_directory
from runoff.cli.options import json_option, trust_option, verbose_option
from runoff.cli.output import echo
from runoff.cli.slow import name_if_slow
from runoff.errors import UsageError
from runoff.imports.reading import Cases
from runoff.results import Direction


@click.command(
    "import",
    epilog="\b\nExamples:\n  runoff import runs.csv --better lower --unit s\n"
    "  runoff import base=old.txt changed=new.txt\n"
    "  runoff import hyperfine.json --out results/builds\n"
    "  runoff import measured.csv --columns arm=kernel,value=fps --better higher",
)
@click.argument("files", nargs=-1, required=True, metavar="[NAME=]FILE...")
@click.option("--out", type=click.Path(path_type=Path), metavar="DIR", help="New directory.  [results/DATE-TIME]")
@click.option("--unit", "units", multiple=True, metavar="[METRIC=]UNIT", help="Unit, where the files do not say it.")
@click.option(
    "--better",
    multiple=True,
    metavar="[METRIC=]SIDE",
    help="Which way is better, where the files do not say it: lower, higher, or none for a number that only explains.",
)
@click.option(
    "--columns",
    metavar="NAME=HEADER,...",
    default="",
    help="Columns of a table with a row for each number, where they have other headers than arm, value, workload, "
    "load, metric, unit, direction, block, run, valid.",
)
@click.option(
    "--cases",
    type=click.Choice(get_args(Cases)),
    help="What the commands, benchmarks or columns of a file are: arms that are compared, or workloads of the arms "
    "that the files are.  [as the format is used]",
)
@click.option("--baseline", metavar="ARM", default="", help="The arm that others are compared with.  [the first]")
@trust_option
@json_option
@verbose_option
def command(
    files: tuple[str, ...],
    out: Path | None,
    units: tuple[str, ...],
    better: tuple[str, ...],
    columns: str,
    cases: Cases | None,
    baseline: str,
    trust_directory: bool,
    as_json: bool,
    verbose: bool,
) -> int:
    """Make a campaign of numbers that are there already.

    Reads CSV and TSV, JSON of hyperfine, Google Benchmark, pytest-benchmark, JMH and fio, Go's benchmarks, criterion's
    folder, Phoronix's XML and CSV, perf stat -x and MangoHud's logs. A file is one arm, named by NAME, where it does
    not hold several.

    Nobody proved which scheduler was in charge. Where the files have blocks, runs of one block are compared as runoff's
    own; else each arm is judged by its own spread. The result is a campaign that report, gate and plan read.
    """
    from runoff.campaign.directory import read_results
    from runoff.campaign.imported import store_import
    from runoff.imports import formats
    from runoff.imports.assemble import Wishes
    from runoff.imports.files import read_sources
    from runoff.text import parse_assignments

    with name_if_slow(f"reading {files[0] if len(files) == 1 else f'{len(files)} files'}"):
        sources = read_sources(files)
    headers = parse_assignments(columns, "--columns")
    unknown = [name for name in headers if name not in formats.tables.NAMES]
    if unknown:
        raise UsageError(f"--columns {unknown[0]}: the names are {', '.join(formats.tables.NAMES)}")
    readings = []
    for source in sources:
        with name_if_slow(f"looking for numbers in {source.file.name}"):
            readings.append(formats.read(source.file, headers))
    wishes = Wishes(
        units=_by_metric(units, "--unit"),
        better=_parse_sides(better),
        cases=cases,
        baseline=baseline,
    )
    directory = out or choose_new_directory()
    words = ["runoff", "import", *files]
    words += [word for unit in units for word in ("--unit", unit)] + [w for side in better for w in ("--better", side)]
    words += [*(["--columns", columns] if columns else []), *(["--cases", cases] if cases else [])]
    words += ["--baseline", baseline] if baseline else []
    with name_if_slow(f"storing {sum(len(reading.numbers) for reading in readings):,} numbers in {directory}"):
        store_import(directory, sources, readings, wishes, words, trusted=trust_directory)
    for source, reading in zip(sources, readings, strict=True):
        echo(f"{source.file.name}: {reading.format}, {len(reading.numbers)} numbers", err=True)
    with name_if_slow("judging them"):
        return conclude(read_results(directory), directory, as_json=as_json, verbose=verbose)


def _by_metric(words: tuple[str, ...], option: str) -> dict[str, str]:
    """Return values by metric; the empty name stands for all. Raises UsageError."""
    found: dict[str, str] = {}
    for word in words:
        metric, equals, value = word.rpartition("=")
        if not value or (equals and not metric):
            raise UsageError(f"{option} {word}: give METRIC=VALUE, or VALUE for all")
        if metric in found:
            raise UsageError(f"{option} {word}: {metric or 'all metrics'} is given twice")
        found[metric] = value
    return found


def _parse_sides(words: tuple[str, ...]) -> dict[str, Direction]:
    known: dict[str, Direction] = {"lower": "lower", "higher": "higher", "none": "none"}
    sides = _by_metric(words, "--better")
    for side in sides.values():
        if side not in known:
            raise UsageError(f"--better {side}: give lower, higher or none")
    return {metric: known[side] for metric, side in sides.items()}

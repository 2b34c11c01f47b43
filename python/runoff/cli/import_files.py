"""``runoff import``: numbers that other programs have measured, as a campaign."""

from pathlib import Path
from typing import get_args

import click

from runoff.cli.campaign import conclude
from runoff.cli.newest import choose_new_directory
from runoff.cli.options import json_option, trust_option, verbose_option
from runoff.cli.slow import name_if_slow
from runoff.errors import UsageError
from runoff.imports.values import Cases
from runoff.results import Direction


@click.command(
    "import",
    epilog="\b\nExamples:\n  runoff import runs.csv --better lower --unit s\n"
    "  runoff import base=old.txt changed=new.txt\n"
    "  runoff import hyperfine.json --out results/builds\n"
    "  runoff import measured.csv --columns arm=kernel,workload=mode+clients,metrics=* --better higher\n"
    "  runoff import eevdf.txt bore.txt --pattern 'Time: ([0-9.]+) (?<unit>ms)'",
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
    multiple=True,
    metavar="ROLE=NAME+NAME,...",
    help="What the columns of a table, or the keys of another file, stand for: arm, workload, load, run, block, "
    "machine, status, reason, ignore; in tables also value, metric, unit, direction, metrics (* for all) and arms.",
)
@click.option(
    "--machine",
    "machines",
    multiple=True,
    metavar="NAME=FILE",
    help="The machine that a file is of, where the files are of several; else a column of this name says it.",
)
@click.option(
    "--pattern",
    default="",
    metavar="REGEX",
    help="Numbers of any text: the first group without a name is the number, (?<unit>...) its unit, and groups such as "
    "(?<arm>...) and (?<metric>...) say what it is.",
)
@click.option("--thousands", default="", metavar="CHARACTER", help="With --pattern: it stands between thousands.")
@click.option("--format", "format_name", default="", metavar="NAME", help="The format, where the file is not clear.")
@click.option(
    "--cases",
    type=click.Choice(get_args(Cases)),
    help="Treat each command, benchmark or column of a file as an arm, or as a workload; then each file is an arm.  "
    "[as the format is used]",
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
    columns: tuple[str, ...],
    machines: tuple[str, ...],
    pattern: str,
    thousands: str,
    format_name: str,
    cases: Cases | None,
    baseline: str,
    trust_directory: bool,
    as_json: bool,
    verbose: bool,
) -> int:
    """Make a campaign of numbers that are there already.

    Reads tables (CSV, TSV, Markdown), JSON of hyperfine, Google Benchmark, pytest-benchmark, JMH and fio, Go's
    benchmarks, criterion's folder, Phoronix's XML and CSV, perf stat and MangoHud's logs. A file is one arm, named by
    NAME, where it does not hold several.

    Nobody proved which scheduler was in charge. Where the files have blocks, runs of one block are compared as runoff's
    own; else each arm is judged by its own spread. The result is a campaign that report, gate and plan read.
    """
    from runoff.campaign.imported import import_files
    from runoff.imports.identity import Wishes
    from runoff.imports.roles import parse_roles

    wishes = Wishes(
        units=_by_metric(units, "--unit"),
        better=_parse_sides(better),
        cases=cases,
        baseline=baseline,
        roles=parse_roles(columns),
        pattern=pattern,
        thousands=thousands,
    )
    directory = out or choose_new_directory()
    results = import_files(
        files,
        directory,
        wishes,
        format=format_name,
        machines=_read_machines(machines),
        trusted=trust_directory,
        watch=name_if_slow,
    )
    with name_if_slow("judging them"):
        return conclude(results, directory, as_json=as_json, verbose=verbose)


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


def _read_machines(words: tuple[str, ...]) -> dict[str, str]:
    """Return the machine of each file. Raises UsageError."""
    found: dict[str, str] = {}
    for word in words:
        name, _, file = word.partition("=")
        if not name or not file:
            raise UsageError(f"--machine {word}: give NAME=FILE")
        if found.setdefault(file, name) != name:
            raise UsageError(f"--machine {word}: the file is of {found[file]} already")
    return found


def _parse_sides(words: tuple[str, ...]) -> dict[str, Direction]:
    known: dict[str, Direction] = {"lower": "lower", "higher": "higher", "none": "none"}
    sides = _by_metric(words, "--better")
    for side in sides.values():
        if side not in known:
            raise UsageError(f"--better {side}: give lower, higher or none")
    return {metric: known[side] for metric, side in sides.items()}

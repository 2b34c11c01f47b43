"""``runoff report``: the results of a campaign in the form that is wanted."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from runoff.campaign.directory import read_results
from runoff.cli.campaign import exit_code, print_text
from runoff.errors import UsageError

if TYPE_CHECKING:
    from runoff.report.model import Report
    from runoff.results import Results


@click.command(epilog="Example: runoff report results/20260102-120000 --html report.html")
@click.argument("directory", type=click.Path(path_type=Path))
@click.option("--html", type=click.Path(path_type=Path), help="Write one self-contained page to this file.")
@click.option(
    "--csv", "csv_file", type=click.Path(path_type=Path), help="Write one row per sample and metric to this file."
)
@click.option(
    "--wide", "wide_file", type=click.Path(path_type=Path), help="Write CSV with one row per sample to this file."
)
@click.option(
    "--log", "log_file", type=click.Path(path_type=Path), help="Write a tab-separated log, one line per valid sample."
)
@click.option(
    "--requests",
    "sample",
    metavar="SAMPLE",
    help="Print the requests of a sample's disk as blkparse does, from a campaign with --probe requests.",
)
@click.option("--markdown", is_flag=True, help="Print Markdown.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.option(
    "--table",
    type=click.Choice(["relative", "contest", "contest-cgroup"]),
    help="Print another table: relative has means as size against the baseline, parameters as columns; contest is "
    "that program's, with its accounting; contest-cgroup has all the CPU time of loads and ratios to the baseline.",
)
def command(
    directory: Path,
    html: Path | None,
    sample: str | None,
    markdown: bool,
    as_json: bool,
    table: str | None,
    **files: Path | None,
) -> int:
    """Show the results of a campaign, finished or not; a table unless another form is asked for."""
    from runoff.report import model

    results = read_results(directory)
    if sample is not None:
        sys.stdout.write(_requests(results, sample))
        return 0
    report = model.build(results)
    if html is not None:
        from runoff.report import html as page

        html.write_text(page.render(report), encoding="utf-8")
    for name, path in files.items():
        if path is not None:
            path.write_text(_render(name, report), encoding="utf-8")
    if as_json:
        from runoff.report import json

        sys.stdout.write(json.render(report))
    elif markdown:
        from runoff.report import markdown as text

        sys.stdout.write(text.render(report))
    elif table == "relative":
        from runoff.report import relative

        sys.stdout.write(relative.render(report))
    elif table is not None:
        from runoff.report import contest

        sys.stdout.write(contest.render(report, "reaped" if table == "contest" else "cgroup"))
    elif html is None and not any(files.values()):
        print_text(report)
    return exit_code(report)


def _requests(results: "Results", sample: str) -> str:
    from runoff import request_log
    from runoff.report import blktrace

    if sample not in results.requests:
        known = ", ".join(results.requests) or "none; --probe requests keeps it"
        raise UsageError(f"--requests {sample}: no log of requests; samples that have one: {known}")
    return blktrace.render(request_log.read(results.requests[sample]))


def _render(name: str, report: "Report") -> str:
    from runoff.report import csv, runs

    return {"csv_file": csv.render, "wide_file": runs.wide, "log_file": runs.log}[name](report)

"""``runoff report``: the results of a campaign in the form that is wanted."""

from pathlib import Path
from typing import TYPE_CHECKING, get_args

import click
import cloup

from runoff.cli.beside import read_campaigns
from runoff.cli.campaign import choose_exit_code, print_text
from runoff.cli.completions import complete_campaign
from runoff.cli.options import verbose_option
from runoff.cli.output import echo, write, write_file
from runoff.cli.types import OUTPUT_FILE, parse_share
from runoff.errors import UsageError
from runoff.report.forms import HISTORIC, PAGE, render_form
from runoff.results import Sort

if TYPE_CHECKING:
    from runoff.results import Results


_PRINTED = cloup.OptionGroup("What is printed")
_FILES = cloup.OptionGroup("Files that are written")
_JUDGED = cloup.OptionGroup("Judging and order")


def _parse_within(text: str) -> float:
    """Return a share that leaves something of both sides."""
    value = parse_share(text)
    if not 0 < value < 1:
        raise click.BadParameter(f"{text}: it must be more than 0 and less than 100%")
    return value


@click.command(
    cls=cloup.Command,
    epilog="\b\nExamples:\n  runoff report\n  runoff report results/20260102-120000 --html report.html\n"
    "  runoff report base=results/monday changed=results/friday",
)
@click.argument("directories", nargs=-1, metavar="[[NAME=]DIRECTORY]...", shell_complete=complete_campaign)
@cloup.option("--html", type=OUTPUT_FILE, help="Write one self-contained page to this file.", group=_FILES)
@cloup.option(
    "--csv", "csv_file", type=OUTPUT_FILE, help="Write one row per sample and metric to this file.", group=_FILES
)
@cloup.option(
    "--figures",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Write each figure of the page as an SVG file in this directory.",
    group=_FILES,
)
@cloup.option(
    "--requests",
    "sample",
    group=_PRINTED,
    metavar="SAMPLE",
    help="Print the requests of a sample's disk as blkparse does, from a campaign with --probe requests.",
)
@cloup.option("--mail", is_flag=True, help="Print plain text for a mail, never wider than 80 columns.", group=_PRINTED)
@cloup.option("--markdown", is_flag=True, help="Print Markdown.", group=_PRINTED)
@cloup.option("--json", "as_json", is_flag=True, help="Print one JSON document.", group=_PRINTED)
@cloup.option(
    "--table",
    group=_PRINTED,
    type=click.Choice(HISTORIC),
    help="Print another table: classic is the analysis of variance of the historic reports; relative has means as "
    "size against the baseline, parameters as columns; contest is that program's, with its accounting; "
    "contest-cgroup has all the CPU time of loads and ratios to the baseline; graysky has means with percent faster or "
    "slower, and quantiles; machines has such means for each machine of a merged campaign; counters has time, cost and "
    "improvement over the number of processes or jobs, with a plot.",
)
@verbose_option
@cloup.option(
    "--margin",
    group=_JUDGED,
    type=_parse_within,
    metavar="SHARE",
    help='A change of at most this share counts as "same", e.g. 1%.  [plan\'s]',
)
@cloup.option(
    "--rare",
    group=_JUDGED,
    type=_parse_within,
    metavar="SHARE",
    help='Call arms "same" only after enough blocks to have seen events in this share of runs.  [plan\'s]',
)
@cloup.option(
    "--control",
    group=_JUDGED,
    metavar="ARM",
    help="Of several campaigns: the arm that others are taken as multiples of, block by block; none compares values as "
    "they are.  [the first arm, if all have it]",
)
@cloup.option(
    "--sort",
    group=_JUDGED,
    type=click.Choice(get_args(Sort)),
    default="mean",
    show_default=True,
    help="Order of the arms in tables: best mean first, by name, or as in the plan.",
)
def command(
    directories: tuple[str, ...],
    html: Path | None,
    sample: str | None,
    table: str | None,
    figures: Path | None,
    margin: float | None,
    rare: float | None,
    control: str | None,
    sort: Sort,
    verbose: bool,
    **forms: Path | bool | None,
) -> int:
    """Show the results of a campaign, finished or not; without DIRECTORY those of the newest below results.

    Of several campaigns each is an arm: base and changed may have been measured on different days. What both have in
    common is the control, and a warning says what differs between their environments.
    """
    from runoff.decide.noise import build_report_with_noise

    files = {name: file for name, file in {"html": html, **forms}.items() if file and not isinstance(file, bool)}
    printed = [name for name in ("mail", "markdown", "as_json") if forms[name]]
    printed += [name for name, value in (("table", table), ("sample", sample)) if value is not None]
    written_too = [*files, *(["figures"] if figures is not None else [])]
    _exclude(printed, written_too if sample is not None else [])
    directory, results = read_campaigns("report", directories, control)
    if sample is not None:
        write(_requests(results, sample))
        return 0
    report = build_report_with_noise(results, margin=margin, rare=rare, sort=sort)
    for name, file in files.items():
        write_file(file, render_form(report, _FORM_OF.get(name, name)))
    if figures is not None:
        from runoff.report.files import write_figures

        written = write_figures(report, figures)
        echo(f"{len(written)} figures in {figures}", err=bool(printed))
    if printed:
        write(render_form(report, table or _FORM_OF.get(printed[0], printed[0])))
    elif not files and figures is None:
        print_text(report, directory=directory, verbose=verbose)
        if len(directories) < 2 and (page := directory / PAGE).exists():
            echo(f"page: {page}")
    return choose_exit_code(report)


_FORM_OF = {"as_json": "json", "csv_file": "csv"}
"""Forms by the names of options that are not theirs."""

_OPTIONS = {"as_json": "--json", "sample": "--requests", "csv_file": "--csv"}


def _exclude(printed: list[str], files: list[str]) -> None:
    """Raise UsageError if several forms would go to standard output."""
    given = [_OPTIONS.get(name, f"--{name}") for name in (*printed, *files)]
    if len(given) > 1:
        raise UsageError(f"{given[0]} and {given[1]} exclude each other: give one of them")


def _requests(results: "Results", sample: str) -> str:
    from runoff.report.data import blktrace
    from runoff.results import request_log

    if sample not in results.requests:
        known = ", ".join(results.requests) or "none; --probe requests keeps it"
        raise UsageError(f"--requests {sample}: no log of requests; samples that have one: {known}")
    return blktrace.render(request_log.read(results.requests[sample]))

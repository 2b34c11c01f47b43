"""``runoff merge``: the campaigns of several machines as one."""

from pathlib import Path

import click

from runoff.cli.campaign import choose_exit_code, print_text
from runoff.cli.named_directories import name_directories
from runoff.cli.options import json_option, verbose_option
from runoff.cli.output import echo, write


@click.command(
    epilog="\b\nExamples:\n  runoff merge results/laptop results/server --out results/both\n"
    "  runoff merge old=results/20260102-120000 new=/mnt/results --out results/both"
)
@click.argument("campaigns", nargs=-1, required=True, metavar="[NAME=]DIR...")
@click.option("--out", type=click.Path(path_type=Path), required=True, metavar="DIR", help="New directory.")
@json_option
@verbose_option
def command(campaigns: tuple[str, ...], out: Path, as_json: bool, verbose: bool) -> int:
    """Merge campaigns of one plan that were taken on several machines.

    The machine is a block factor: there is a verdict for each machine, and one over all that says whether they agree.
    A machine is named by its directory, or by NAME. The result is a campaign like any other, complete in itself.
    """
    from runoff.campaign.merge import merge
    from runoff.decide.noise import build_report_with_noise
    from runoff.report.data import document
    from runoff.report.files import write_files

    report = build_report_with_noise(merge(name_directories(campaigns, "machine"), out))
    page = write_files(report, out)
    if as_json:
        write(document.render(report))
    else:
        print_text(report, directory=out, verbose=verbose)
    echo(f"page: {page}", err=as_json)
    return choose_exit_code(report)

"""``runoff merge``: the campaigns of several machines as one."""

from pathlib import Path

import click

from runoff.cli.campaign import conclude
from runoff.cli.named_directories import name_directories
from runoff.cli.options import json_option, trust_option, verbose_option


@click.command(
    epilog="\b\nExamples:\n  runoff merge results/laptop results/server --out results/both\n"
    "  runoff merge old=results/20260102-120000 new=/mnt/results --out results/both"
)
@click.argument("campaigns", nargs=-1, required=True, metavar="[NAME=]DIR...")
@click.option("--out", type=click.Path(path_type=Path), required=True, metavar="DIR", help="New directory.")
@trust_option
@json_option
@verbose_option
def command(campaigns: tuple[str, ...], out: Path, trust_directory: bool, as_json: bool, verbose: bool) -> int:
    """Merge campaigns of one plan that were taken on several machines.

    The machine is a block factor: there is a verdict for each machine, and one over all that says whether they agree.
    A machine is named by its directory, or by NAME. The result is a campaign like any other, complete in itself.
    """
    from runoff.campaign.merge import merge

    results = merge(name_directories(campaigns, "machine"), out, trusted=trust_directory)
    return conclude(results, out, as_json=as_json, verbose=verbose)

"""``runoff resume``: the rest of a campaign."""

from pathlib import Path

import click

from runoff.campaign.directory import open_again
from runoff.cli.campaign import carry_out
from runoff.cli.options import jobs_option, json_option


@click.command(epilog="Example: runoff resume results/20260102-120000")
@click.argument("directory", type=click.Path(path_type=Path))
@json_option
@jobs_option
def command(directory: Path, as_json: bool, jobs: int) -> int:
    """Take the samples that a campaign still lacks; those it has are kept."""
    plan, journal = open_again(directory)
    with journal:
        return carry_out(plan, journal, as_json=as_json, jobs=jobs)

"""``runoff blocks``: how many blocks a question needs."""

from pathlib import Path
from typing import get_args

import click

from runoff.cli.options import json_option
from runoff.cli.output import echo, write
from runoff.cli.types import parse_share
from runoff.engine_kinds import ENGINES, Clock
from runoff.errors import UsageError


@click.command(
    epilog="\b\nExamples:\n  runoff blocks results/20260102-120000 --detect 1%\n"
    "  runoff blocks --work hackbench --on host --arms 3 --margin 1%"
)
@click.argument("directory", required=False, metavar="[DIR]", type=click.Path(path_type=Path))
@click.option(
    "--work", "workloads", multiple=True, metavar="WORK", help="Use the stored noise of this workload; may be repeated."
)
@click.option("--on", "engine", type=click.Choice([*ENGINES]), help="Engine of the stored noise.")
@click.option("--clock", type=click.Choice(get_args(Clock)), help="Clock of the stored noise.")
@click.option("--arms", type=click.IntRange(2, 100), metavar="N", help="Arms of the campaign to come.  [2]")
@click.option("--detect", type=parse_share, metavar="SHARE", help="Smallest change to detect, e.g. 1%.  [the margin]")
@click.option(
    "--margin", type=parse_share, metavar="SHARE", help='A change that counts as "same".  [the pilot\'s, else 2%]'
)
@click.option(
    "--rare",
    type=parse_share,
    metavar="SHARE",
    help='Call arms "same" only after events in this share of runs would have shown up.  [the pilot\'s, else 5%]',
)
@json_option
def command(
    directory: Path | None,
    workloads: tuple[str, ...],
    engine: str | None,
    clock: str | None,
    arms: int | None,
    detect: float | None,
    margin: float | None,
    rare: float | None,
    as_json: bool,
) -> int:
    """Compute how many blocks a question needs, for a chance of 80 and of 90 %.

    DIR is a campaign that was taken as a pilot; without it the noise that `runoff noise` keeps of each --work is used.
    """
    from runoff.analysis.common import describe_voids
    from runoff.campaign.directory import read_results
    from runoff.decide import sample_size as needed
    from runoff.report.terminal import sample_size as views
    from runoff.statistics import DEFAULT_MARGIN

    if (directory is None) == (not workloads):
        raise UsageError("name a campaign or, for stored noise, --work: one of the two")
    if directory is not None:
        if engine or clock or arms:
            raise UsageError("--on, --clock and --arms are for kept noise: a pilot has its own")
        results = read_results(directory)
        sources = needed.collect_from_campaign(results)
        margin = results.margin if margin is None else margin
        rare = results.rare if rare is None else rare
        warnings = tuple(describe_voids({"the pilot": results}))
    else:
        sources = needed.collect_from_noise(needed.find_noise(workloads, engine, clock), arms or 2)
        warnings = ()
    margin = DEFAULT_MARGIN if margin is None else margin
    found = needed.compute_answers(sources, margin if detect is None else detect, margin, rare)
    if as_json:
        write(views.render_json(sources, found, warnings))
    else:
        echo(views.render(sources, found, warnings), nl=False)
    return 0 if found else 2

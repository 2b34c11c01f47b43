"""``runoff resume``: the rest of a campaign."""

from collections.abc import Sequence
from pathlib import Path

import click
import cloup

from runoff.campaign.loop.execution import Execution
from runoff.cli.campaign import finish, notify_of_failure
from runoff.cli.newest import directory_argument
from runoff.cli.options import RunOptions, execution_options, json_option, keep_notify, notify_option, verbose_option


@click.command(
    cls=cloup.Command,
    epilog="\b\nExamples:\n  runoff resume results/20260102-120000\n"
    "  runoff resume results/20260102-120000 --blocks 40\n"
    "  runoff resume results/20260102-120000 --give-up 4 --cluster tls://HOST:8786",
)
@directory_argument
@click.option(
    "--blocks",
    type=click.IntRange(1),
    metavar="N",
    help="Extend the campaign to N blocks, even when it is finished. The report allows for the look in between.",
)
@click.option(
    "--give-up",
    "given_up",
    type=click.IntRange(1),
    multiple=True,
    metavar="BLOCK",
    help="End a begun block whose machine of a cluster never comes back: what it lacks is void; may be repeated.",
)
@json_option
@verbose_option
@execution_options
@notify_option
def command(
    directory: Path,
    blocks: int | None,
    given_up: Sequence[int],
    as_json: bool,
    verbose: bool,
    execution: Execution,
    notify: str | None,
) -> int:
    """Take the samples that a campaign still lacks; without DIRECTORY the newest below results."""
    from runoff.campaign.conduct import resume
    from runoff.cli.progress import Progress

    execution = keep_notify(execution, notify)
    with notify_of_failure(notify, directory):
        conducted = resume(directory, Progress(), execution, blocks=blocks, given_up=given_up)
    return finish(conducted, RunOptions(directory, as_json, execution, notify, verbose))

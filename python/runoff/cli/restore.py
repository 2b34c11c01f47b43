"""``runoff restore``: put back what a killed runoff may have left behind."""

import os

import click

from runoff.campaign.reboots import remove_left
from runoff.cli.output import echo
from runoff.engines.agent import StaysError, sweep
from runoff.errors import MissingError


@click.command(epilog="Example: sudo runoff restore")
def command() -> None:
    """End the work, control groups, disks and scratch directories of agents that are no longer there, and give disks
    their elevators back. A campaign that goes on after each boot (--reboot) does so no more.

    A scheduler that runoff attached goes with its agent: the kernel takes it back by itself.
    """
    if os.geteuid() != 0:
        raise MissingError("restore needs root, as campaigns on the host do: sudo runoff restore")
    left = remove_left()
    try:
        echo("\n".join(filter(None, [left, sweep()])) or "nothing was left behind")
    except StaysError as error:
        echo(error.done, nl=bool(error.done))
        raise

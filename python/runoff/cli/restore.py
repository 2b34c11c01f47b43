"""``runoff restore``: put back what a killed runoff may have left behind."""

import click

from runoff.engines.agent import StaysError, sweep


@click.command(epilog="Example: sudo runoff restore")
def command() -> None:
    """End the work, control groups, disks and scratch directories of agents that are no longer there, and give disks
    their elevators back.

    A scheduler that runoff attached goes with its agent: the kernel takes it back by itself.
    """
    try:
        click.echo(sweep() or "nothing was left behind")
    except StaysError as error:
        click.echo(error.done, nl=bool(error.done))
        raise

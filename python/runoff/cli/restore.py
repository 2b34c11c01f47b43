"""``runoff restore``: put back what a killed runoff may have left behind."""

import subprocess

import click

from runoff.engines.agent import find_agent
from runoff.errors import RunoffError


@click.command(epilog="Example: sudo runoff restore")
def command() -> None:
    """End the work, control groups, disks and scratch directories of agents that are no longer there.

    A scheduler that runoff attached goes with its agent: the kernel takes it back by itself.
    """
    done = subprocess.run([find_agent(), "sweep"], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RunoffError(done.stderr.strip().removeprefix("runoff-agent: ") or "the agent could not clean up")
    click.echo(done.stdout.strip() or "nothing was left behind")

"""``runoff restore``: put back what a killed runoff may have left behind."""

import os

import click

from runoff.campaign.loop.reboots import remove_left
from runoff.cli.output import echo
from runoff.engines.agent import StaysError, sweep
from runoff.errors import MissingError, RunoffError, choose_error


@click.command(epilog="Example: sudo runoff restore")
def command() -> None:
    """End the work, control groups, disks and scratch directories of agents that are no longer there, and give disks
    their elevators back. A campaign that goes on after each boot (--reboot) does so no more.

    A scheduler that runoff attached goes with its agent: the kernel takes it back by itself.
    """
    if os.geteuid() != 0:
        raise MissingError("restore needs root, as campaigns on the host do: sudo runoff restore")
    done: list[str] = []
    errors: list[RunoffError] = []
    # What one of them cannot put back keeps the other from nothing.
    for put_back in (sweep, remove_left):
        try:
            done.append(put_back())
        except StaysError as error:
            done.append(error.done)
            errors.append(error)
        except RunoffError as error:
            errors.append(error)
    lines = [text for text in done if text]
    if lines or not errors:
        echo("\n".join(lines) or "nothing was left behind")
    if errors:
        raise choose_error(errors[0].exit_code)("; ".join(map(str, errors))) from errors[0]

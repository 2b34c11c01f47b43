"""Commands called within the test's own process."""

from pathlib import Path

import click
from click.testing import CliRunner, Result


def ask(command: click.Command, *arguments: str | Path) -> Result:
    """Runs a command and returns its result. Raises what the command raises."""
    answer = CliRunner().invoke(command, [str(each) for each in arguments], standalone_mode=False)
    if answer.exception is not None:
        raise answer.exception
    return answer

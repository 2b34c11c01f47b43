"""Commands called within the test's own process, which spares a second for each start of Python and its modules."""

import io
import os
import sys
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import patch

import click
from click.testing import CliRunner, Result

from runoff.cli.main import main


def ask(command: click.Command, *arguments: str | Path) -> Result:
    """Runs a command and returns its result. Raises what the command raises."""
    answer = CliRunner().invoke(command, [str(each) for each in arguments], standalone_mode=False)
    if answer.exception is not None:
        raise answer.exception
    return answer


@dataclass(frozen=True)
class Done:
    """What a command said, and how it ended."""

    returncode: int
    stdout: str
    stderr: str


def run(*words: str | Path, expect: int = 0) -> Done:
    """Run ``runoff`` with these words to its end, as `command.run` does in a process, and check the exit code."""
    out, err, code = io.StringIO(), io.StringIO(), 0
    environment = patch.dict(os.environ, {"NO_COLOR": "1", "COLUMNS": "100"})
    with (
        environment,
        patch.object(sys, "argv", ["runoff", *map(str, words)]),
        redirect_stdout(out),
        redirect_stderr(err),
    ):
        try:
            main()
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else 0
    done = Done(code, out.getvalue(), err.getvalue())
    assert code == expect, f"exit {code}, not {expect}\n{done.stdout[-4000:]}\n{done.stderr[-4000:]}"
    return done

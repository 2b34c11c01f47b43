"""The ``runoff`` command: finds the subcommand, turns errors into a sentence and an exit code."""

import errno
import importlib
import io
import os
import sys

import click

from runoff.cli.groups import Group
from runoff.cli.output import OutputError, echo, flush, give_up_stdout, open_streams
from runoff.errors import RunoffError
from runoff.version import __version__

COMPLETION = "_RUNOFF_COMPLETE"
"""Environment variable by which a shell asks for completions."""

COMMANDS = {
    "demo": "Make a first comparison, with all that it needs.",
    "compare": "Compare schedulers on a piece of work.",
    "contest": "Compare schedulers beside contest's loads.",
    "sweep": "Compare many values of a scheduler's parameters.",
    "run": "Carry out a plan file.",
    "resume": "Continue a campaign that was interrupted.",
    "report": "Show the results of a campaign.",
    "import": "Compare numbers that other programs have measured.",
    "history": "Draw a metric over many campaigns, with its changes.",
    "merge": "Merge campaigns of several machines.",
    "gate": "Check a campaign against a limit, for CI.",
    "blocks": "Compute how many blocks a question needs.",
    "matrix": "Try schedulers on many kernels.",
    "inspect": "Show what a compiled scheduler holds and which kernels take it.",
    "noise": "Measure the noise of this machine.",
    "list": "List schedulers, workloads, loads, kernels, plans, ...",
    "published": "Show, check and repeat historic results.",
    "attach": "Run a scheduler on this machine until Ctrl-C.",
    "set": "Show or change parameters of the running scheduler.",
    "stats": "Show the counters of the running scheduler.",
    "disk": "Make, list and remove disks behind elevators on this machine.",
    "restore": "Put back what a killed runoff may have left behind.",
    "doctor": "Check what this machine can do and what it lacks.",
    "kernel": "Add, list and remove the lab's kernels.",
    "image": "Build, list and remove the lab's images.",
    "qemu": "Build, list and remove the lab's own QEMU.",
    "scx": "Build, list and remove schedulers of the scx project.",
    "cache": "Show what the lab keeps, and remove what it does not need.",
    "completion": "Print the script that completes words in a shell.",
}
"""In the order of the help. A command's module is imported only when it is used: the help must come at once."""

_FORMER = {"plan": "blocks"}
"""What commands are called now that had another name."""


_MEANT = {
    "--wide": "--csv",
    "--log": "--csv",
    "--runs": "--blocks",
    "--iterations": "--blocks",
    "--repeat": "--blocks",
    "--repetitions": "--blocks",
    "--arms": "ARM ARM, without an option",
    "--schedulers": "ARM ARM, without an option",
    "--workload": "--work",
    "--benchmark": "--work",
    "--kernel": "ARM@KERNEL",
    "--latest": "no directory, which means the newest",
    "-o": "--out",
}
"""What options of other programs are here."""


class _ReaderLeft(Exception):
    """Standard output's reader has gone. Under its own name click would make exit code 1 of it."""


class _Commands(Group):
    def invoke(self, ctx: click.Context) -> object:
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            raise _ReaderLeft from None

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        # A module cannot have the name of a keyword.
        module = "import_files" if name == "import" else name
        command: click.Command = importlib.import_module(f"runoff.cli.{module}").command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[:1] == ["help"]:
            # As other programs have it: the help of all, or of one command.
            if len(args) == 1:
                echo(ctx.get_help())
                ctx.exit()
            args = [args[1], "--help"]
        if args[:1]:
            args = [_FORMER.get(args[0], args[0]), *args[1:]]
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(
    cls=_Commands,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Example: runoff compare default bfs --work hackbench --work counters",
)
@click.version_option(__version__, prog_name="runoff")
def cli() -> None:
    """Find out which scheduler serves a piece of work better, and whether the difference is real."""


def main() -> None:
    """Entry point. Exit codes: 0 done, 1 failed, 2 cannot tell or void, 64 usage, 69 something is missing."""
    open_streams()
    if os.environ.get(COMPLETION):
        _complete()
    try:
        code = cli.main(prog_name="runoff", standalone_mode=False)
        flush()
    except RunoffError as error:
        _fail(error.describe(), error.exit_code)
    except (_ReaderLeft, BrokenPipeError):
        give_up_stdout()
        sys.exit(0)
    except OutputError as error:
        give_up_stdout()
        _fail(str(error), 1)
    except OSError as error:
        if error.filename is not None:
            code = 64 if error.errno == errno.ENAMETOOLONG else 69
            _fail(f"cannot use {error.filename}: {error.strerror}{_describe_way_out(error.filename)}", code)
        # Of help, which click prints itself; errors of files have a name, and some of Python's own no number.
        if error.errno is None:
            raise
        give_up_stdout()
        _fail(f"cannot write to standard output: {error.strerror}", 1)
    except click.ClickException as error:
        if isinstance(error, click.NoSuchOption) and error.option_name in _MEANT:
            meant = _MEANT[error.option_name]
            error = click.UsageError(f"No such option {error.option_name!r}. Did you mean {meant!r}?", error.ctx)
        if isinstance(error, click.MissingParameter) and error.param is not None and error.param.name == "workloads":
            error = click.UsageError(
                "Missing option '--work', the work to do; for example: --work hackbench", error.ctx
            )
        shown = io.StringIO()
        error.show(shown)
        echo(shown.getvalue(), err=True, nl=False)
        sys.exit(64)
    except click.Abort:
        sys.exit(130)
    sys.exit(code if isinstance(code, int) else 0)


def _complete() -> None:
    """Let click answer with the scripts of our own."""
    importlib.import_module("runoff.cli.completion_scripts")


def _describe_way_out(file: str | bytes) -> str:
    is_mounted = os.path.lexists("/proc/self")
    return "" if is_mounted or not os.fsdecode(file).startswith("/proc/") else "; first: mount -t proc proc /proc"


def _fail(text: str, code: int) -> None:
    echo(f"runoff: {text}", err=True)
    sys.exit(code)

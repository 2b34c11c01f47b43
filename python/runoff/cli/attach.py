"""``runoff attach``: a scheduler on this machine until Ctrl-C, with live statistics."""

import os
import signal
from collections.abc import Sequence

import click

from runoff.cli import counters
from runoff.cli.output import echo
from runoff.engines.control import Watch
from runoff.engines.questions import describe_schedulers
from runoff.errors import MissingError, UsageError
from runoff.installed import name_command_for_root
from runoff.plan.arms import parse_arm


@click.command(epilog="\b\nExamples:\n  sudo runoff attach bfs rr_interval_ms=3\n  sudo runoff attach ./my.bpf.o")
@click.argument("scheduler")
@click.argument("parameters", nargs=-1, metavar="[KEY=VALUE...]")
@click.option("--per-cpu", is_flag=True, help="Show the counters of each CPU.")
@click.option("--json", "as_json", is_flag=True, help="Print the counters as JSON lines.")
def command(scheduler: str, parameters: tuple[str, ...], per_cpu: bool, as_json: bool) -> int:
    """Run a scheduler on this machine until Ctrl-C, and show what it counts.

    SCHEDULER is one that comes with runoff (`runoff list schedulers` names them), or an object file. A
    program, such as scx_lavd, attaches its scheduler itself: run it.
    """
    words = _words(scheduler, parameters)
    if os.geteuid() != 0:
        raise MissingError(f"attaching a scheduler needs root: {name_command_for_root()} attach ...")
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    watch = Watch("attach", *(["--per-cpu"] if per_cpu else []), "--", *words)
    counters.follow(watch, as_json, lambda: warn(scheduler, watch))
    echo(f"{scheduler} is detached", err=True)
    return 0


def warn(scheduler: str, watch: Watch) -> None:
    """Warn about the consequences of attaching this scheduler."""
    _warn_of_limits(scheduler, watch.limited_groups)
    if (turn := watch.long_turn) is not None:
        echo(
            f"{turn['parameter']} ({turn['unit']}) is a long turn: where more than {turn['starves_above']} tasks a CPU"
            " want to run, one waits for 15 s and then runs for a tick at a time; with more than"
            f" {turn['safe_up_to']} the kernel's watchdog may end {scheduler}",
            err=True,
        )


def _warn_of_limits(scheduler: str, limited: Sequence[str]) -> None:
    """Warn about limits of control groups that only the kernel's own scheduler enforces."""
    if limited and "/" not in scheduler:
        others = f" and {len(limited) - 1} more" if len(limited) > 1 else ""
        echo(
            f"{scheduler} keeps neither cpu.max nor cpu.weight nor cpu.idle of control groups, which "
            f"{limited[0]}{others} has set: until it is detached they do not hold",
            err=True,
        )


def _words(scheduler: str, parameters: tuple[str, ...]) -> list[str]:
    """Return scheduler and parameters as words for the agent. Raises UsageError."""
    arm = parse_arm(f"{scheduler}:{','.join(parameters)}" if parameters else scheduler, describe_schedulers)
    kind = arm.scheduler["kind"]
    if kind not in ("builtin", "object") or arm.kernel is not None:
        raise UsageError(f"{scheduler!r} cannot be attached: name one of runoff list schedulers, or an object file")
    name = arm.scheduler["name"] if kind == "builtin" else arm.scheduler["path"]
    return [name, *(f"{key}={value}" for key, value in arm.scheduler["parameters"].items())]

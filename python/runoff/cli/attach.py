"""``runoff attach``: one of our schedulers on this machine, with live statistics."""

import json
import os
import signal
import subprocess
from collections.abc import Mapping
from typing import Any

import click

from runoff.arms import parse_arm
from runoff.engines.agent import describe_schedulers, find_agent
from runoff.errors import MissingError, RunoffError


@click.command(epilog="Example: sudo runoff attach bfs rr_interval_ms=3")
@click.argument("scheduler")
@click.argument("parameters", nargs=-1, metavar="[KEY=VALUE...]")
@click.option("--json", "as_json", is_flag=True, help="Print the counters as JSON lines.")
def command(scheduler: str, parameters: tuple[str, ...], as_json: bool) -> int:
    """Run one of our schedulers on this machine until Ctrl-C."""
    label = f"{scheduler}:{','.join(parameters)}" if parameters else scheduler
    arm = parse_arm(label, describe_schedulers)
    if arm.scheduler["kind"] != "builtin":
        raise RunoffError(f"{scheduler!r} is not one of ours: runoff list schedulers names them")
    if os.geteuid() != 0:
        raise MissingError("attaching a scheduler needs root: run it with sudo")
    # A session of its own: a Ctrl-C is for this process, which passes it on wherever it came from.
    agent = subprocess.Popen(
        [find_agent(), "attach", scheduler, *parameters],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        _show(agent, as_json)
    except KeyboardInterrupt:
        pass
    except BrokenPipeError:
        agent.terminate()
        raise
    agent.terminate()
    _, errors = agent.communicate()
    if agent.returncode < 0:
        raise RunoffError(f"the agent was ended by signal {-agent.returncode}; the kernel's own scheduler is back")
    if agent.returncode > 0:
        raise RunoffError(errors.strip().removeprefix("runoff-agent: "))
    click.echo(f"{scheduler} is detached", err=True)
    return 0


def _show(agent: "subprocess.Popen[str]", as_json: bool) -> None:
    assert agent.stdout is not None
    for line in agent.stdout:
        click.echo(line.rstrip() if as_json else _table(json.loads(line)))


def _table(line: Mapping[str, Any]) -> str:
    counters = "  ".join(f"{name} {value}" for name, value in line["counters"].items())
    return f"{line['scheduler']}  {line['elapsed_s']:.0f} s  {counters}"

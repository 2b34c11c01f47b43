"""``runoff attach``: one of our schedulers on this machine, with live statistics."""

import json
import os
import subprocess
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
    """Run one of our schedulers on this machine until Ctrl-C; its counters are printed every second."""
    label = f"{scheduler}:{','.join(parameters)}" if parameters else scheduler
    arm = parse_arm(label, describe_schedulers)
    if arm.scheduler["kind"] != "builtin":
        raise RunoffError(f"{scheduler!r} is not one of ours: runoff list schedulers names them")
    if os.geteuid() != 0:
        raise MissingError("attaching a scheduler needs root: run it with sudo")
    agent = subprocess.Popen([find_agent(), "attach", scheduler, *parameters], stdout=subprocess.PIPE, text=True)
    assert agent.stdout is not None
    try:
        for line in agent.stdout:
            click.echo(line.rstrip() if as_json else _line(json.loads(line)))
    except KeyboardInterrupt:
        # The agent has had the same Ctrl-C from the terminal; it detaches and leaves.
        pass
    return agent.wait()


def _line(state: dict[str, Any]) -> str:
    """One of the agent's lines for people (crates/agent/src/scheduler/stats.rs)."""
    counters = "  ".join(f"{name} {value}" for name, value in state["counters"].items())
    return f"{state['scheduler']}  {state['elapsed_s']:.0f} s  {counters}".rstrip()

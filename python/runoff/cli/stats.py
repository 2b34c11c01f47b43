"""``runoff stats``: what the scheduler that runs on this machine has counted."""

import signal

import click

from runoff.cli import counters
from runoff.engines.control import Watch
from runoff.errors import UsageError

EXAMPLES = """\b
Examples:
  sudo runoff stats bfs
  sudo runoff stats bfs --follow --per-cpu
  sudo runoff stats zaphod --task 4711"""


@click.command(epilog=EXAMPLES)
@click.argument("scheduler")
@click.option("--follow", is_flag=True, help="Go on once a second until Ctrl-C.")
@click.option("--per-cpu", is_flag=True, help="Show the counters of each CPU.")
@click.option("--task", type=click.IntRange(min=1), help="Show the counters of one task, by pid or thread id.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document; with --follow JSON lines.")
def command(scheduler: str, follow: bool, per_cpu: bool, task: int | None, as_json: bool) -> None:
    """Show the counters of the running scheduler since it was attached."""
    if task is not None and per_cpu:
        raise UsageError("--task and --per-cpu do not go together: a task's counters are not kept for each CPU")
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    options = [*(["--follow"] if follow else []), *(["--per-cpu"] if per_cpu else [])]
    options += [f"--task={task}"] if task is not None else []
    watch = Watch("stats", *options, "--", scheduler)
    (counters.follow if follow else counters.show_once)(watch, as_json)

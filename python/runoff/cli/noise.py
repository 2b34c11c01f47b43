"""``runoff noise``: the same arm against itself, kept for later reports and plans."""

import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
import cloup

from runoff.cli.campaign import begin
from runoff.cli.newest import RESULTS
from runoff.cli.options import (
    LAB_KEYS,
    RunOptions,
    collect_given,
    json_option,
    plan_only_option,
    plan_options,
    run_options,
)
from runoff.cli.output import echo, write
from runoff.errors import INTERRUPTED, UsageError
from runoff.plan.settings import parse_settings

NAMES = ("a", "b")
"""What the arm is called the first and the second time."""


class _Noise(cloup.Group):
    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in self.commands:
            known = ", ".join(self.commands)
            raise UsageError(
                f"noise has no command {args[0]!r}; there are: {known}; an arm is given as --arm {args[0]}"
            )
        return super().resolve_command(ctx, args)


@click.group(
    cls=_Noise,
    invoke_without_command=True,
    epilog="\b\nExamples:\n  runoff noise --work hackbench --on host --blocks 20\n"
    "  runoff noise --work hackbench --arm bfs\n  runoff noise list\n  runoff noise show hackbench",
)
@plan_options("workloads", "loads")
@click.option("--arm", default="default", show_default=True, metavar="ARM", help="Arm to measure against itself.")
@plan_options("probes", *LAB_KEYS, "blocks", "flush", "load_blocks", "warmup", "seed")
@plan_only_option
@run_options
@click.pass_context
def command(
    context: click.Context,
    /,
    arm: str,
    plan_only: bool,
    run: RunOptions,
    **options: Any,
) -> int:
    """Measure one arm against itself, to learn the noise of this machine.

    The result is kept in the user's data directory; later reports have a line of it, and `runoff blocks` uses it.
    """
    if context.invoked_subcommand is not None:
        return 0
    if not options["workloads"]:
        raise UsageError("name the work to measure the noise of, e.g. runoff noise --work hackbench")
    values = {"arms": NAMES, "names": dict.fromkeys(NAMES, arm), **collect_given(options)}
    settings = parse_settings(values, "the command line")
    place = run.out or RESULTS / time.strftime("noise-%Y%m%d-%H%M%S")
    code = begin(settings, replace(run, out=place), plan_only=plan_only)
    if not plan_only and code != INTERRUPTED:
        _keep(place)
    return code


def _keep(directory: Path) -> None:
    from runoff.analysis.noise import measure_noise
    from runoff.campaign.directory import read_results
    from runoff.decide.noise import save_noise

    results = read_results(directory)
    if len(results.samples) < results.planned:
        raise UsageError(f"the campaign is not complete: runoff resume {directory}, then runoff noise keep {directory}")
    for found in measure_noise(results):
        echo(f"noise of {found.place} is kept in {save_noise(found)}", err=True)


@command.command("keep", epilog="Example: runoff noise keep results/noise-20260102-120000")
@click.argument("directory", type=click.Path(path_type=Path))
def keep(directory: Path) -> int:
    """Store the noise of a campaign of one arm against itself."""
    _keep(directory)
    return 0


@command.command("list", epilog="Example: runoff noise list --json")
@json_option
def list_(as_json: bool) -> int:
    """List the stored noise."""
    from runoff.decide.noise import list_noise
    from runoff.report.data.json_text import dump

    found = list(list_noise())
    if as_json:
        documents = [
            {"file": str(place), "error": str(each)}
            if isinstance(each, UsageError)
            else {"file": str(place), **each.model_dump(mode="json", by_alias=True)}
            for place, each in found
        ]
        write(dump(documents))
        return 0
    if not found:
        echo("no noise is kept: runoff noise --work WORK measures it", err=True)
    for _, each in found:
        echo(f"! {each}" if isinstance(each, UsageError) else _line(each))
    return 0


def _line(found: Any) -> str:
    blocks = sum(max(metric.blocks for metric in run.metrics) for run in found.runs)
    headline = found.metric(found.runs[-1].metrics[0].name)
    from runoff.report.words.noise import format_amount

    return (
        f"{found.place}  {found.engine}, {found.clock} clock, {found.arm}: {headline.metric.title} "
        f"{format_amount(headline.sd, headline.metric)}, {blocks} blocks, {found.runs[-1].taken[:10]}"
    )


@command.command(
    "show", short_help="Show the noise of a workload's metrics.", epilog="Example: runoff noise show hackbench"
)
@click.argument("workload")
def show(workload: str) -> int:
    """Show the noise of a workload's metrics, and what 10, 20 and 50 blocks can detect."""
    from runoff.analysis.noise import Noise
    from runoff.decide.noise import list_noise
    from runoff.report.words.noise import describe_pooled

    every = [each for _, each in list_noise() if isinstance(each, Noise)]
    found = [each for each in every if each.workload == workload]
    if not found:
        known = sorted({each.workload for each in every})
        there = f"there is noise of: {', '.join(known)}" if known else "there is none yet"
        raise UsageError(f"no noise of {workload!r} is kept; {there}; measure it by runoff noise --work {workload}")
    for each in found:
        machine = ", ".join(f"{key} {value}" for key, value in each.machine.items())
        echo(f"{each.place}  {each.engine}, {each.clock} clock, {each.arm}\n  {machine}")
        for metric in each.runs[-1].metrics:
            pooled = each.metric(metric.name)
            assert pooled is not None
            echo(f"  {metric.title}: {describe_pooled(pooled, 10)}")
    return 0

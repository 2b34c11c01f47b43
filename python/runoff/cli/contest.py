"""``runoff contest``: contest's matrix of loads and arms, and its table."""

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import cloup

from runoff.cli.campaign import begin
from runoff.cli.options import (
    LAB_KEYS,
    RunOptions,
    arm_arguments,
    collect_given,
    plan_only_option,
    plan_options,
    run_options,
)
from runoff.cli.output import echo
from runoff.engine_kinds import ENGINES
from runoff.plan import contest
from runoff.plan.settings import append_names, parse_settings

if TYPE_CHECKING:
    from runoff.analysis.values import Report


@click.command(
    cls=cloup.Command,
    epilog="\b\nExamples:\n  runoff contest default bfs --quick\n"
    "  runoff contest default bfs --load none --load io --load mem --blocks 5\n"
    "  runoff contest default bfs --clock virtual -j 2",
)
@arm_arguments
@plan_options("workloads", "loads", workloads="compile with 4 jobs for each CPU", loads="all of contest's but io_other")
@click.option("--quick", is_flag=True, help="A small compile, once with each load: minutes instead of hours.")
@plan_options("probes", *LAB_KEYS, "sensitivity", cpus=str(contest.CPUS), memory_mb=str(contest.MEMORY_MB))
@plan_options(
    "blocks", "margin", "rare", "load_blocks", "warmup", "seed", blocks="1 to 4, as contest's author ran each"
)
@plan_only_option
@run_options
def command(
    arms: tuple[str, ...],
    quick: bool,
    plan_only: bool,
    run: RunOptions,
    **options: Any,
) -> int:
    """Time a compile with each load in turn, as contest did.

    Prints contest's own tables, with its accounting and with that of control groups. Verdicts and
    intervals are in the page and in `runoff report`.
    """
    chosen = collect_given(options)
    if "on" in chosen and ENGINES[chosen["on"]].is_this_machine:
        values = _choose_values_here(chosen, quick)
    else:
        values = contest.make_plan_values(chosen, chosen.get("cpus", contest.CPUS), quick=quick)
    settings = parse_settings({"arms": append_names(arms, options["names"]), **values}, "the command line")
    return begin(settings, run, plan_only=plan_only, show=_show)


def _choose_values_here(chosen: dict[str, Any], quick: bool) -> dict[str, Any]:
    from runoff.engines import capacity
    from runoff.engines.agent import SCRATCH

    left_out = [contest.NEEDS_A_PATH]
    if not chosen.get("loads") and not capacity.measure_machine(Path(SCRATCH)).swap_mb:
        left_out.append(contest.NEEDS_SWAP)
        echo(f"the load {contest.NEEDS_SWAP} is left out: this machine has no swap space", err=True)
    cpus = chosen.get("cpus", len(os.sched_getaffinity(0)))
    return contest.make_plan_values(chosen, cpus, quick=quick, left_out=left_out)


def _show(report: "Report") -> None:
    from runoff.report.historic import contest as table
    from runoff.report.words.campaign_warnings import describe_campaign
    from runoff.report.words.layout import wrap
    from runoff.report.words.sentences import render_verdict

    echo(table.render(report, "reaped"))
    echo(f"With all the CPU time of the loads, and ratios to {report.baseline} without a load:\n")
    echo(table.render(report, "cgroup"))
    width = shutil.get_terminal_size((80, 24)).columns
    for sentence in (*render_verdict(report), *describe_campaign(report)):
        echo("\n".join(wrap(sentence, width)))

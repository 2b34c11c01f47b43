"""``runoff sweep``: one scheduler with many values of its parameters."""

from typing import Any

import click
import cloup

from runoff.cli.campaign import begin
from runoff.cli.options import LAB_KEYS, RunOptions, collect_given, plan_only_option, plan_options, run_options
from runoff.plan.settings import parse_settings
from runoff.plan.sweep import MOST_ARMS, expand_sweep


@click.command(
    cls=cloup.Command,
    epilog="\b\nExamples:\n  runoff sweep bfs:rr_interval_ms=1..20 --work hackbench --clock virtual -j 2\n"
    "  runoff sweep 'eevdf:slice_us=250..16000*2' --work schbench --work hackbench\n"
    "  runoff sweep 'zaphod:mode=pb|eb,time_slice=20|100|200' --work hackbench\n"
    "  runoff sweep 'default+io=cfq:slice_idle_ms=0..10' --work compile --load io",
)
@click.argument("arm", metavar="ARM")
@click.option("--yes", is_flag=True, help=f"Take a sweep of more than {MOST_ARMS} arms.")
@plan_options("workloads", required=True)
@plan_options("loads", "probes", *LAB_KEYS)
@plan_options("blocks", "until", "most_blocks", "margin", "rare", "flush", "load_blocks", "warmup", "seed")
@plan_only_option
@run_options
def command(
    arm: str,
    yes: bool,
    plan_only: bool,
    run: RunOptions,
    **options: Any,
) -> int:
    """Compare a scheduler with itself: each combination of values is an arm, the defaults are the baseline.

    A value is a range (1..20, 0..100+10 in steps of ten, 1..1000*2 doubling) or a list (1|3|6). The report
    draws the response to one parameter as a curve, to two as a map, and says whether any value helps.
    """
    from runoff.engines.agent import AGENT_CATALOGUE

    arms = expand_sweep(arm, AGENT_CATALOGUE, large=yes)
    settings = parse_settings({"arms": arms, **collect_given(options)}, "the command line")
    return begin(settings, run, plan_only=plan_only)

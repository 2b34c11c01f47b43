"""``runoff compare``: a campaign from the command line."""

from typing import Any

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
from runoff.plan.settings import append_names, parse_settings


@click.command(
    cls=cloup.Command,
    epilog="\b\nExamples:\n  runoff compare default bfs --work hackbench\n"
    "  runoff compare default bfs:rr_interval_ms=3 --work counters:n=1..3\n"
    "  runoff compare default bfs --work hackbench --clock virtual -j 2\n"
    "  runoff compare default short -n short=bfs:rr_interval_ms=1 --work hackbench --margin 1%\n"
    "  runoff compare default bfs --work hackbench --until 1% --most-blocks 200\n"
    "  runoff compare default bfs --work compile:part=et --load none --load process --load io",
)
@arm_arguments
@plan_options("workloads", required=True)
@plan_options("loads", "probes", *LAB_KEYS, "sensitivity")
@plan_options("blocks", "until", "most_blocks", "margin", "rare", "flush", "load_blocks", "warmup", "seed")
@plan_only_option
@run_options
def command(arms: tuple[str, ...], plan_only: bool, run: RunOptions, **options: Any) -> int:
    """Compare schedulers: every ARM does the same work, in randomised blocks.

    An ARM is scheduler[:key=value,...][+io=elevator][@kernel]: default, bfs, bfs:rr_interval_ms=3,
    default+io=cfq, ./my.bpf.o, scx_lavd:gaming, "exec:scx_bpfland -k"; or a name that --name gives to one. The first
    one is the baseline.
    """
    settings = parse_settings(
        {"arms": append_names(arms, options["names"]), **collect_given(options)}, "the command line"
    )
    return begin(settings, run, plan_only=plan_only)

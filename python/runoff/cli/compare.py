"""``runoff compare``: a campaign from the command line."""

from pathlib import Path
from typing import Any

import click

from runoff.cli.campaign import begin
from runoff.cli.options import arm_arguments, given, judging_options, machine_options, order_options, output_options
from runoff.cli.types import share
from runoff.plan.settings import named, parse_settings


@click.command(
    epilog="\b\nExamples:\n  runoff compare default bfs --work hackbench\n"
    "  runoff compare default bfs:rr_interval_ms=3 --work counters:n=1..3\n"
    "  runoff compare default bfs --work hackbench --clock virtual -j 2\n"
    "  runoff compare default short -n short=bfs:rr_interval_ms=1 --work hackbench --margin 1%\n"
    "  runoff compare default bfs --work hackbench --until 1% --most-blocks 200\n"
    "  runoff compare default bfs --work compile:part=et --load none --load process --load io"
)
@arm_arguments
@click.option(
    "--work",
    "workloads",
    multiple=True,
    required=True,
    metavar="WORK",
    help="Workload, e.g. hackbench:groups=10; may be repeated.",
)
@click.option(
    "--load",
    "loads",
    multiple=True,
    metavar="LOAD",
    help="Load beside the work, e.g. io; none is the workload alone; may be repeated.",
)
@machine_options
@click.option("--blocks", type=int, metavar="N", help="Samples of each arm on each workload, beside each load.  [10]")
@click.option(
    "--until",
    type=share,
    metavar="SHARE",
    help="Take blocks until every headline comparison is decided, with this as the margin, e.g. 1%.",
)
@click.option("--most-blocks", type=int, metavar="N", help="With --until: so many at most.  [500]")
@click.option("--flush", is_flag=True, help="Drop what is cached and empty the guest's swap before each sample.")
@judging_options
@order_options
@output_options
def command(
    arms: tuple[str, ...], plan_only: bool, out: Path | None, as_json: bool, jobs: int, keep_going: bool, **options: Any
) -> int:
    """Compare schedulers: every ARM does the same work, in randomised blocks.

    An ARM is scheduler[:key=value,...][+io=elevator][@kernel]: default, bfs, bfs:rr_interval_ms=3,
    default+io=cfq, ./my.bpf.o, "exec:scx_bpfland -k"; or a name that --name gives to one. The first one is the
    baseline.
    """
    settings = parse_settings({"arms": named(arms, options["names"]), **given(options)}, "the command line")
    return begin(settings, out, plan_only=plan_only, as_json=as_json, jobs=jobs, keep_going=keep_going)

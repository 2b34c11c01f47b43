"""``runoff compare``: a campaign from the command line."""

from pathlib import Path
from typing import Any

import click

from runoff.cli.campaign import begin, out_option, output_options
from runoff.plan import parse_settings


@click.command(
    epilog="\b\nExamples:\n  runoff compare default bfs --work hackbench\n"
    "  runoff compare default bfs:rr_interval_ms=3 --work counters:n=1..3\n"
    "  runoff compare default bfs --work hackbench --clock virtual --cpus 1 -j 2\n"
    "  runoff compare default bfs --work compile:part=et --load none --load process --load io"
)
@click.argument("arms", nargs=-1, required=True, metavar="ARM ARM...")
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
    help="Work to run beside it, e.g. io; none is the workload alone; may be repeated.",
)
@click.option("--on", type=click.Choice(["host", "lab"]), help="Engine: this machine, or a real kernel in QEMU.  [lab]")
@click.option(
    "--clock", type=click.Choice(["real", "virtual"]), help="Lab's clock; virtual is repeatable, 1 CPU.  [real]"
)
@click.option("--cpus", type=int, metavar="N", help="CPUs of the lab's guest.  [2]")
@click.option("--memory", "memory_mb", type=int, metavar="MB", help="Memory of the lab's guest.  [1024]")
@click.option(
    "--disk",
    "disk_mb",
    type=int,
    metavar="MB",
    help="Disk of the lab's guest.  [4 x memory if something wants one]",
)
@click.option(
    "--disk-model", metavar="MODEL", help="Disk of arms with +io=, e.g. scsi10k or ide2003:rpm=5400.  [ide2003]"
)
@click.option(
    "--swap", "swap_mb", type=int, metavar="MB", help="Swap of the lab's guest.  [2 x memory if a load wants some]"
)
@click.option(
    "--kernel", metavar="KERNEL", help="Kernel of the lab; runoff kernel list.  [newest that takes schedulers]"
)
@click.option(
    "--package",
    "packages",
    multiple=True,
    metavar="NAME",
    help="Debian package to add to the lab's image; may be repeated.",
)
@click.option("--blocks", type=int, metavar="N", help="Samples of each arm on each workload, beside each load.  [5]")
@click.option("--seed", type=int, metavar="N", help="Draws the order; the same seed, the same order.  [1]")
@click.option("--plan-only", is_flag=True, help="Print the plan as a file for `runoff run` and stop.")
@out_option
@output_options
def command(arms: tuple[str, ...], plan_only: bool, out: Path | None, as_json: bool, jobs: int, **given: Any) -> int:
    """Compare schedulers: every ARM does the same work, in randomised blocks.

    An ARM is scheduler[:key=value,...][+io=elevator][@kernel]: default, bfs, bfs:rr_interval_ms=3,
    default+io=cfq, ./my.bpf.o, "exec:scx_bpfland -k". The first one is the baseline.
    """
    values = {key: value for key, value in given.items() if value not in (None, ())}
    settings = parse_settings({"arms": arms, **values}, "the command line")
    return begin(settings, out, plan_only=plan_only, as_json=as_json, jobs=jobs)

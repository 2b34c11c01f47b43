"""``runoff sweep``: one scheduler with many values of its parameters."""

import shutil
from typing import Any

import click
import cloup

from runoff.cli.campaign import begin, notify, notify_of_failure
from runoff.cli.completions import COMPLETE
from runoff.cli.newest import choose_new_directory
from runoff.cli.options import GROUPS, LAB_KEYS, RunOptions, collect_given, plan_only_option, plan_options, run_options
from runoff.cli.output import echo, write
from runoff.errors import UsageError
from runoff.plan.sweep import MOST_ARMS, expand_sizes


@click.command(
    cls=cloup.Command,
    epilog="\b\nExamples:\n  runoff sweep bfs:rr_interval_ms=1..20 --work hackbench --clock virtual -j 2\n"
    "  runoff sweep 'eevdf:slice_us=250..16000*2' --work schbench --work hackbench\n"
    "  runoff sweep 'zaphod:mode=pb|eb,time_slice=20|100|200' --work hackbench\n"
    "  runoff sweep 'default+io=cfq:slice_idle_ms=0..10' --work compile --load io\n"
    "  runoff sweep default bfs --cpus 1,2,4,8 --work hackbench --out results/sizes",
)
@click.argument("arms", nargs=-1, required=True, metavar="ARM...", shell_complete=COMPLETE["arms"])
@click.option("--yes", is_flag=True, help=f"Take a sweep of more than {MOST_ARMS} arms.")
@plan_options("workloads", required=True)
@plan_options("loads", "probes", *(key for key in LAB_KEYS if key != "cpus"))
@cloup.option(
    "--cpus",
    metavar="N[,N...]",
    help="CPUs of the guest; several (1,2,4,8 or 1..8*2) take a campaign with each, and draw the changes over them.  "
    "[2]",
    group=GROUPS["cpus"],
)
@plan_options("blocks", "until", "most_blocks", "margin", "rare", "flush", "load_blocks", "warmup", "seed")
@plan_only_option
@run_options
def command(
    arms: tuple[str, ...],
    yes: bool,
    plan_only: bool,
    run: RunOptions,
    cpus: str | None,
    **options: Any,
) -> int:
    """Compare a scheduler with itself: each combination of values is an arm, the defaults are the baseline.

    A value is a range (1..20, 0..100+10 in steps of ten, 1..1000*2 doubling) or a list (1|3|6). The report
    draws the response to one parameter as a curve, to two as a map, and says whether any value helps.

    With several sizes in --cpus, any arms are compared with each of them; one alone with the kernel's own scheduler.
    The same command with the same --out goes on where it was stopped.
    """
    from runoff.campaign.sweep import make_sweep

    sizes = [] if cpus is None else expand_sizes(cpus)
    values = collect_given(options)
    if len(sizes) > 1:
        if plan_only:
            raise UsageError("--plan-only prints one plan: give one size in --cpus")
        return _sweep_sizes(arms, sizes, values, run, large=yes)
    if len(arms) > 1:
        raise UsageError(
            "a sweep is of one scheduler: compare several with runoff compare, or give sizes, --cpus 1,2,4"
        )
    keys = {**values, **({"cpus": sizes[0]} if sizes else {})}
    return begin(make_sweep(arms[0], keys, "the command line", large=yes), run, plan_only=plan_only)


def _sweep_sizes(
    arms: tuple[str, ...], sizes: list[int], values: dict[str, Any], run: RunOptions, *, large: bool
) -> int:
    from runoff.cli.progress import Progress
    from runoff.matrix.sizes import views
    from runoff.matrix.sizes.conduct import conduct_sizes
    from runoff.matrix.sizes.wording import describe_outcome

    place = run.out or choose_new_directory()
    with notify_of_failure(run.notify, place):
        found = conduct_sizes(arms, sizes, values, place, Progress(), run.execution, large=large)
    if run.as_json:
        write(views.render_json(found))
    else:
        echo(views.render_text(found, shutil.get_terminal_size((80, 24)).columns), nl=False)
    if len(found.reports) < len(sizes) or found.is_stopped:
        echo(f"stopped early, every finished sample is kept; go on with the same command and --out {place}", err=True)
    echo(f"page: {place / views.PAGE}", err=run.as_json)
    notify(run.notify, place, found.exit_code, " ".join(describe_outcome(found)))
    return found.exit_code

"""``runoff run``: a campaign from a plan file."""

from pathlib import Path
from typing import Any

import click
import cloup

from runoff.cli.campaign import begin
from runoff.cli.completions import complete_plan
from runoff.cli.options import RunOptions, collect_given, plan_options, run_options
from runoff.plan.settings import parse_settings, read_settings
from runoff.plan.shipped import find_shipped
from runoff.reading import does_exist


@click.command(
    cls=cloup.Command,
    epilog="\b\nExamples:\n  runoff run demo --out results/demo\n  runoff run contest-2003 --quick\n"
    "  runoff run ./mine.toml",
)
@click.argument("plan", type=click.Path(path_type=Path), shell_complete=complete_plan)
@click.option("--quick", is_flag=True, help="Use the small size: the keys of the plan's table [quick].")
@click.option("--plan-only", is_flag=True, help="Check the plan, print it with all its defaults, and stop.")
@plan_options("margin", "rare")
@run_options
def command(
    plan: Path,
    quick: bool,
    plan_only: bool,
    run: RunOptions,
    **options: Any,
) -> int:
    """Carry out a PLAN file (TOML): the options of `runoff compare` as keys. docs/plans.md describes it.

    PLAN is a path, or the name of a plan that comes with runoff (`runoff list plans`).
    """
    if not does_exist(plan) and len(plan.parts) == 1 and not plan.suffix:
        plan = find_shipped(str(plan))
    written = read_settings(plan, quick=quick).model_dump(exclude_unset=True)
    settings = parse_settings({**written, **collect_given(options)}, "the command line")
    return begin(settings, run, plan_only=plan_only)

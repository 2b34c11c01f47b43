"""``runoff run``: a campaign from a plan file."""

from pathlib import Path

import click

from runoff.cli.campaign import begin, out_option, output_options
from runoff.plan import read_settings


@click.command(epilog="Example: runoff run plans/demo.toml --out results/demo")
@click.argument("plan", type=click.Path(path_type=Path))
@click.option("--plan-only", is_flag=True, help="Check the plan, print it with all its defaults, and stop.")
@out_option
@output_options
def command(plan: Path, plan_only: bool, out: Path | None, as_json: bool, jobs: int) -> int:
    """Carry out a plan file (TOML): the options of `runoff compare` as keys. docs/plans.md describes it."""
    return begin(read_settings(plan), out, plan_only=plan_only, as_json=as_json, jobs=jobs)

"""``runoff demo``: a first comparison, with everything that it needs."""

import os
from dataclasses import replace

import click
import cloup
from click.core import ParameterSource

from runoff.cli.cache_view import progress
from runoff.cli.campaign import begin
from runoff.cli.options import RunOptions, run_options
from runoff.cli.output import echo
from runoff.errors import MissingError
from runoff.plan.settings import read_settings
from runoff.plan.shipped import find_shipped


@click.command(cls=cloup.Command, epilog="\b\nExamples:\n  runoff demo\n  runoff demo --out results/first --verbose")
@run_options
def command(run: RunOptions) -> int:
    """Compare the kernel's own scheduler with bfs and O(1) in the lab.

    On two CPUs the demo takes about 14 minutes the first time, and 4 minutes then: first it fetches a kernel and
    builds the lab's own QEMU into the cache. It changes nothing on this machine, and needs no root.
    """
    settings = read_settings(find_shipped("demo"))
    get_source = click.get_current_context().get_parameter_source
    _prepare_lab()
    if run.execution.cluster is None and get_source("jobs") is ParameterSource.DEFAULT:
        run = replace(run, execution=replace(run.execution, jobs=os.cpu_count() or 1))
    return begin(settings, run)


def _prepare_lab() -> None:
    """Put a kernel and the lab's own QEMU into the cache. Raises MissingError naming all that this machine lacks."""
    from runoff.engines import doctor
    from runoff.engines.lab import kernel, kernel_sources
    from runoff.engines.lab.emulator import build

    found = [finding for finding in doctor.examine() if finding.area in (doctor.EVERYWHERE, "lab")]
    found = [finding for finding in found if finding.name != "kernel"]
    # A QEMU that is damaged is built again.
    lacking = [each for each in found if each.packages or (each.state == "no" and each.name != doctor.OWN_QEMU)]
    if lacking:
        raise MissingError(f"the lab needs more than this machine has: {doctor.advise(lacking)}")
    try:
        kernel.find_default()
    except MissingError:
        progress("fetching a kernel for the lab")
        echo(kernel_sources.add("debian", mirror=None, progress=progress).name, err=True)
    build.ensure(progress)

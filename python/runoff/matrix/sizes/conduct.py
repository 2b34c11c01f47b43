"""Take the same comparison with each number of CPUs, one campaign after the other."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from runoff.analysis.build import build_report
from runoff.campaign.conduct import check
from runoff.campaign.loop.execution import Ending, Execution
from runoff.campaign.loop.observer import Observer
from runoff.engines.choose import choose_clock, find_catalogue
from runoff.errors import UsageError
from runoff.matrix.directory import remember, take_campaign
from runoff.matrix.sizes.values import SizeSweep, name_folder
from runoff.matrix.sizes.views import write_views
from runoff.plan.settings import USUAL_ENGINE, Settings, parse_settings
from runoff.plan.sweep import expand_for_sizes

QUESTION = "sweep.json"
"""Says what was asked, so that nothing else goes on in the same directory."""


def conduct_sizes(
    arms: Sequence[str],
    sizes: Sequence[int],
    values: Mapping[str, Any],
    directory: Path,
    observer: Observer,
    execution: Execution,
    *,
    large: bool = False,
) -> SizeSweep:
    """Compare ``arms`` with each of ``sizes`` CPUs; what is there is not taken again.

    One arm is a sweep of its parameters, or is compared with the kernel's own scheduler. ``values`` are the other keys
    of a plan. Raises UsageError for a size that cannot be before anything is taken, also for a sweep of more than 64
    arms unless it is to be ``large``, and RunoffError if an engine fails.
    """
    every = expand_for_sizes(arms, find_catalogue(values.get("on", USUAL_ENGINE)), large=large)
    values = {"arms": every, **values}
    plans = _make_plans(sorted(sizes), values, observer)
    remember(
        directory / QUESTION, {"cpus": list(plans), "values": dict(values)}, "sweep", trusted=execution.trusts_directory
    )
    sweep = SizeSweep(tuple(plans), {})
    for cpus, settings in plans.items():
        observer.say(f"{cpus} CPU{'' if cpus == 1 else 's'}, in {directory / name_folder(cpus)}")
        taken = take_campaign(settings, directory / name_folder(cpus), observer, execution)
        sweep.reports[cpus] = build_report(taken.results)
        if taken.ending is not Ending.COMPLETE:
            sweep = SizeSweep(sweep.sizes, sweep.reports, is_stopped=taken.ending is Ending.STOPPED)
            break
    write_views(sweep, directory)
    return sweep


def _make_plans(sizes: Sequence[int], values: Mapping[str, Any], observer: Observer) -> dict[int, Settings]:
    """Return the settings of each size, all with one clock. Raises UsageError for the first that cannot be."""
    plans = {}
    keys = dict(values)
    for cpus in sizes:
        settings = parse_settings({**keys, "cpus": cpus}, "the sweep")
        if settings.engine.is_this_machine:
            raise UsageError(
                f"--cpus with several sizes needs an engine that makes machines: with --on {settings.on} it does not "
                "change the machine, so give one size there"
            )
        plan = check(settings, lambda plan: choose_clock(plan, observer.say))
        keys["clock"] = plan.clock
        plans[cpus] = settings.model_copy(update={"clock": plan.clock})
    return plans

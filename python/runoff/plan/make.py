"""Settings become a plan: everything that can be checked without touching a machine is checked."""

import os
import random
from collections.abc import Callable
from dataclasses import replace

from runoff.errors import UsageError
from runoff.plan import checks, stopping
from runoff.plan.arms import Arm, Describe, find_twins, parse_arm
from runoff.plan.elevators import DescribeElevators, check_model
from runoff.plan.plan import Plan
from runoff.plan.probes import parse_probes
from runoff.plan.settings import DEFAULT_QUANTUM, Settings, parse_settings
from runoff.plan.stored import StoredInputs
from runoff.plan.topology import parse_topology
from runoff.results import Clock
from runoff.workloads import LOADS, WORKLOADS, Work, parse_loads, parse_works

HIGHEST_DRAWN_SEED = 999_999
"""Of seeds that nobody gave: short enough to be typed."""


UsualClock = Callable[[Plan], Clock]


def make_plan(
    settings: Settings,
    describe_schedulers: Describe | None,
    describe_elevators: DescribeElevators | None = None,
    usual_clock: "UsualClock | None" = None,
    kept: StoredInputs | None = None,
) -> Plan:
    """Check everything that can be checked without touching a machine.

    ``describe_schedulers`` yields the built-in schedulers by name with their parameters; it is
    called only when an arm names one, and without it their names are taken as they are; the same goes for
    ``describe_elevators``. ``usual_clock`` is asked, when all else is checked, for a plan that leaves the lab's clock
    open; without it that is the real one. A seed is drawn, and this machine's CPUs are counted, where nobody says.
    ``kept`` takes the place of the files that the plan names. Raises UsageError.
    """
    settings = _fill_seed(_fill_cpus(settings))
    checks.check_names(settings, describe_schedulers)
    arms = tuple(_parse_arm(text, settings, describe_schedulers, describe_elevators, kept) for text in settings.arms)
    plan = Plan(settings, arms, *_parse_works(settings, kept))
    plan = replace(plan, probes=parse_probes(settings.probes, makes_disks=plan.makes_disks))
    checks.refuse_twice("load", list(plan.load_labels))
    checks.refuse_twice("arm", [arm.label for arm in arms])
    checks.refuse_twice("workload", [work.label for work in plan.works])
    stopping.check(settings, plan.load_labels)
    checks.check_clock(settings)
    if plan.makes_disks and describe_elevators is not None:
        check_model(settings.disk_model, plan.disk_mb, describe_elevators)
    if settings.on == "host":
        checks.check_host(plan)
    if settings.place is not None:
        checks.check_place(plan, settings.place)
    clock = _choose_clock(plan, usual_clock)
    again = find_twins(arms, describe_schedulers) if clock == "virtual" else {}
    return replace(plan, settings=settings.model_copy(update={"clock": clock}), twins=again)


def _fill_seed(settings: Settings) -> Settings:
    if settings.seed is not None:
        return settings
    return settings.model_copy(update={"seed": random.SystemRandom().randint(1, HIGHEST_DRAWN_SEED)})


def _parse_arm(
    text: str,
    settings: Settings,
    describe_schedulers: Describe | None,
    describe_elevators: DescribeElevators | None,
    kept: StoredInputs | None,
) -> Arm:
    name = text.strip()
    objects = None if kept is None else kept.objects
    arm = parse_arm(settings.names.get(name, text), describe_schedulers, describe_elevators, objects)
    return replace(arm, label=name)


def _parse_works(settings: Settings, kept: StoredInputs | None) -> tuple[tuple[Work, ...], tuple[Work | None, ...]]:
    """The works, and what runs beside them."""
    works, loads = WORKLOADS, LOADS
    if kept is not None:
        works, loads = replace(works, kept=kept.workloads), replace(loads, kept=kept.loads)
    return (
        tuple(work for text in settings.workloads for work in parse_works(text, settings.cpus, works)),
        tuple(load for text in settings.loads for load in parse_loads(text, settings.cpus, loads)) or (None,),
    )


def _fill_cpus(settings: Settings) -> Settings:
    """As many as the topology has, or as this machine lets us use on the host, where nobody says how many."""
    if settings.topology is None:
        if settings.on == "host" and "cpus" not in settings.model_fields_set:
            return settings.model_copy(update={"cpus": len(os.sched_getaffinity(0))})
        return settings
    if settings.on != "lab":
        raise UsageError("--topology is of the lab's guest; --on host has this machine's own")
    cpus = parse_topology(settings.topology).cpus
    if "cpus" not in settings.model_fields_set:
        settings = parse_settings({**settings.model_dump(exclude_unset=True), "cpus": cpus}, "the topology")
    if cpus != settings.cpus:
        raise UsageError(
            f"topology {settings.topology!r} has {cpus} CPUs (sockets x cores x threads), but --cpus is "
            f"{settings.cpus}: leave one of them out, or let them agree"
        )
    return settings


def _choose_clock(plan: Plan, usual_clock: UsualClock | None) -> Clock:
    settings = plan.settings
    if settings.clock is not None:
        return settings.clock
    if settings.quantum != DEFAULT_QUANTUM or settings.sensitivity:
        return "virtual"
    if usual_clock is None or checks.find_clock_objection(settings):
        return "real"
    return usual_clock(plan)

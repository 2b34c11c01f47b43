"""Makes a plan from settings, with every check that needs no machine."""

import os
import random
from collections.abc import Callable, Iterator
from dataclasses import replace

from runoff.arm_text import split_settings
from runoff.errors import UsageError
from runoff.plan import checks, stopping
from runoff.plan.arm_settings import parse_settings as parse_arm_settings
from runoff.plan.arms import Arm, find_twins, parse_arm
from runoff.plan.catalogue import Catalogue
from runoff.plan.elevators import check_model
from runoff.plan.plan import Plan
from runoff.plan.probes import parse_probes
from runoff.plan.programs import fill_modes
from runoff.plan.scenes import find_scene_metrics
from runoff.plan.settings import DEFAULT_QUANTUM, Settings, parse_settings
from runoff.plan.stored import StoredInputs
from runoff.plan.topology import parse_topology
from runoff.results import Clock
from runoff.workloads import LOADS, WORKLOADS, Work, parse_loads, parse_works
from runoff.workloads import Catalogue as Definitions

HIGHEST_DRAWN_SEED = 999_999
"""The highest seed that is drawn if none is given: short enough to be typed."""

UNCHECKED = Catalogue()
"""A catalogue that does not check the names of schedulers and elevators."""

ChooseClock = Callable[[Plan], Clock]
"""Chooses the clock for a plan that leaves it open; may boot a guest."""


def make_plan(
    settings: Settings,
    catalogue: Catalogue = UNCHECKED,
    *,
    choose_clock: ChooseClock | None = None,
    stored: StoredInputs | None = None,
) -> Plan:
    """Return the plan of ``settings`` after every check that needs no machine. Raises UsageError.

    A seed is drawn and this machine's CPUs are counted if ``settings`` leave them open. ``choose_clock`` is called
    last, if the clock is open; without it the clock is the engine's first one. ``stored`` replaces the files that the
    plan names.
    """
    checks.check_keys(settings)
    settings = _fill_seed(_fill_cpus(settings))
    checks.check_names(settings, catalogue.schedulers)
    settings = _fill_modes(settings, catalogue)
    arms = tuple(_parse_arm(text, settings, catalogue, stored) for text in settings.arms)
    works, loads = _parse_works(settings, catalogue, stored)
    checks.check_takes(settings, [*works, *filter(None, loads)])
    plan = Plan(settings, arms, tuple(find_scene_metrics(work, catalogue.scenes) for work in works), loads)
    plan = replace(plan, probes=parse_probes(settings.probes, makes_disks=plan.makes_disks))
    checks.refuse_twice("load", list(plan.load_labels))
    checks.refuse_twice("arm", [arm.label for arm in arms])
    checks.refuse_twice("workload", [work.label for work in plan.works])
    stopping.check(settings, plan.load_labels)
    checks.check_clock(settings)
    if plan.makes_disks and catalogue.elevators is not None:
        check_model(settings.disk_model, plan.disk_mb, catalogue.elevators)
    checks.check_elevators(plan)
    checks.check_settings(plan)
    checks.check_boots(plan)
    if settings.engine.is_this_machine:
        checks.check_this_machine(plan)
    if settings.place is not None:
        checks.check_place(plan, settings.place, catalogue.elevators)
    clock = _choose_clock(plan, choose_clock)
    twins = find_twins(arms, catalogue.schedulers) if clock == "virtual" else {}
    return replace(plan, settings=settings.model_copy(update={"clock": clock}), twins=twins)


def _fill_seed(settings: Settings) -> Settings:
    if settings.seed is not None:
        return settings
    return settings.model_copy(update={"seed": random.SystemRandom().randint(1, HIGHEST_DRAWN_SEED)})


def _fill_modes(settings: Settings, catalogue: Catalogue) -> Settings:
    """Fill in the options of the modes of programs: the campaign keeps them, whatever the configuration says later."""
    texts = {name: settings.names.get(name, name).strip() for name in map(str.strip, settings.arms)}
    modes = fill_modes(texts, settings.modes, catalogue.modes)
    return settings if modes == settings.modes else settings.model_copy(update={"modes": modes})


def _parse_arm(text: str, settings: Settings, catalogue: Catalogue, stored: StoredInputs | None) -> Arm:
    name = text.strip()
    objects = None if stored is None else stored.objects
    arm = parse_arm(
        settings.names.get(name, text),
        catalogue.schedulers,
        catalogue.elevators,
        catalogue.settings,
        objects,
        settings.modes,
    )
    return replace(arm, label=name)


def _parse_works(
    settings: Settings, catalogue: Catalogue, stored: StoredInputs | None
) -> tuple[tuple[Work, ...], tuple[Work | None, ...]]:
    """Return the workloads and the loads; None among the loads is a run without one."""
    works, loads = WORKLOADS, LOADS
    if stored is not None:
        works = replace(works, stored=stored.workloads, stored_files=stored.files)
        loads = replace(loads, stored=stored.loads, stored_files=stored.files)
    return (
        tuple(work for text in settings.workloads for work in parse_works(text, settings.cpus, works)),
        tuple(load for text in settings.loads for load in _parse_loads(text, settings.cpus, loads, catalogue))
        or (None,),
    )


def _parse_loads(text: str, cpus: int, definitions: Definitions, catalogue: Catalogue) -> Iterator[Work | None]:
    """Yield the loads of ``compile:part=et+weight=20`` or the like."""
    where = f"load {text.strip()!r}"
    name, pairs = split_settings(text.strip())
    found = parse_arm_settings(pairs, catalogue.settings, where)
    if beyond := [each.name for each in found if each.scope != "work" and catalogue.settings is not None]:
        raise UsageError(f"{where}: {beyond[0]} is a setting of the whole machine: give it to the arms")
    for load in parse_loads(name, cpus, definitions):
        if load is None or not found:
            if found:
                raise UsageError(f"{where}: nothing runs that could have settings")
            yield load
        else:
            label = load.label + "".join(f"+{name}={value}" for name, value in pairs)
            yield replace(load, label=label, settings=tuple((each.name, each.value) for each in found))


def _fill_cpus(settings: Settings) -> Settings:
    """Fill in ``cpus`` if it is open: from the topology, or on the host the CPUs that this process may use."""
    if settings.topology is None:
        if settings.engine.is_this_machine and "cpus" not in settings.model_fields_set:
            return settings.model_copy(update={"cpus": len(os.sched_getaffinity(0))})
        return settings
    cpus = parse_topology(settings.topology).cpus
    if "cpus" not in settings.model_fields_set:
        settings = parse_settings({**settings.model_dump(exclude_unset=True), "cpus": cpus}, "the topology")
    if cpus != settings.cpus:
        raise UsageError(
            f"topology {settings.topology!r} has {cpus} CPUs (sockets x cores x threads), but --cpus is "
            f"{settings.cpus}: leave one of them out, or let them agree"
        )
    return settings


def _choose_clock(plan: Plan, choose_clock: ChooseClock | None) -> Clock:
    settings = plan.settings
    if settings.clock is not None:
        return settings.clock
    if settings.quantum != DEFAULT_QUANTUM or settings.sensitivity:
        return "virtual"
    if choose_clock is None or checks.find_clock_objection(settings):
        return settings.engine.clocks[0]
    return choose_clock(plan)

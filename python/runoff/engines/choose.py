"""The engine that a plan asks for, its clock and what it knows."""

import os
from collections.abc import Callable
from pathlib import Path

from runoff.engine_kinds import ENGINES, Clock, list_without, load
from runoff.engines.base import Engine
from runoff.errors import MissingError, UsageError
from runoff.installed import name_command_for_root
from runoff.plan.catalogue import Catalogue
from runoff.plan.plan import Plan


def choose(plan: Plan, directory: Path, *, takes_over: bool = False) -> Engine:
    """Return the engine of ``plan``; it stores consoles or the content of disks below ``directory``.

    With ``takes_over`` it stops a service that has a scheduler in charge of this machine. Raises MissingError if it
    needs root and this process is not, and UsageError for an engine that has no services to stop.
    """
    kind = plan.settings.engine
    if takes_over and not kind.is_this_machine:
        raise UsageError("--take-over is for --on host: in a guest no service has a scheduler in charge")
    if kind.needs_root and os.geteuid() != 0:
        other = list_without("needs_root")
        raise MissingError(f"the {plan.settings.on} engine needs root: {name_command_for_root()} ..., or use {other}")
    engine: Engine = load(kind.make)(plan, directory, **({"takes_over": True} if takes_over else {}))
    return engine


def choose_clock(plan: Plan, say: Callable[[str], None]) -> Clock:
    """Return the clock of a plan that leaves it open. Raises MissingError: the engine lacks what it has to try."""
    kind = plan.settings.engine
    clock: Clock = load(kind.choose_clock)(plan, say) if kind.choose_clock else kind.clocks[0]
    return clock


def find_catalogue(name: str) -> Catalogue:
    """Return what the engine of this name knows."""
    catalogue: Catalogue = load(ENGINES[name].catalogue)
    return catalogue

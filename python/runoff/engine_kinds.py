"""What each engine is and can do, once: plans, campaigns, the cluster and `runoff doctor` ask nothing else about it.

docs/engines.md shows how one is added.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Annotated, Any, Literal

from pydantic import AfterValidator

Clock = Literal["real", "virtual"]
"""Under the virtual clock a sample repeats to the last digit, on any machine."""

WorkKind = Literal["command", "scene"]
"""A program to run, or tasks as docs/scenes.md describes them."""

SettingScope = Literal["machine", "hardware", "boot", "work"]
"""What has a setting of an arm; ``work`` stands for processes and their control group
(crates/settings/src/catalogue.rs)."""

ELEVATORS = "+io="
"""In ``EngineKind.without``: arms with a disk behind an elevator."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineKind:
    """The abilities of an engine. Functions are named as ``MODULE:NAME`` and imported when they are called."""

    about: str
    """Where samples are taken, in a few words."""
    make: str
    """Called with a plan and the campaign's directory; returns the engine (``runoff.engines.base.Engine``)."""
    catalogue: str
    """The schedulers, elevators and metrics that it knows (``runoff.plan.catalogue.Catalogue``)."""
    findings: str = ""
    """Yields what `runoff doctor` finds on this machine (``runoff.engines.doctor.Finding``)."""
    takes: tuple[WorkKind, ...] = ("command", "scene")
    """The kinds of work that it can do."""
    clocks: tuple[Clock, ...]
    choose_clock: str = ""
    """Called with a plan that leaves its clock open and a function that informs the user; may boot a guest. Without it
    the clock is the first one."""
    most_exact_cpus: int = 64
    """The most CPUs under the virtual clock."""
    is_this_machine: bool = False
    """Whether samples are taken on the machine that runoff runs on, as it is: its CPUs, its memory, and what one sample
    leaves in its caches for the next. Else each machine is made as the plan describes it."""
    has_guests: bool = False
    """Whether samples run in guests, whose image brings packages, preparations and libraries of workloads."""
    boots_kernels: bool = False
    """Whether this machine is booted for arms that name a kernel."""
    settings: tuple[SettingScope, ...] = ()
    """The scopes of settings that its arms can have."""
    needs_root: bool = False
    travels: bool = False
    """Whether machines of a cluster can take its samples."""
    without: Mapping[str, str] = field(default_factory=dict)
    """Keys of a plan that it has no use for, and why."""


ENGINES: dict[str, EngineKind] = {
    "host": EngineKind(
        about="this machine",
        make="runoff.engines.host:HostEngine",
        catalogue="runoff.engines.questions:AGENT_CATALOGUE",
        findings="runoff.engines.doctor:examine_host",
        clocks=("real",),
        is_this_machine=True,
        boots_kernels=True,
        settings=("machine", "hardware", "work"),
        needs_root=True,
        without={
            "topology": "the host has the topology of this machine",
            "kernel": "arms on the host name theirs, as in default@host:6.12.5",
            "swap_mb": "the host has this machine's swap space",
        },
    ),
    "lab": EngineKind(
        about="a real kernel in QEMU",
        make="runoff.engines.lab.choose:make_engine",
        catalogue="runoff.engines.questions:AGENT_CATALOGUE",
        findings="runoff.engines.doctor:examine_lab",
        clocks=("real", "virtual"),
        choose_clock="runoff.engines.lab.choose:choose_clock",
        most_exact_cpus=16,
        has_guests=True,
        settings=("machine", "boot", "work"),
        travels=True,
        without={"place": "it is a directory of this machine"},
    ),
}
"""By the names that ``--on`` takes."""


def _check_name(name: str) -> str:
    if name not in ENGINES:
        raise ValueError(f"it must be {' or '.join(map(repr, ENGINES))}, not {name!r}")
    return name


EngineName = Annotated[str, AfterValidator(_check_name)]


def load(name: str) -> Any:
    """Return what ``MODULE:NAME`` names."""
    module, _, attribute = name.partition(":")
    return getattr(import_module(module), attribute)


def list_having(ability: str) -> str:
    """Return the engines for which this field of ``EngineKind`` is true, as ``--on`` takes them."""
    return _join([name for name, kind in ENGINES.items() if getattr(kind, ability)])


def list_without(ability: str) -> str:
    """Return the engines for which this field of ``EngineKind`` is false, as ``--on`` takes them."""
    return _join([name for name, kind in ENGINES.items() if not getattr(kind, ability)])


def list_using(key: str) -> str:
    """Return the engines that have a use for this key of a plan, as ``--on`` takes them."""
    return _join([name for name, kind in ENGINES.items() if key not in kind.without])


def list_setting(scope: SettingScope) -> str:
    """Return the engines whose arms can have settings of this scope, as ``--on`` takes them."""
    return _join([name for name, kind in ENGINES.items() if scope in kind.settings])


def _join(names: list[str]) -> str:
    return " or ".join(f"--on {name}" for name in names)

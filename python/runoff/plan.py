"""What is to be compared, on what work, where and how often: parsed, validated, one typed object."""

import os
import random
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationError

from runoff import ends
from runoff.arms import Arm, Describe, parse_arm, twins
from runoff.elevators import KERNEL_ELEVATORS, DescribeElevators, check_model
from runoff.errors import UsageError
from runoff.kept import Kept
from runoff.probes import parse_probes
from runoff.results import NO_LOAD, Clock, EngineName
from runoff.strict import Checked, Text, Words, mistake
from runoff.topology import Topology, parse_topology
from runoff.workloads import LOADS, WORKLOADS, Definition, Work, parse_loads, parse_works

USUAL_DISK_MODEL = "ide2003"

HOST_DISK_MB = 1024
"""Of disks that are made on the host, in its memory, where nobody says how large."""


USUAL_QUANTUM = 1000
"""Instructions, and so nanoseconds: less than a wake-up takes, and a fifth dearer than ten times as much."""

LEAST_QUANTUM, MOST_QUANTUM = 100, 1_000_000

MOST_EXACT_CPUS = 16

HIGHEST_DRAWN_SEED = 999_999
"""Of seeds that nobody gave: short enough to be typed."""


class Settings(Checked):
    """A plan as the user writes it: the keys of a plan file and the options of ``runoff compare``."""

    arms: Words = Field(min_length=1)
    """Each as its text or by its name."""
    names: dict[Text, Text] = Field(default_factory=dict)
    """Short names of arms: what tables call an arm, and its text."""
    workloads: Words = Field(min_length=1)
    loads: Words = ()
    """What runs beside them, each in turn; ``none`` is nothing."""
    probes: Words = ()
    """What observes the workloads; ``all`` is every probe."""
    on: EngineName = "lab"
    clock: Clock | None = None
    """None is what suits the machine and the rest of the plan."""
    cpus: int = Field(default=2, ge=1, le=64)
    topology: Text | None = None
    """How the CPUs lie; None is one socket with so many cores."""
    quantum: int = Field(default=USUAL_QUANTUM, ge=LEAST_QUANTUM, le=MOST_QUANTUM)
    """Under the virtual clock: how many instructions an emulated CPU may be ahead of another."""
    sensitivity: Literal["quantum"] | None = None
    """What the plan is repeated with half and twice as much of, to see which verdicts survive."""
    memory_mb: int = Field(default=1024, ge=192, le=1 << 20)
    disk_mb: int | None = Field(default=None, ge=64, le=1 << 20)
    """A disk for the guest; four times the memory if a load or an arm's elevator wants one."""
    disk_model: Text = USUAL_DISK_MODEL
    """What the disk of arms with an elevator takes for its requests."""
    place: Text | None = None
    """A directory of this machine for workloads and loads: arms with an elevator have it in charge of that disk."""
    swap_mb: int | None = Field(default=None, ge=16, le=1 << 20)
    """Swap space for the guest; twice the memory if a load wants some."""
    kernel: Text | None = None
    packages: Words = ()
    """Debian packages for the lab's image beyond those that the workloads name."""
    blocks: int = Field(default=10, ge=1, le=10_000)
    load_blocks: dict[Text, Annotated[int, Field(ge=1)]] = Field(default_factory=dict)
    """In how many of the blocks a load takes part, by its label; the others are in all."""
    warmup: int = Field(default=0, ge=0, le=1000)
    """Blocks before the first, whose samples are kept but not judged."""
    flush: bool = False
    """Before each sample: what is cached is written back and dropped, and a guest's swap space emptied."""
    seed: int | None = Field(default=None, ge=0, lt=1 << 63)
    """None is one that is drawn when the plan is made."""
    margin: float | None = Field(default=None, gt=0, lt=1)
    """A change by at most this share of the baseline counts as none; None leaves it to statistics."""
    until: float | None = Field(default=None, gt=0, lt=1)
    """Blocks are taken until every headline comparison is decided with this margin; ``blocks`` is then the least."""
    most_blocks: int | None = Field(default=None, ge=1, le=10_000)
    rare: float | None = Field(default=None, gt=0, le=0.5)
    """The share of runs that an event must hit to be seen almost certainly before "same" may be said; None likewise."""


@dataclass(frozen=True, slots=True)
class Plan:
    """A validated plan; every later stage reads this and nothing else."""

    settings: Settings
    arms: tuple[Arm, ...]
    """The first is the baseline."""
    works: tuple[Work, ...]
    loads: tuple[Work | None, ...] = (None,)
    """What runs beside the works; None is nothing."""
    probes: tuple[str, ...] = ()
    twins: Mapping[str, int] = field(default_factory=dict)
    """By label, of each arm that is an earlier one again, how many of it there are before; of the virtual clock alone,
    under which each of them has perturbations of its own (``runoff.order``)."""
    kernels: Mapping[str, str] = field(default_factory=dict)
    """Full names of the lab's kernels with which the campaign began, by how the plan asks for them."""

    @property
    def planned(self) -> int:
        """Number of samples."""
        beside = sum(self.load_blocks) + self.settings.warmup * len(self.loads)
        return len(self.arms) * len(self.works) * beside

    @property
    def load_blocks(self) -> tuple[int, ...]:
        """In how many blocks each load takes part."""
        return blocks_of_loads(self.settings, self.load_labels)

    @property
    def load_labels(self) -> tuple[str, ...]:
        """As reports name them: empty if the plan knows no loads at all."""
        nothing = NO_LOAD if self.settings.loads else ""
        return tuple(nothing if load is None else load.label for load in self.loads)

    @property
    def clock(self) -> Clock:
        return self.settings.clock or "real"

    @property
    def seed(self) -> int:
        """What draws the order."""
        assert self.settings.seed is not None, "make_plan has drawn one"
        return self.settings.seed

    @property
    def topology(self) -> Topology | None:
        return parse_topology(self.settings.topology) if self.settings.topology else None

    @property
    def definitions(self) -> list[Definition]:
        """Of everything that will run."""
        return [work.definition for work in (*self.works, *self.loads) if work is not None]

    @property
    def disk_mb(self) -> int:
        """Size of the guest's disk, or of one that is made on the host; 0 is none."""
        wanted = any(definition.disk for definition in self.definitions) or self.makes_disks
        usual = HOST_DISK_MB if self.settings.on == "host" else 4 * self.settings.memory_mb
        return self.settings.disk_mb or (usual if wanted else 0)

    @property
    def has_elevators(self) -> bool:
        """Whether some arm has a disk behind an elevator."""
        return any(arm.elevator is not None for arm in self.arms)

    @property
    def makes_disks(self) -> bool:
        """Whether that is a disk of runoff's own, made for each sample."""
        return self.has_elevators and self.settings.place is None

    @property
    def swap_mb(self) -> int:
        """Size of the guest's swap space; 0 is none."""
        wanted = any(definition.swap for definition in self.definitions)
        return self.settings.swap_mb or (2 * self.settings.memory_mb if wanted else 0)


def blocks_of_loads(settings: Settings, labels: Sequence[str]) -> tuple[int, ...]:
    """In how many blocks each of the loads with these labels takes part."""
    return tuple(settings.load_blocks.get(label, ends.most(settings)) for label in labels)


def make_plan(
    settings: Settings,
    describe_schedulers: Describe | None,
    describe_elevators: DescribeElevators | None = None,
    usual_clock: "UsualClock | None" = None,
    kept: Kept | None = None,
) -> Plan:
    """Check everything that can be checked without touching a machine.

    ``describe_schedulers`` yields the built-in schedulers by name with their parameters; it is
    called only when an arm names one, and without it their names are taken as they are; the same goes for
    ``describe_elevators``. ``usual_clock`` is asked, when all else is checked, for a plan that leaves the lab's clock
    open; without it that is the real one. A seed is drawn, and this machine's CPUs are counted, where nobody says.
    ``kept`` takes the place of the files that the plan names. Raises UsageError.
    """
    settings = _with_seed(_with_cpus(settings))
    _check_names(settings, describe_schedulers)
    arms = tuple(_arm(text, settings, describe_schedulers, describe_elevators, kept) for text in settings.arms)
    plan = Plan(settings, arms, *_works(settings, kept))
    plan = replace(plan, probes=parse_probes(settings.probes, makes_disks=plan.makes_disks))
    _refuse_twice("load", list(plan.load_labels))
    _refuse_twice("arm", [arm.label for arm in arms])
    _refuse_twice("workload", [work.label for work in plan.works])
    ends.check(settings, plan.load_labels)
    _check_clock(settings)
    if plan.makes_disks and describe_elevators is not None:
        check_model(settings.disk_model, plan.disk_mb, describe_elevators)
    if settings.on == "host":
        _check_host(plan)
    if settings.place is not None:
        _check_place(plan, settings.place)
    clock = _clock(plan, usual_clock)
    again = twins(arms, describe_schedulers) if clock == "virtual" else {}
    return replace(plan, settings=settings.model_copy(update={"clock": clock}), twins=again)


def _with_seed(settings: Settings) -> Settings:
    if settings.seed is not None:
        return settings
    return settings.model_copy(update={"seed": random.SystemRandom().randint(1, HIGHEST_DRAWN_SEED)})


def _arm(
    text: str,
    settings: Settings,
    describe_schedulers: Describe | None,
    describe_elevators: DescribeElevators | None,
    kept: Kept | None,
) -> Arm:
    name = text.strip()
    objects = None if kept is None else kept.objects
    arm = parse_arm(settings.names.get(name, text), describe_schedulers, describe_elevators, objects)
    return replace(arm, label=name)


def _works(settings: Settings, kept: Kept | None) -> tuple[tuple[Work, ...], tuple[Work | None, ...]]:
    """The works, and what runs beside them."""
    works, loads = WORKLOADS, LOADS
    if kept is not None:
        works, loads = replace(works, kept=kept.workloads), replace(loads, kept=kept.loads)
    return (
        tuple(work for text in settings.workloads for work in parse_works(text, settings.cpus, works)),
        tuple(load for text in settings.loads for load in parse_loads(text, settings.cpus, loads)) or (None,),
    )


def _check_names(settings: Settings, describe_schedulers: Describe | None) -> None:
    used = [text.strip() for text in settings.arms]
    for name, text in settings.names.items():
        if not name or name != name.strip() or "=" in name:
            raise UsageError(f"names: {name!r} is no name for an arm: it needs a letter, no blanks around it, and no =")
        if name not in used:
            raise UsageError(f"names: {name!r} is not among the arms: add it there, or leave the name out")
        schedulers = ["default", *(describe_schedulers() if describe_schedulers is not None else ())]
        if name in schedulers and text.strip() != name:
            raise UsageError(f"names: {name!r} is itself a scheduler: give {text!r} another name, or none")


def _with_cpus(settings: Settings) -> Settings:
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


UsualClock = Callable[[Plan], Clock]


def _clock(plan: Plan, usual_clock: UsualClock | None) -> Clock:
    settings = plan.settings
    if settings.clock is not None:
        return settings.clock
    if settings.quantum != USUAL_QUANTUM or settings.sensitivity:
        return "virtual"
    if usual_clock is None or _why_not_virtual(settings):
        return "real"
    return usual_clock(plan)


def _check_clock(settings: Settings) -> None:
    why_not = _why_not_virtual(settings)
    if why_not and settings.clock == "virtual":
        raise UsageError(why_not)
    if settings.quantum != USUAL_QUANTUM and (why_not or settings.clock == "real"):
        raise UsageError("--quantum is of the virtual clock: add --clock virtual, or leave it out")
    if settings.sensitivity is not None:
        _check_sensitivity(settings, why_not)


def _check_sensitivity(settings: Settings, why_not: str) -> None:
    if why_not or settings.clock == "real":
        raise UsageError("--sensitivity quantum is of the virtual clock: add --clock virtual, or leave it out")
    if settings.cpus == 1:
        raise UsageError("--sensitivity quantum: one CPU is never ahead of another: use more --cpus")
    if settings.quantum < 2 * LEAST_QUANTUM or 2 * settings.quantum > MOST_QUANTUM:
        raise UsageError(
            f"--sensitivity quantum takes half and twice of it, and a quantum is {LEAST_QUANTUM} to {MOST_QUANTUM}: "
            f"choose another --quantum than {settings.quantum}"
        )


def _why_not_virtual(settings: Settings) -> str:
    """Why this cannot be under the virtual clock, or nothing."""
    if settings.on != "lab":
        return "the virtual clock exists only in the lab: add --on lab or leave --clock virtual out"
    if settings.warmup:
        return "under the virtual clock every sample has a guest of its own, so nothing can be warmed up"
    if settings.cpus > MOST_EXACT_CPUS:
        return (
            f"the virtual clock is for {MOST_EXACT_CPUS} CPUs at most, and each takes its turn on one of this machine: "
            "use fewer --cpus, or --clock real"
        )
    return ""


def _check_host(plan: Plan) -> None:
    settings = plan.settings
    for arm in plan.arms:
        if arm.kernel is not None:
            raise UsageError(f"arm {arm.label!r} asks for a kernel, but --on host has only the running one")
    if settings.kernel is not None:
        raise UsageError("--kernel chooses the lab's kernel; --on host has only the running one")
    if settings.swap_mb is not None:
        raise UsageError("--swap is the lab's: --on host uses this machine's swap space")
    if settings.disk_mb is not None and not plan.makes_disks:
        raise UsageError(
            "--disk is the size of disks that runoff makes: on the host for arms with +io=, without --place"
        )


def _check_place(plan: Plan, place: str) -> None:
    if plan.settings.on != "host":
        raise UsageError("--place is a directory of this machine: use it with --on host")
    if not Path(place).is_absolute():
        raise UsageError(f"place {place!r}: give the whole path, from / on")
    if plan.settings.disk_model != USUAL_DISK_MODEL:
        raise UsageError("--disk-model is of disks that runoff makes: leave it out, or --place")
    for arm in plan.arms:
        if arm.elevator is not None and not arm.elevator.is_the_kernels:
            raise UsageError(
                f"arm {arm.label!r}: {arm.elevator.name} can only have a disk that runoff makes: leave --place out, "
                f"or choose one of the kernel's own: {', '.join(KERNEL_ELEVATORS)}"
            )


def named(arms: Sequence[str], names: Mapping[str, str]) -> tuple[str, ...]:
    """The arms of a command line: behind them those names that are not among them. Raises UsageError for none."""
    if not arms and not names:
        raise UsageError("no arm is given: name what is to be compared, e.g. default bfs")
    return (*arms, *(name for name in names if name not in arms))


def _refuse_twice(what: str, labels: list[str]) -> None:
    for label in labels:
        if labels.count(label) > 1:
            raise UsageError(f"{what} {label!r} is given twice")


def parse_settings(values: Mapping[str, Any], origin: str) -> Settings:
    """Settings from plain values; ``origin`` (a path or "the command line") starts the error."""
    try:
        return Settings.model_validate(values)
    except ValidationError as error:
        raise UsageError(f"{origin}: {mistake(error)}") from None


QUICK = "quick"
"""A table of a plan file: the keys that differ in its small size."""


def read_settings(path: Path, *, quick: bool = False) -> Settings:
    """Settings from a plan file (TOML), on request in its small size. Raises UsageError naming the file and the key."""
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"cannot read the plan {path}: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} is not a plan: {error}") from None
    smaller = values.pop(QUICK, None)
    if smaller is None:
        if quick:
            raise UsageError(f"{path} has no table [{QUICK}], so it has only one size")
        return parse_settings(values, str(path))
    if not isinstance(smaller, dict):
        raise UsageError(f"{path}: {QUICK} must be a table of keys")
    # A mistake in there is one even when the full size is wanted.
    small = parse_settings({**values, **smaller}, f"{path} [{QUICK}]")
    return small if quick else parse_settings(values, str(path))

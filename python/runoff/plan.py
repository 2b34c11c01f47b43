"""What is to be compared, on what work, where and how often: parsed, validated, one typed object."""

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from runoff.arms import Arm, Describe, parse_arm
from runoff.elevators import KERNEL_ELEVATORS, DescribeElevators, check_model
from runoff.errors import UsageError
from runoff.probes import parse_probes
from runoff.results import NO_LOAD
from runoff.text import closest
from runoff.workloads import Definition, Work, parse_loads, parse_works

EngineName = Literal["host", "lab"]
Clock = Literal["real", "virtual"]


USUAL_DISK_MODEL = "ide2003"

HOST_DISK_MB = 1024
"""Of disks that are made on the host, in its memory, where nobody says how large."""


class Settings(BaseModel):
    """A plan as the user writes it: the keys of a plan file and the options of ``runoff compare``."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    arms: tuple[str, ...] = Field(min_length=1)
    workloads: tuple[str, ...] = Field(min_length=1)
    loads: tuple[str, ...] = ()
    """What runs beside them, each in turn; ``none`` is nothing."""
    probes: tuple[str, ...] = ()
    """What observes the workloads; ``all`` is every probe."""
    on: EngineName = "lab"
    clock: Clock = "real"
    cpus: int = Field(default=2, ge=1, le=64)
    memory_mb: int = Field(default=1024, ge=192, le=1 << 20)
    disk_mb: int | None = Field(default=None, ge=64, le=1 << 20)
    """A disk for the guest; four times the memory if a load or an arm's elevator wants one."""
    disk_model: str = USUAL_DISK_MODEL
    """What the disk of arms with an elevator takes for its requests."""
    place: str | None = None
    """A directory of this machine for workloads and loads: arms with an elevator have it in charge of that disk."""
    swap_mb: int | None = Field(default=None, ge=16, le=1 << 20)
    """Swap space for the guest; twice the memory if a load wants some."""
    kernel: str | None = None
    packages: tuple[str, ...] = ()
    """Debian packages for the lab's image beyond those that the workloads name."""
    blocks: int = Field(default=5, ge=1, le=10_000)
    load_blocks: dict[str, Annotated[int, Field(ge=1)]] = Field(default_factory=dict)
    """In how many of the blocks a load takes part, by its label; the others are in all."""
    warmup: int = Field(default=0, ge=0, le=1000)
    """Blocks before the first, whose samples are kept but not judged."""
    flush: bool = False
    """Before each sample: what is cached is written back and dropped, and a guest's swap space emptied."""
    seed: int = Field(default=1, ge=0, lt=1 << 63)


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

    @property
    def planned(self) -> int:
        """Number of samples."""
        beside = sum(self.load_blocks) + self.settings.warmup * len(self.loads)
        return len(self.arms) * len(self.works) * beside

    @property
    def load_blocks(self) -> tuple[int, ...]:
        """In how many blocks each load takes part."""
        return tuple(self.settings.load_blocks.get(label, self.settings.blocks) for label in self.load_labels)

    @property
    def load_labels(self) -> tuple[str, ...]:
        """As reports name them: empty if the plan knows no loads at all."""
        nothing = NO_LOAD if self.settings.loads else ""
        return tuple(nothing if load is None else load.label for load in self.loads)

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


def make_plan(
    settings: Settings, describe_schedulers: Describe | None, describe_elevators: DescribeElevators | None = None
) -> Plan:
    """Check everything that can be checked without touching a machine.

    ``describe_schedulers`` yields the built-in schedulers by name with their parameters; it is
    called only when an arm names one, and without it their names are taken as they are; the same goes for
    ``describe_elevators``. Raises UsageError.
    """
    arms = tuple(parse_arm(text, describe_schedulers, describe_elevators) for text in settings.arms)
    cpus = settings.cpus if settings.on == "lab" else len(os.sched_getaffinity(0))
    works = tuple(work for text in settings.workloads for work in parse_works(text, cpus=cpus))
    loads = tuple(load for text in settings.loads for load in parse_loads(text, cpus=cpus)) or (None,)
    plan = Plan(settings, arms, works, loads)
    plan = replace(plan, probes=parse_probes(settings.probes, makes_disks=plan.makes_disks))
    _refuse_twice("load", list(plan.load_labels))
    _refuse_twice("arm", [arm.label for arm in arms])
    _refuse_twice("workload", [work.label for work in works])
    _check_load_blocks(plan)
    if settings.clock == "virtual" and settings.warmup:
        raise UsageError("under the virtual clock every sample has a boot of its own, so nothing can be warmed up")
    if settings.clock == "virtual" and settings.on != "lab":
        raise UsageError("the virtual clock exists only in the lab: add --on lab or leave --clock virtual out")
    if settings.clock == "virtual" and settings.cpus != 1:
        raise UsageError(
            "the virtual clock is the sum over all CPUs, so it is right for one only: "
            "use --cpus 1 with --clock virtual, or --clock real"
        )
    if plan.makes_disks and describe_elevators is not None:
        check_model(settings.disk_model, plan.disk_mb, describe_elevators)
    if settings.on == "host":
        _check_host(plan)
    if settings.place is not None:
        _check_place(plan, settings.place)
    return plan


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


def _check_load_blocks(plan: Plan) -> None:
    for label, count in plan.settings.load_blocks.items():
        if label not in plan.load_labels:
            raise UsageError(f"load_blocks: no load {label!r}{closest(label, plan.load_labels)}")
        if count > plan.settings.blocks:
            raise UsageError(f"load_blocks: {label} is to be in {count} blocks, but there are {plan.settings.blocks}")


def _refuse_twice(what: str, labels: list[str]) -> None:
    for label in labels:
        if labels.count(label) > 1:
            raise UsageError(f"{what} {label!r} is given twice")


def parse_settings(values: Mapping[str, Any], origin: str) -> Settings:
    """Settings from plain values; ``origin`` (a path or "the command line") starts the error."""
    try:
        return Settings.model_validate(values)
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"]) or "plan"
        raise UsageError(f"{origin}: {key}: {first['msg']}") from None


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

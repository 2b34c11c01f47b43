"""A plan as the user writes it: the keys of a plan file and the options of ``runoff compare``."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationError, WithJsonSchema

from runoff.engine_kinds import ENGINES, Clock, EngineKind, EngineName
from runoff.errors import UsageError
from runoff.plan.option import Option
from runoff.reading import parse_toml, read_text
from runoff.validation import Checked, Text, Words, describe_mistake

USUAL_ENGINE = "lab"

DEFAULT_DISK_MODEL = "ide2003"

DEFAULT_QUANTUM = 1000
"""Default quantum in instructions, and so nanoseconds: less than a wake-up takes, and a fifth slower than ten times as
much."""

LEAST_QUANTUM, MOST_QUANTUM = 100, 1_000_000


class Settings(Checked):
    """A plan as the user writes it: the keys of a plan file and the options of ``runoff compare``.

    Comments here are about the code only; the meaning of a key for users is in its ``Option``.
    """

    arms: Annotated[
        Words, Option("ARM...", "What is compared; the first arm is the baseline.", link="#arms", words="at least one")
    ] = Field(min_length=1)
    names: Annotated[
        dict[Text, Text],
        Option(
            "--name",
            "A short name for an arm, e.g. fast=bfs:rr_interval_ms=3, which tables then call it.",
            metavar="NAME=ARM",
            link="#names",
        ),
    ] = Field(default_factory=dict)
    modes: Annotated[
        dict[Text, Text],
        Option(
            "--mode",
            "Options of a program in a mode, e.g. scx_lavd:gaming=--performance, also for modes of your own.",
            metavar="MODE=OPTIONS",
            default="as scx_loader's configuration has them",
            link="./schedulers/programs.md#modes",
        ),
    ] = Field(default_factory=dict)
    workloads: Annotated[
        Words,
        Option(
            "--work", "Workload, e.g. hackbench:groups=10.", metavar="WORK", link="#workloads", words="at least one"
        ),
    ] = Field(min_length=1)
    loads: Annotated[
        Words,
        Option(
            "--load",
            "Load that runs during the work, e.g. io; repeat it for more loads; none measures the work without one.",
            metavar="LOAD",
            link="loads.md",
        ),
    ] = ()
    probes: Annotated[
        Words,
        Option(
            "--probe",
            "Observe why arms differ: a name from `runoff list probes`, or all.",
            metavar="PROBE",
            link="probes.md",
        ),
    ] = ()
    on: Annotated[
        EngineName,
        WithJsonSchema({"type": "string", "enum": [*ENGINES]}),
        Option(
            "--on",
            f"Engine: {', or '.join(f'{kind.about} ({name})' for name, kind in ENGINES.items())}.",
            link="engines.md",
            choices=tuple(ENGINES),
        ),
    ] = USUAL_ENGINE
    clock: Annotated[
        Clock | None,
        Option(
            "--clock",
            "Clock of the lab; the virtual one is repeatable, and for at most 16 CPUs.",
            default="real in KVM or with warmup, else virtual",
            link="lab.md#clocks",
        ),
    ] = None
    cpus: Annotated[
        int,
        Option(
            "--cpus",
            "CPUs of the guest, and what {cpus} means in a workload.",
            metavar="N",
            default="2; on the host all that runoff may use",
        ),
    ] = Field(default=2, ge=1, le=64)
    topology: Annotated[
        Text | None,
        Option(
            "--topology",
            "CPU topology of the guest, e.g. sockets=2,cores=2,threads=2,nodes=2,distance=30; cpus is its product. "
            "The guest's kernel sees it, but threads of a core do not slow each other down, and all memory is near.",
            metavar="T",
            default="one socket",
            link="lab.md#topology",
        ),
    ] = None
    quantum: Annotated[
        int,
        Option(
            "--quantum",
            "Virtual clock: instructions that one CPU may run ahead of another.",
            metavar="N",
            link="lab.md#several-cpus-under-the-virtual-clock",
        ),
    ] = Field(default=DEFAULT_QUANTUM, ge=LEAST_QUANTUM, le=MOST_QUANTUM)
    sensitivity: Annotated[
        Literal["quantum"] | None,
        Option(
            "--sensitivity",
            "Repeat with half and twice the quantum, and say which verdicts survive.",
            link="lab.md#which-verdicts-survive",
        ),
    ] = None
    memory_mb: Annotated[int, Option("--memory", "Memory of the guest in MiB.", metavar="MB")] = Field(
        default=1024, ge=192, le=1 << 20
    )
    disk_mb: Annotated[
        int | None,
        Option(
            "--disk",
            "Disk in MiB for the guest, on which workload and load work; on the host for arms with +io=.",
            metavar="MB",
            default="4 x memory if a load or +io= wants one; 1024 on the host",
        ),
    ] = Field(default=None, ge=64, le=1 << 20)
    disk_model: Annotated[
        Text,
        Option(
            "--disk-model",
            "Disk of arms with +io=, e.g. scsi10k or ide2003:rpm=5400.",
            metavar="MODEL",
            link="elevators/disk.md",
        ),
    ] = DEFAULT_DISK_MODEL
    place: Annotated[
        Text | None,
        Option(
            "--place",
            "On the host: directory for workload and load; arms with +io= switch the elevator of its disk.",
            metavar="DIR",
            default="/tmp, or disks made for +io=",
            link="host.md#elevators",
            words="an absolute path",
        ),
    ] = None
    swap_mb: Annotated[
        int | None,
        Option("--swap", "Swap space of the guest in MiB.", metavar="MB", default="2 x memory if a load wants some"),
    ] = Field(default=None, ge=16, le=1 << 20)
    kernel: Annotated[
        Text | None,
        Option(
            "--kernel",
            "Kernel of the lab, from `runoff kernel list`, for arms that name none.",
            metavar="KERNEL",
            default="newest with sched_ext",
        ),
    ] = None
    packages: Annotated[
        Words,
        Option("--package", "Debian package for the lab's image beyond those of the workloads.", metavar="NAME"),
    ] = ()
    blocks: Annotated[
        int,
        Option(
            "--blocks",
            "Samples of each arm on each workload with each load.",
            metavar="N",
            link="#order-blocks-and-seed",
        ),
    ] = Field(default=10, ge=1, le=10_000)
    load_blocks: Annotated[
        dict[Text, Annotated[int, Field(ge=1)]],
        Option(
            "--load-blocks",
            "Measure with this load in the first N blocks only, e.g. io=2.",
            metavar="LOAD=N",
            words="1..blocks",
        ),
    ] = Field(default_factory=dict)
    warmup: Annotated[
        int, Option("--warmup", "Blocks before the first one that are stored but not judged.", metavar="N")
    ] = Field(default=0, ge=0, le=1000)
    flush: Annotated[
        bool,
        Option(
            "--flush",
            "Before each sample, drop what is cached and empty the guest's swap.",
            link="loads.md#flushing",
        ),
    ] = False
    seed: Annotated[
        int | None,
        Option(
            "--seed",
            "Draws the run order and the virtual clock's perturbation: the same seed, the same order.",
            metavar="N",
            default="drawn, 1..999999",
            words="0..2^63-1",
        ),
    ] = Field(default=None, ge=0, lt=1 << 63)
    margin: Annotated[
        float | None,
        Option(
            "--margin",
            'A change of at most this share of the baseline counts as "same", e.g. 1%.',
            metavar="SHARE",
            default="2%",
            link="statistics.md",
        ),
    ] = Field(default=None, gt=0, lt=1)
    until: Annotated[
        float | None,
        Option(
            "--until",
            "Take blocks until every headline comparison is decided with this margin, e.g. 1%.",
            metavar="SHARE",
            link="deciding.md",
        ),
    ] = Field(default=None, gt=0, lt=1)
    most_blocks: Annotated[
        int | None, Option("--most-blocks", "Upper limit on blocks with --until.", metavar="N", default="500")
    ] = Field(default=None, ge=1, le=10_000)
    rare: Annotated[
        float | None,
        Option(
            "--rare",
            "How rare an event may be missed when arms are called the same: 5% of runs takes 45 blocks, 21% takes 10.",
            metavar="SHARE",
            default="5%",
            link="statistics.md#what-the-same-means",
        ),
    ] = Field(default=None, gt=0, le=0.5)

    @property
    def engine(self) -> EngineKind:
        """The abilities of the engine."""
        return ENGINES[self.on]


def parse_settings(values: Mapping[str, Any], origin: str) -> Settings:
    """Return settings from plain values; ``origin`` (a path or "the command line") starts the error."""
    try:
        return Settings.model_validate(values)
    except ValidationError as error:
        raise UsageError(f"{origin}: {describe_mistake(error)}") from None


QUICK = "quick"
"""A table of a plan file: the keys that differ in its small size."""


def read_settings(path: Path, *, quick: bool = False) -> Settings:
    """Return the settings of a plan file (TOML), ``quick`` for its small size. Raises UsageError."""
    try:
        values = parse_toml(read_text(path))
    except OSError as error:
        raise UsageError(f"cannot read the plan {path}: {error.strerror}") from None
    except ValueError as error:
        raise UsageError(f"{path} is not a plan: {error}") from None
    if "command" in values:
        raise UsageError(f"{path} is a workload, not a plan", hint=("compare", "ARM", "ARM", "--work", path))
    smaller = values.pop(QUICK, None)
    if smaller is None:
        if quick:
            raise UsageError(f"{path} has no table [{QUICK}], so it has only one size")
        return parse_settings(values, str(path))
    if not isinstance(smaller, dict):
        raise UsageError(f"{path}: {QUICK} must be a table of keys")
    # A mistake in the small size is an error even if the full size is wanted.
    small = parse_settings({**values, **smaller}, f"{path} [{QUICK}]")
    return small if quick else parse_settings(values, str(path))


def append_names(arms: Sequence[str], names: Mapping[str, str]) -> tuple[str, ...]:
    """Return the arms of a command line, then the ``names`` that are not among them. Raises UsageError for none."""
    if not arms and not names:
        raise UsageError("no arm is given: name what is to be compared, e.g. default bfs")
    return (*arms, *(name for name in names if name not in arms))

"""A plan as the user writes it: the keys of a plan file and the options of ``runoff compare``."""

import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationError

from runoff.errors import UsageError
from runoff.results import Clock, EngineName
from runoff.validation import Checked, Text, Words, mistake

USUAL_DISK_MODEL = "ide2003"

USUAL_QUANTUM = 1000
"""Instructions, and so nanoseconds: less than a wake-up takes, and a fifth dearer than ten times as much."""

LEAST_QUANTUM, MOST_QUANTUM = 100, 1_000_000


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


def named(arms: Sequence[str], names: Mapping[str, str]) -> tuple[str, ...]:
    """The arms of a command line: behind them those names that are not among them. Raises UsageError for none."""
    if not arms and not names:
        raise UsageError("no arm is given: name what is to be compared, e.g. default bfs")
    return (*arms, *(name for name in names if name not in arms))

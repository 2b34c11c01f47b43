"""What an engine answers for a cell."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from runoff.errors import MissingError


@dataclass(frozen=True, slots=True)
class ValidSample:
    """A valid sample."""

    metrics: Mapping[str, float]
    proof: Mapping[str, Any]
    requests: str = ""
    """The log of the disk's requests, if there is one."""


@dataclass(frozen=True, slots=True)
class VoidSample:
    """A sample that does not count."""

    reason: str
    """One sentence."""
    detail: str = ""
    """The end of the log that explains it."""
    proof: Mapping[str, Any] | None = None


Outcome = ValidSample | VoidSample


@dataclass(frozen=True, slots=True)
class AcceptedArm:
    """An arm that can be used."""

    ops: str = ""
    """As /sys/kernel/sched_ext/root/ops names its scheduler; empty for the kernel's own."""
    object: str = ""
    """SHA-256 of its object; empty for programs."""
    disks: Sequence[Mapping[str, str]] = ()
    """This machine's own that the arm's work is on: ``name``, what there is to say ``about`` it, its ``elevator``."""


@dataclass(frozen=True, slots=True)
class RefusedArm:
    """An arm that cannot be used here at all."""

    reason: str
    detail: str
    lost: bool = False
    """The guest or the agent died over it, which need not be the scheduler's fault."""
    exit_code: int = MissingError.exit_code
    """Of the command, as the agent would have it."""

"""What an engine answers for a cell."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Taken:
    """A valid sample."""

    metrics: Mapping[str, float]
    proof: Mapping[str, Any]
    requests: str = ""
    """The log of the disk's requests, if there is one."""


@dataclass(frozen=True, slots=True)
class Voided:
    """A sample that does not count."""

    reason: str
    """One sentence."""
    detail: str = ""
    """The end of the log that explains it."""
    proof: Mapping[str, Any] | None = None


Outcome = Taken | Voided


@dataclass(frozen=True, slots=True)
class Accepted:
    """A scheduler that could be attached."""

    ops: str
    """As /sys/kernel/sched_ext/root/ops names it."""
    object: str
    """SHA-256 of its object; empty for programs."""


@dataclass(frozen=True, slots=True)
class Refused:
    """A scheduler that this engine's kernel does not take at all."""

    reason: str
    detail: str
    lost: bool = False
    """The guest or the agent died over it, which need not be the scheduler's fault."""

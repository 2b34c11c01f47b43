"""The answers of an engine: for a cell, and for an arm."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from runoff.errors import MissingError
from runoff.results import Conditions


@dataclass(frozen=True, slots=True)
class Origin:
    """Another machine that took a sample."""

    hostname: str
    machine: str
    """Id of the machine (``runoff.engines.conditions``)."""
    conditions: Conditions
    fingerprint: Mapping[str, Any]
    """Tables of the engine there."""
    worker: str = ""
    """Name of the worker of a cluster."""


@dataclass(frozen=True, slots=True)
class ValidSample:
    """A valid sample."""

    metrics: Mapping[str, float]
    proof: Mapping[str, Any]
    requests: str = ""
    """The log of the disk's requests, if there is one."""
    origin: Origin | None = None
    """None for this machine."""


@dataclass(frozen=True, slots=True)
class VoidSample:
    """A sample that does not count."""

    reason: str
    """One sentence."""
    detail: str = ""
    """The end of the log that explains it."""
    proof: Mapping[str, Any] | None = None
    origin: Origin | None = None
    """None for this machine."""
    stopped: bool = False
    """Whether the agent was told to end, so that the reason says nothing about the arm."""


Outcome = ValidSample | VoidSample


@dataclass(frozen=True, slots=True)
class AcceptedArm:
    """An arm that can be used."""

    ops: str = ""
    """Name of its scheduler in /sys/kernel/sched_ext/root/ops; empty for the kernel's own."""
    object: str = ""
    """SHA-256 of its object; empty for programs."""
    disks: Sequence[Mapping[str, str]] = ()
    """Disks of this machine that the arm's work is on: ``name``, a description (``about``), and ``elevator``."""
    settings: Sequence[Mapping[str, str]] = ()
    """Settings of the machine: ``name``, the value ``wanted``, what it ``was``, and what it ``is`` for the arm."""


@dataclass(frozen=True, slots=True)
class RefusedArm:
    """An arm that cannot be used here at all."""

    reason: str
    detail: str
    lost: bool = False
    """Whether the guest or the agent died of it, which may not be the scheduler's fault."""
    exit_code: int = MissingError.exit_code
    """Exit code of the command, chosen by the agent."""

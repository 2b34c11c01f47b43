"""What a worker answers, besides the outcomes of samples."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class About:
    """A worker."""

    hostname: str
    machine: str
    """Id of its machine; empty if that has none."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a worker cannot do what it is asked for."""

    reason: str
    worker: str
    """Address of the worker."""


@dataclass(frozen=True, slots=True)
class Unprepared:
    """The worker does not know the job: it was started again."""

    worker: str
    """Address of the worker."""

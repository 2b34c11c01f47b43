"""What a journal holds, as kinds that are checked when it is read."""

import hashlib
from datetime import datetime
from functools import cache
from typing import Annotated, Any, Self

from pydantic import ConfigDict, Field, TypeAdapter, model_validator

from runoff.engine_kinds import Clock, EngineName
from runoff.results import Conditions, CpuLimits, Ended, Metric, Sample, Threads
from runoff.validation import STRICT, Checked
from runoff.workloads import StoredFile


class StoredDefinition(Checked):
    """The TOML of a workload or load as it was when the campaign began."""

    sha256: str
    toml: str

    @model_validator(mode="after")
    def _is_what_it_was(self) -> Self:
        if hashlib.sha256(self.toml.encode()).hexdigest() != self.sha256:
            raise ValueError("the text of the definition is not that of its digest")
        return self


class Definitions(Checked):
    """All that the plan names, by the names that it has for them."""

    workloads: dict[str, StoredDefinition]
    loads: dict[str, StoredDefinition]


class Outline(Checked):
    """What the plan came to."""

    clock: Clock
    arms: list[str] = Field(min_length=1)
    """Labels; the first is the baseline."""
    workloads: list[str] = Field(min_length=1)
    loads: list[str] = Field(min_length=1)
    metrics: dict[str, list[Metric]]
    """By workload label, headline metrics first."""
    parameters: dict[str, dict[str, str]]
    """By workload label: all its values, defaults too."""
    twins: dict[str, int] = Field(default_factory=dict)
    """By label, of arms that are an earlier one again: how many of it there are before."""

    about: dict[str, str] = Field(default_factory=dict)
    """By label: what an arm is, where that is known."""
    kernels: dict[str, str] = Field(default_factory=dict)
    """By label: the kernel of the host that has to be booted for an arm; empty if none has."""

    @model_validator(mode="after")
    def _is_of_one_plan(self) -> Self:
        for name, labels in (("arms", self.arms), ("workloads", self.workloads), ("loads", self.loads)):
            if len(set(labels)) < len(labels):
                raise ValueError(f"{name} has a label twice")
        for name, table in (("metrics", set(self.metrics)), ("parameters", set(self.parameters))):
            if table != set(self.workloads):
                raise ValueError(f"{name} is not of these workloads")
        return self


class SampleOrigin(Checked):
    """Who took samples."""

    version: str
    """Version of runoff."""
    engine: EngineName
    clock: Clock
    machine: str = ""
    """Id of the machine that took them; empty if it has none."""
    hostname: str = ""
    """Name of the machine of a cluster that took them; empty if there was no cluster."""


class Part(Checked):
    """What a part of the campaign was taken with: tables of the engine's fingerprint, and these."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, dict[str, Any]]

    runoff: SampleOrigin
    arms: dict[str, dict[str, str]]
    """By label: what was in charge."""

    @property
    def tables(self) -> dict[str, Any]:
        """All of them."""
        return self.model_dump(mode="json")


class ImportedFile(Checked):
    """A file that numbers came from; the campaign has a copy."""

    name: str
    format: str
    sha256: str


class ImportRecord(Checked):
    """Where the numbers of a campaign came from that were measured elsewhere."""

    files: list[ImportedFile] = Field(min_length=1)
    is_paired: bool
    """Whether the files say which runs were taken together."""
    notes: list[str]
    machines: list[str] = Field(default_factory=list)
    """Names of the machines, if there are several; the part of a sample is the number of its machine."""
    account: list[str] = Field(default_factory=list)
    """What was taken for what, and what became of every number, as sentences."""
    command: list[str]
    """The words of the command that imports them again."""


class Boot(Checked):
    """A boot of this machine that a campaign has asked for."""

    kernel: str
    """Release of the kernel that was to be booted."""
    from_boot: str
    """Id of the boot before (random(4), boot_id)."""
    came: str = ""
    """Release of the kernel that was booted; empty until that is known."""


FACTS: dict[str, Any] = {
    "settings": dict[str, Any],
    "version": str,
    "outline": Outline,
    "definitions": Definitions,
    "objects": dict[str, str],
    "files": dict[str, StoredFile],
    "imported": ImportRecord,
    "parts": list[Part],
    "warnings": list[str],
    "boots": list[Boot],
    "looks": list[int],
    "ended": Ended | None,
}
"""The type of each fact that is known; others may be anything."""


class ProvenLimits(Checked):
    """The limits of CPU time in a proof."""

    found: list[str]
    unwatched: str
    applied: bool | None


class ProvenThreads(Checked, extra="ignore"):
    """The threads in a proof; agents before had fewer counts."""

    threads_checked: int = Field(0, ge=0)
    threads_realtime: int = Field(0, ge=0)
    threads_unjudged: int = Field(0, ge=0)


LIMITS = ("weight", "quota")
"""Settings that limit the CPU time of a work's control group."""


class ProvenSetting(Checked):
    """A setting in a proof (docs/protocol.md)."""

    of: str
    """What has it: ``machine``, ``workload`` or ``load``."""
    name: str
    wanted: str
    was: str
    is_: Annotated[str, Field(alias="is")]


class Row(Checked):
    """One sample."""

    cell: str
    block: int
    position: int
    arm: str
    workload: str
    load: str
    valid: bool
    reason: str | None
    detail: str
    metrics: dict[str, float]
    proof: dict[str, Any] | None
    conditions: Conditions | None
    seconds: Annotated[float, Field(ge=0)] | None
    """Wall time from its beginning to its end."""
    part: Annotated[int, Field(ge=0)]
    requests_sha256: str | None
    """Digest of the log of its disk's requests, if there is one."""
    worker: str = ""
    """Name of the worker of a cluster that took it; empty if there was no cluster."""

    @model_validator(mode="after")
    def _has_a_reason_if_void(self) -> Self:
        if (self.reason is None) != self.valid:
            raise ValueError("a valid sample has no reason, a void one has one")
        return self

    @model_validator(mode="after")
    def _began_at_some_time(self) -> Self:
        if self.conditions is not None and datetime.fromisoformat(self.conditions.started).tzinfo is None:
            raise ValueError(f"it began at {self.conditions.started}, of no time zone")
        return self

    @model_validator(mode="after")
    def _has_limits_as_an_agent_tells_them(self) -> Self:
        _ = self.cpu_limits, self.threads
        return self

    @property
    def cpu_limits(self) -> CpuLimits:
        """Limits of CPU time that its work was under; none known before agents looked for them."""
        proven = (self.proof or {}).get("cpu_limits")
        if proven is None:
            return CpuLimits()
        limits = ProvenLimits.model_validate(proven)
        settings = [ProvenSetting.model_validate(each) for each in (self.proof or {}).get("settings", ())]
        asked = [each for each in settings if each.name in LIMITS]
        # The group of the work itself, and not one below it.
        ours = tuple(f"{each.of}: cpu." for each in asked)
        found = tuple(limit for limit in limits.found if not limit.startswith(ours))
        words = tuple(f"{each.name}={each.wanted}{' of the load' * (each.of == 'load')}" for each in asked)
        return CpuLimits(found, limits.unwatched, limits.applied, words)

    @property
    def threads(self) -> Threads:
        """The threads of its work that its agent looked at."""
        proof = ProvenThreads.model_validate(self.proof or {})
        return Threads(proof.threads_checked + proof.threads_realtime + proof.threads_unjudged, proof.threads_realtime)

    @property
    def object(self) -> str:
        """SHA-256 of the object that the agent attached for it; empty if it attached none."""
        return str((self.proof or {}).get("object", ""))

    def make_sample(self, machine: str = "") -> Sample:
        """Return what results show of it; ``machine`` took it, where there are several."""
        return Sample(
            id=self.cell,
            block=self.block,
            position=self.position,
            arm=self.arm,
            workload=self.workload,
            load=self.load,
            valid=self.valid,
            reason=self.reason,
            metrics=self.metrics,
            conditions=self.conditions,
            detail=self.detail,
            part=self.part,
            machine=machine,
            worker=self.worker,
            cpu_limits=self.cpu_limits,
            threads=self.threads,
        )


@cache
def _kind(key: str) -> TypeAdapter[Any]:
    kind = FACTS.get(key, Any)
    checked = isinstance(kind, type) and issubclass(kind, Checked)
    return TypeAdapter(kind) if checked else TypeAdapter(kind, config=STRICT)


def read_fact(key: str, text: str) -> Any:
    """Return the fact ``key`` from its JSON. Raises pydantic's ValidationError."""
    return _kind(key).validate_json(text)

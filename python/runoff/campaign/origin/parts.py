"""The parts of a campaign: what its samples were taken with."""

import json
from collections.abc import Mapping
from typing import Any

from runoff.campaign.journal.journal import Journal
from runoff.campaign.journal.records import Part
from runoff.campaign.origin import mixing
from runoff.campaign.origin.arms import Arms
from runoff.engines import conditions
from runoff.engines.base import Engine
from runoff.engines.outcome import Origin
from runoff.plan.plan import Plan
from runoff.version import __version__


def find_first_parts(journal: Journal) -> Mapping[int, int]:
    """Return the number of the part with which each block was begun.

    A void sample that no machine has answered for begins no block.
    """
    parts: list[Part] = journal.fact("parts", [])
    answered = [row for row in journal.rows() if row.part < len(parts)]
    begun = [row for row in answered if row.valid or parts[row.part].runoff.hostname]
    return {row.block: row.part for row in reversed(begun)}


def was_taken_on_cluster(journal: Journal) -> bool:
    """Return whether machines of a cluster took whole blocks."""
    parts: list[Part] = journal.fact("parts", [])
    return any(part.runoff.hostname for part in parts)


def find_machines(journal: Journal) -> Mapping[int, str]:
    """Return the id, or else the hostname, of the machine that has begun each block."""
    parts: list[Part] = journal.fact("parts", [])
    takers = [part.runoff.machine or part.runoff.hostname for part in parts]
    return {block: takers[number] for block, number in find_first_parts(journal).items()}


class Parts:
    """The parts of earlier sessions, then those of this one: one, or one for each machine under the real clock."""

    def __init__(self, plan: Plan, journal: Journal, engine: Engine, arms: Arms) -> None:
        """Raises UsageError if what samples are taken with now may not be mixed with what they were taken with."""
        self._plan = plan
        self._journal = journal
        self._engine = engine
        self._arms = arms
        earlier: list[Part] = journal.fact("parts", [])
        self._tables = [part.tables for part in earlier]
        self._numbers: dict[str, int] = {}
        comparable = mixing.find_same_kernel(earlier) if plan.boots else earlier
        mixing.refuse_to_mix(comparable, self._describe(None), engine.unmixable_tables)

    def record(self, origin: Origin | None) -> int:
        """Return the number of the part of a sample from there, which is described as it is known by now."""
        by_machine = origin if self._engine.whole_blocks else None
        machine = by_machine.machine or by_machine.hostname if by_machine is not None else ""
        number = self._numbers.setdefault(machine, len(self._tables))
        self._tables[number : number + 1] = [self._describe(by_machine).tables]
        self._journal.set_fact("parts", self._tables)
        return number

    def _describe(self, origin: Origin | None) -> Part:
        tables: Mapping[str, Any] = self._engine.fingerprint() if origin is None else origin.fingerprint
        taker = {
            "version": __version__,
            "engine": self._plan.settings.on,
            "clock": self._plan.clock,
            "machine": conditions.read_machine_id() if origin is None else origin.machine,
            **({} if origin is None else {"hostname": origin.hostname}),
        }
        # As it will be read.
        return Part.model_validate_json(json.dumps({**tables, "arms": self._arms, "runoff": taker}))

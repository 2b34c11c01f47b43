"""One value of the results of several machines: what they share, and each sample with the machine that took it."""

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import accumulate
from typing import Any

from runoff.campaign.origin.evidence import require_evidence
from runoff.results import Results, Sample, Stopping

_KNOWN = (("machine", "cpu_model"), ("machine", "cpus_online"), ("machine", "memory"), ("kernel", "release"))
"""What is told of each machine, by table of the fingerprint and key."""


def join_results(machines: Mapping[str, Results]) -> Results:
    """Return the results of the same plan on all ``machines``, by name.

    The blocks of a machine follow those of the machine before it; samples for warming up keep their block. A campaign
    of several machines of a cluster has each of them apart. Raises UsageError where they are not evidence of several
    machines.
    """
    require_evidence(machines)
    first = next(iter(machines.values()))
    blocks = [0, *accumulate(each.blocks for each in machines.values())]
    positions = [0, *accumulate(_count_positions(each) for each in machines.values())]
    samples = tuple(
        _place(sample, name, number, blocks[number], positions[number])
        for number, (name, each) in enumerate(machines.items())
        for sample in each.samples
    )
    return replace(
        first,
        blocks=blocks[-1],
        samples=samples,
        planned=sum(each.planned for each in machines.values()),
        machines=tuple(own for name, each in machines.items() for own in _list_names(name, each.machines)),
        parameters=_list_shared([each.parameters for each in machines.values()]),
        fingerprint=join_fingerprints({name: each.fingerprint for name, each in machines.items()}),
        warnings=tell_apart({name: each.warnings for name, each in machines.items()}),
        changes=tell_apart({name: each.changes for name, each in machines.items()}),
        requests={
            _rename(key, number): log
            for number, each in enumerate(machines.values())
            for key, log in each.requests.items()
        },
        repeats={},
        rerun="\n".join(f"{each.rerun}  # {shlex.quote(name)}" for name, each in machines.items() if each.rerun),
        seconds_per_block=None,
        stopping=Stopping(),
        members=_join_members(machines),
    )


def _join_members(machines: Mapping[str, Results]) -> dict[str, Stopping]:
    """Return how each machine was stopped; those of one cluster were stopped together."""
    return {own: each.stopping for name, each in machines.items() for own in _list_names(name, each.machines)}


def _count_positions(results: Results) -> int:
    return max((sample.position for sample in results.samples), default=-1) + 1


def _place(sample: Sample, machine: str, number: int, block: int, position: int) -> Sample:
    return replace(
        sample,
        id=_rename(sample.id, number),
        block=sample.block if sample.is_warmup else sample.block + block,
        position=sample.position + position,
        machine=_name_machine(machine, sample.machine),
    )


def _list_names(member: str, machines: Sequence[str]) -> list[str]:
    return [_name_machine(member, machine) for machine in machines or ("",)]


def _name_machine(member: str, machine: str) -> str:
    """Return the name of a ``machine`` of the cluster that took a ``member``; of that itself if it took it alone."""
    return f"{member}: {machine}" if machine else member


def _rename(sample: str, number: int) -> str:
    return f"m{number + 1}.{sample}"


def _list_shared(each: Sequence[Mapping[str, Mapping[str, str]]]) -> dict[str, dict[str, str]]:
    """Return the parameters of each workload that have the same value everywhere."""
    first = each[0]
    return {
        work: {key: value for key, value in values.items() if all(other[work].get(key) == value for other in each)}
        for work, values in first.items()
    }


def join_fingerprints(each: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Return the tables that are equal on all machines, and what is known of each machine."""
    first = next(iter(each.values()))
    shared = {
        name: table
        for name, table in first.items()
        if name not in ("machine", "machines", "kernel") and all(tables.get(name) == table for tables in each.values())
    }
    arms = {label: _list_equal([tables.get("arms", {}).get(label, {}) for tables in each.values()])
            for label in first.get("arms", {})}  # fmt: skip
    machines: dict[str, Any] = {}
    for name, tables in each.items():
        own = {key: tables[table][key] for table, key in _KNOWN if tables.get(table, {}).get(key) is not None}
        on_a_cluster = tables.get("machines", {})
        machines |= {_name_machine(name, node): known for node, known in (on_a_cluster or {"": own}).items()}
    return {"machines": machines, **shared, "arms": arms}


def _list_equal(tables: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    return {key: value for key, value in tables[0].items() if all(other.get(key) == value for other in tables)}


def tell_apart(each: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """Return sentences, those that are not of all machines with the name of theirs."""
    everywhere = [text for text in next(iter(each.values())) if all(text in texts for texts in each.values())]
    own = [f"{name}: {text}" for name, texts in each.items() for text in texts if text not in everywhere]
    return (*everywhere, *own)

"""The machines of a cluster, or the kernels of this one, with which the samples of one campaign were taken."""

from collections.abc import Mapping, Sequence
from typing import Any

from runoff.campaign.journal.records import Outline, Part, Row
from runoff.campaign.machines.join import join_fingerprints, tell_apart
from runoff.campaign.origin import mixing


def name_takers(parts: Sequence[Part], rows: Sequence[Row]) -> dict[int, str]:
    """Return the name of a machine by the number of a part; empty unless several machines of a cluster took samples.

    A machine is named by its hostname, and where two have the same, by its id too.
    """
    used = sorted({row.part for row in rows if row.part < len(parts) and parts[row.part].runoff.hostname})
    owners = {number: (parts[number].runoff.hostname, parts[number].runoff.machine) for number in used}
    if len(set(owners.values())) < 2:
        return {}
    hostnames = [hostname for hostname, _ in set(owners.values())]
    return {
        number: hostname if hostnames.count(hostname) == 1 else f"{hostname} {machine[:8]}"
        for number, (hostname, machine) in owners.items()
    }


def join_tables(outline: Outline, parts: Sequence[Part], names: Mapping[int, str]) -> dict[str, Any]:
    """Return the fingerprint of several machines by ``names``: what is equal, and what is known of each.

    Of one machine it is that of the last part, with the arms and kernels of all if kernels are booted.
    """
    if not parts:
        return {"arms": {}}
    if not names:
        return _join_kernels(parts) if outline.kernels else parts[-1].tables
    return join_fingerprints({name: parts[number].tables for number, name in names.items()})


def _join_kernels(parts: Sequence[Part]) -> dict[str, Any]:
    """Return the tables of the last part, with the arms and kernels of all."""
    tables = [part.tables for part in parts]
    joined = {name: _unite([each.get(name, {}) for each in tables]) for name in ("arms", "kernels", "kernel_names")}
    return {**tables[-1], **joined}


def _unite(tables: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    return {key: value for table in tables for key, value in table.items()}


def describe_changes(
    outline: Outline, parts: Sequence[Part], rows: Sequence[Row], names: Mapping[int, str]
) -> tuple[str, ...]:
    """Return a sentence for each table that differs between samples of one machine, or of one kernel of it."""
    if outline.kernels:
        names = {number: mixing.name_kernel(part) for number, part in enumerate(parts)}
    if not names:
        return mixing.describe_changes(parts, rows)
    machines = dict.fromkeys(names.values())
    return tell_apart(
        {
            name: mixing.describe_changes(parts, [row for row in rows if names.get(row.part) == name])
            for name in machines
        }
    )

"""The machines that took the campaigns of a history: each has series of its own where it has campaigns enough."""

from collections import Counter
from collections.abc import Iterator, Mapping

from runoff.results import Results

FEWEST = 2
"""Campaigns of a machine that has series of its own: fewer have no level."""


def name_machines(campaigns: Mapping[str, Results]) -> dict[str, str]:
    """Return the name of the machine of each campaign; empty where all are of one, or machines are not a factor."""
    if any(results.clock == "virtual" for results in campaigns.values()):
        return {}
    takers = {name: _find_taker(results) for name, results in campaigns.items()}
    if len(set(takers.values())) < 2:
        return {}
    hostnames = Counter(hostname for _, hostname in set(takers.values()))
    return {name: _name(*taker, hostnames[taker[1]] > 1) for name, taker in takers.items()}


def _find_taker(results: Results) -> tuple[str, str]:
    """Return the id and the hostname of the machine, as far as they are known."""
    tables = results.fingerprint
    return str(tables.get("runoff", {}).get("machine", "")), str(tables.get("machine", {}).get("hostname", ""))


def _name(machine: str, hostname: str, is_shared: bool) -> str:
    if not hostname:
        return machine[:8] or "unknown"
    return f"{hostname} {machine[:8]}".rstrip() if is_shared else hostname


def group_campaigns(machines: Mapping[str, str]) -> dict[str, list[str]]:
    """Return the campaigns by machine, where each has enough to be drawn by itself; else nothing."""
    groups: dict[str, list[str]] = {}
    for campaign, machine in machines.items():
        groups.setdefault(machine, []).append(campaign)
    return groups if all(len(campaigns) >= FEWEST for campaigns in groups.values()) else {}


def warn_of_machines(machines: Mapping[str, str]) -> Iterator[str]:
    """Yield what to think of campaigns of several machines."""
    names = list(dict.fromkeys(machines.values()))
    if not names:
        return
    text = f"the campaigns are of {len(names)} machines ({', '.join(names[:4])}{' ...' if len(names) > 4 else ''})"
    if group_campaigns(machines):
        yield f"{text}: each is drawn by itself, as a change may differ between machines"
    else:
        yield (
            f"{text}, and not each has {FEWEST} campaigns or more, so all are drawn together: what differs between "
            "machines looks like a change, or hides one"
        )

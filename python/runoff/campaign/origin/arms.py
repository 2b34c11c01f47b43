"""What is in charge of each arm: tried once before the first sample, so that a long campaign does not end there."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from runoff.campaign.journal.records import Part
from runoff.campaign.origin import programs
from runoff.engines.base import Engine
from runoff.engines.boots import list_arms
from runoff.engines.outcome import AcceptedArm, Outcome, RefusedArm, VoidSample
from runoff.errors import UsageError, choose_error
from runoff.plan.arms import Arm
from runoff.plan.plan import Plan

Arms = dict[str, dict[str, str]]
"""By label: what is in charge of an arm."""


ROUNDED = "settings that were rounded"
"""The fact about an arm with settings of which the kernel made other numbers."""


def check_arms(plan: Plan, engine: Engine) -> Arms:
    """Try every arm that the kernel that runs can take, and return what is in charge of it.

    Raises UsageError or another RunoffError: it cannot be used.
    """
    return {arm.label: _resolve_name(plan, arm) | _describe(engine, arm) for arm in list_arms(plan)}


def _resolve_name(plan: Plan, arm: Arm) -> dict[str, str]:
    """Return what a short name stands for."""
    text = plan.settings.names.get(arm.label)
    return {} if text is None else {"arm": text}


def _describe(engine: Engine, arm: Arm) -> dict[str, str]:
    """Return what the arm's scheduler is, and its elevator if it has one."""
    found = _check(engine, arm)
    scheduler = found.ops if arm.needs_sched_ext else "the kernel's own"
    facts = {"scheduler": scheduler, "object_sha256": found.object, "kernel": arm.kernel or ""}
    if arm.scheduler["kind"] == "program":
        facts |= programs.describe(arm.scheduler["argv"][0])
    if found.disks:
        facts["elevator"] = ", ".join(f"{disk['elevator']} on {disk['name']}" for disk in found.disks)
        facts["disk"] = "; ".join(f"{disk['name']}: {disk['about']}" for disk in found.disks)
    elif arm.elevator is not None:
        facts["elevator"] = arm.elevator.name
    if arm.elevator is not None:
        facts["which process sent a request"] = arm.elevator.identity
    if found.settings:
        facts["settings"] = _list_values(found.settings)
        facts["settings otherwise"] = ", ".join(f"{each['name']}={each['was']}" for each in found.settings)
    if rounded := list(_list_rounded(arm, found.settings)):
        facts[ROUNDED] = ", ".join(rounded)
    return facts


def _list_values(settings: Iterable[Mapping[str, str]]) -> str:
    """Return the settings in force, but for those of loads, which have them under every arm."""
    return ", ".join(f"{each['name']}={each['is']}" for each in settings if each["of"] != "load")


def _list_rounded(arm: Arm, settings: Iterable[Mapping[str, str]]) -> Iterator[str]:
    """Yield the settings whose number the kernel has rounded."""
    wanted = {each.name: each for each in arm.settings}
    for seen in settings:
        if seen["is"] != wanted[seen["name"]].value:
            yield f"{wanted[seen['name']]} is {seen['is']}"


def _check(engine: Engine, arm: Arm) -> AcceptedArm:
    answer = engine.check(arm)
    if isinstance(answer, RefusedArm) and answer.lost:
        answer = engine.check(arm)
    if isinstance(answer, AcceptedArm):
        return answer
    text = f"arm {arm.label!r} cannot be used: {answer.reason}"
    if answer.detail:
        text += f"\n{answer.detail}"
    if arm.scheduler["kind"] == "object":
        raise UsageError(text)
    raise choose_error(answer.exit_code)(text)


def describe_rounded(parts: Iterable[Part]) -> tuple[str, ...]:
    """Return a sentence for each arm whose settings the kernel has rounded."""
    found = {f"{label}: {facts[ROUNDED]}" for part in parts for label, facts in part.arms.items() if facts.get(ROUNDED)}
    return tuple(f"the kernel has rounded settings of {each}" for each in sorted(found))


def void_if_another(outcome: Outcome, arm: dict[str, str]) -> Outcome:
    """Return ``outcome``, void if another object was attached, or other settings were in force, than when ``arm`` was
    tried: agent and machine may have changed since."""
    reason = _find_difference(outcome.proof or {}, arm)
    if isinstance(outcome, VoidSample) or reason is None:
        return outcome
    return VoidSample(reason, proof=outcome.proof, origin=outcome.origin)


def _find_difference(proof: Mapping[str, Any], arm: dict[str, str]) -> str | None:
    found, expected = proof.get("object", ""), arm["object_sha256"]
    if found != expected:
        was, is_now = (text[:12] or "none" for text in (expected, found))
        return f"another object was attached than at the start ({was} then, {is_now} now)"
    found, expected = _list_values(proof.get("settings", ())), arm.get("settings", "")
    if found != expected:
        return f"other settings were in force than at the start ({expected or 'none'} then, {found or 'none'} now)"
    return None

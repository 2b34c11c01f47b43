"""Names for readers: an arm that differs from the baseline in one setting alone is called by that setting."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from runoff.analysis.environment import PER_ARM
from runoff.arm_text import split_arm
from runoff.errors import UsageError
from runoff.results import IMPORTED, Results

_Value = TypeVar("_Value")


def name_by_setting(results: Results) -> Results:
    """Return ``results`` with such arms renamed wherever they are a key or a label; not those of other programs."""
    names = find_names(results.arms) if results.engine != IMPORTED else {}
    if not names:
        return results

    def rename(table: Mapping[str, _Value]) -> dict[str, _Value]:
        return {names.get(arm, arm): value for arm, value in table.items()}

    about = results.descriptions
    fingerprint = dict(results.fingerprint)
    if isinstance(of_arms := fingerprint.get(PER_ARM), Mapping):
        fingerprint[PER_ARM] = rename(of_arms)
    return replace(
        results,
        arms=tuple(names.get(arm, arm) for arm in results.arms),
        samples=tuple(replace(s, arm=names[s.arm]) if s.arm in names else s for s in results.samples),
        twins=rename(results.twins),
        descriptions=replace(about, arms=rename(about.arms)),
        members=rename(results.members),
        fingerprint=fingerprint,
    )


def find_names(arms: Sequence[str]) -> dict[str, str]:
    """Return the short names of those that have one, by label; none is the label of another arm."""
    found = {arm: name for arm in arms[1:] if (name := _find_only_setting(arms[0], arm)) is not None}
    return {arm: name for arm, name in found.items() if name not in arms and list(found.values()).count(name) == 1}


def _find_only_setting(baseline: str, arm: str) -> str | None:
    if baseline.startswith("exec:") or "+" not in arm:
        return None
    try:
        first, other = split_arm(baseline), split_arm(arm)
    except UsageError:
        return None
    before, after = dict(first.settings), dict(other.settings)
    changed = [name for name, value in after.items() if before.get(name) != value]
    if (
        replace(first, settings=()) != replace(other, settings=())
        or len(changed) != 1
        or not before.keys() <= after.keys()
    ):
        return None
    return f"{changed[0]}={after[changed[0]]}"

"""Arms that differ in the values of one or two parameters alone: what a value does, in the order of values."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from runoff.arm_text import ArmText, split_arm
from runoff.errors import UsageError
from runoff.text import parse_assignments

FEWEST_ARMS = 3
"""Fewest arms of a sweep: two are a comparison."""


@dataclass(frozen=True, slots=True)
class Sweep:
    """The values of each arm, the baseline's too."""

    parameters: tuple[str, ...]
    """Names of those that vary, one or more."""
    values: Mapping[str, tuple[str, ...]]
    """By arm, in the order of the plan: a value for each parameter."""
    baseline: str

    @property
    def order(self) -> tuple[str, ...]:
        """The arms in the order of their values; texts come in the order of the plan."""
        ranks = [self._rank(place) for place in range(len(self.parameters))]
        return tuple(sorted(self.values, key=lambda arm: [r[v] for r, v in zip(ranks, self.values[arm], strict=True)]))

    def list_values(self, place: int) -> tuple[str, ...]:
        """Return all values of the parameter at ``place``, in their order."""
        rank = self._rank(place)
        return tuple(sorted(rank, key=lambda value: rank[value]))

    def find_numbers(self, place: int) -> dict[str, float] | None:
        """Return the numbers that the values of a parameter are; None if one is not a number."""
        try:
            return {values[place]: float(values[place]) for values in self.values.values()}
        except ValueError:
            return None

    def describe(self, arm: str) -> str:
        """Return the values of ``arm`` as an axis has them."""
        values = self.values[arm]
        if len(values) == 1:
            return values[0]
        return ", ".join(f"{name}={value}" for name, value in zip(self.parameters, values, strict=True))

    def _rank(self, place: int) -> dict[str, float]:
        numbers = self.find_numbers(place)
        if numbers is not None:
            return numbers
        given = dict.fromkeys(values[place] for arm, values in self.values.items() if arm != self.baseline)
        return {value: float(number) for number, value in enumerate({**given, self.values[self.baseline][place]: None})}


def find_sweep(arms: Sequence[str]) -> Sweep | None:
    """Return the sweep that ``arms`` are; None if they differ in anything else than the values of parameters."""
    if len(arms) < FEWEST_ARMS:
        return None
    parsed = {arm: _parse_arm(arm) for arm in arms}
    known = [each for each in parsed.values() if each is not None]
    if len(known) < len(arms) or len({frame for frame, _ in known}) > 1:
        return None
    tables = [table for _, table in known]
    if any(table.keys() != tables[0].keys() for table in tables):
        return None
    varied = tuple(key for key in tables[0] if len({table[key] for table in tables}) > 1)
    if not varied:
        return None
    values = {arm: tuple(table[key] for key in varied) for arm, table in zip(arms, tables, strict=True)}
    return Sweep(varied, values, arms[0]) if len(set(values.values())) == len(arms) else None


def _parse_arm(arm: str) -> tuple[str, dict[str, str]] | None:
    """Return what an arm is but for values, and its values by parameter; None if it is not written so."""
    if arm.startswith("exec:"):
        return None
    try:
        parts = split_arm(arm)
        tables = [dict(parts.settings)]
        names = []
        for text in (parts.scheduler, parts.elevator or ""):
            name, _, assignments = text.partition(":")
            names.append(name)
            tables.append(parse_assignments(assignments, arm))
    except UsageError:
        return None
    table = {key: value for each in tables for key, value in each.items()}
    if len(table) < sum(map(len, tables)):
        return None
    return ArmText(names[0], elevator=names[1], kernel=parts.kernel).render(), table

"""Samples that are void without having been begun."""

from runoff.campaign.journal.journal import Journal
from runoff.engines.outcome import VoidSample
from runoff.plan.order import Cell
from runoff.plan.plan import Plan


def add_void(plan: Plan, journal: Journal, cell: Cell, reason: str, part: int = 0) -> None:
    """Write a void sample, whose ``reason`` is one sentence, for a cell that has none yet."""
    journal.add(cell, *plan.find_labels(cell), VoidSample(reason), part=part)

"""Samples that are void without having been begun."""

from runoff.campaign.journal import Journal
from runoff.engines.outcome import VoidSample
from runoff.plan.order import Cell
from runoff.plan.plan import Plan


def add_void(plan: Plan, journal: Journal, cell: Cell, reason: str, part: int = 0) -> None:
    """Write a void sample, whose ``reason`` is one sentence, for a cell that has none yet."""
    arm, work, load = plan.arms[cell.arm].label, plan.works[cell.work].label, plan.load_labels[cell.load]
    journal.add(cell, arm, work, load, VoidSample(reason), part=part)

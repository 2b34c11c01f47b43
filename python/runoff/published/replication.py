"""Present counterparts of a report's comparisons: the plan that runs them, and its arms and workloads for each."""

from collections.abc import Mapping
from typing import Literal

from pydantic import Field

from runoff.validation import Checked, Text, Words


class Pair(Checked):
    """Two schedulers that a report compares, then and now."""

    label: Text
    base: Text
    """The published cell, with ``{row}`` for the row."""
    other: Text
    base_arm: Text
    other_arm: Text


class Comparisons(Checked):
    """Whether the same comparisons are made for several rows or tables."""

    title: Text
    rows: Text
    """Cells that name the tables and rows, or one cell."""
    workload: Text
    """The name of today's workload."""
    parameters: Mapping[Text, Text] = Field(default_factory=dict)
    """Parameters of the workload that differ between rows; ``{row}`` is the row."""
    load: Text = ""
    loads: Mapping[Text, Text] = Field(default_factory=dict)
    """Today's load by the published table."""
    metric: Text
    arms: Mapping[Text, Text] = Field(default_factory=dict)
    """Today's arm by the published row, for a pair whose ``other_arm`` is ``{arm}``."""
    pairs: tuple[Pair, ...] = Field(strict=False)
    unit: Literal["time", "ratio"] = "time"
    """With ``ratio`` the cell ``other`` is already divided by ``base``."""


class Part(Checked):
    """One plan and the comparisons that it repeats."""

    plan: Text
    differs: Words = ()
    """Differences to that time, besides those that a campaign itself reports."""
    comparisons: tuple[Comparisons, ...] = Field(strict=False)

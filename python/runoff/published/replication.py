"""What a report's comparisons are today: which plan runs them, and which of its arms and workloads stand for which."""

from collections.abc import Mapping
from typing import Literal

from pydantic import Field

from runoff.validation import Checked, Text, Words


class Pair(Checked):
    """Two schedulers that a report compares, then and now."""

    label: Text
    base: Text
    """Then: a cell with ``{row}`` for the row."""
    other: Text
    base_arm: Text
    other_arm: Text


class Comparisons(Checked):
    """The same comparisons for several rows or tables."""

    title: Text
    rows: Text
    """Cells whose tables and rows are gone through, or one cell."""
    workload: Text
    """Today's workload by its name."""
    parameters: Mapping[Text, Text] = Field(default_factory=dict)
    """Those of the workload that tell rows apart; ``{row}`` is the row."""
    load: Text = ""
    loads: Mapping[Text, Text] = Field(default_factory=dict)
    """Today's load by the table of then."""
    metric: Text
    arms: Mapping[Text, Text] = Field(default_factory=dict)
    """Today's arm by the row of then, for a pair whose ``other_arm`` is ``{arm}``."""
    pairs: tuple[Pair, ...] = Field(strict=False)
    unit: Literal["time", "ratio"] = "time"
    """``ratio``: the cell ``other`` is already what ``base`` is divided into."""


class Part(Checked):
    """One plan and what it repeats."""

    plan: Text
    differs: Words = ()
    """What is not as it was then, beside what a campaign itself tells."""
    comparisons: tuple[Comparisons, ...] = Field(strict=False)

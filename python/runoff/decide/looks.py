"""Results of the looks that a campaign with ``until`` takes after blocks."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Look:
    """What is known after some whole blocks."""

    blocks: int
    undecided: tuple[str, ...]
    """Headline comparisons that more blocks may decide."""
    ahead: tuple[int | None, int | None, int | None]
    """Further blocks until they are: median, and the ends of a 90 % interval; None is later than can be told."""
    ends: str | None
    """Why it ends here; None if it goes on."""
    decided: bool = False
    """Whether the campaign ends and nothing is unclear."""


Rule = Callable[[int], Look]
"""Looks at whole blocks; given their number."""

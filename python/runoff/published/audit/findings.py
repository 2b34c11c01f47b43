"""The findings of an audit: one statement about one place of a report, and whether it holds."""

from dataclasses import dataclass
from enum import StrEnum

from runoff.published.numbers import Fit, Number, Quantity, find_fit, format_number


class Status(StrEnum):
    """Whether a statement holds, and how sure that is."""

    FAILS = "does not follow"
    ONLY_IF = "follows only if"
    UNCHECKED = "cannot be checked"
    FOLLOWS = "follows"


@dataclass(frozen=True, slots=True)
class Finding:
    """One checked statement."""

    rule: str
    """The statement, the same for all places where it should hold; the words of a claim."""
    place: str
    status: Status
    text: str
    """The result with the numbers."""
    claim: bool = False


def check_derived(rule: str, place: str, printed: Number, quantity: Quantity, how: str) -> Finding:
    """Return whether a printed number is ``quantity``, which ``how`` computes from others that are printed."""
    status = {Fit.CUT: Status.ONLY_IF, Fit.NEITHER: Status.FAILS}
    found = find_fit(printed, quantity)
    shown = format_number(quantity.value, printed.decimals + 2)
    rounded = format_number(quantity.value, printed.decimals)
    words = {
        Fit.ROUNDED: f"{how} = {shown}",
        Fit.HIDDEN: f"{how} = {shown}, and more digits of these can give it",
        Fit.CUT: f"digits were cut off: {how} = {shown}, which is rounded to {rounded}",
        Fit.NEITHER: f"{how} = {shown}",
    }
    return Finding(rule, place, status.get(found, Status.FOLLOWS), f"printed {printed}; {words[found]}")

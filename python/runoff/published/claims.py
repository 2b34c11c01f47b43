"""Statements of a report's text about its tables, as data: a few words, their cells, and the relation of these.

Cells are written ``table[row].column``: ``a|b`` is both, ``*`` every row, ``3..8`` the rows with these names, ``!a|b``
all but these.
"""

from collections.abc import Mapping
from fractions import Fraction
from typing import Annotated, Literal

from pydantic import Field

from runoff.validation import Checked, Text

Share = Literal["all", "nearly all", "mostly", "several", "none"]

LEAST_SHARE: Mapping[str, Fraction] = {"all": Fraction(1), "nearly all": Fraction(4, 5), "mostly": Fraction(1, 2)}
"""Words in their most generous meaning: nearly all is four of five, mostly is more than half."""

SEVERAL = 3


class BaseClaim(Checked):
    """The fields of all claims."""

    quote: Text
    where: Text = ""


class WithinClaim(BaseClaim):
    """Each of ``cells``, rounded to ``decimals``, lies from ``low`` to ``high``."""

    relation: Literal["within"]
    cells: Text
    low: float
    high: float
    decimals: int = 0


class LessClaim(BaseClaim):
    """Each of ``smaller`` is less than each of ``larger``, or than the one in the same place (``row``)."""

    relation: Literal["less"]
    smaller: Text
    larger: Text
    against: Literal["row", "each"] = "each"
    share: Share = "all"


class ExtremeClaim(BaseClaim):
    """``cell`` is the least or the most of ``of``."""

    relation: Literal["least", "most"]
    cell: Text
    of: Text


class AboutClaim(BaseClaim):
    """``cell``, or its difference to ``than``, is ``value`` when rounded to ``decimals``."""

    relation: Literal["about"]
    cell: Text
    than: Text = ""
    unit: Literal["", "percent", "points"] = ""
    value: float
    decimals: int = 0


class RowsClaim(BaseClaim):
    """A table has this number of rows."""

    relation: Literal["rows"]
    table: Text
    count: int


class ApartClaim(BaseClaim):
    """Differences of ``cells`` to ``base`` in standard deviations are below or above ``limit``."""

    relation: Literal["apart"]
    cells: Text
    base: Text
    sd_pct: Text
    """The column with the standard deviation of each in percent of itself."""
    limit: float
    side: Literal["below", "above"]
    share: Share


class DifferentClaim(BaseClaim):
    """A share of ``cells`` differs from ``base`` in a test, each the mean of ``runs`` runs."""

    relation: Literal["different"]
    runs: int
    cells: Text
    base: Text
    sd_pct: Text
    share: Share


class FallingClaim(BaseClaim):
    """Each of ``cells`` is below the one before it."""

    relation: Literal["falling"]
    cells: Text


class SteadyClaim(BaseClaim):
    """``cells`` vary no more than ``reference`` does, which the text calls steady."""

    relation: Literal["steady"]
    cells: Text
    reference: Text


class SettlesClaim(BaseClaim):
    """``cells`` become steady after the row ``after``: from there they vary by half as much as before, or less."""

    relation: Literal["settles"]
    cells: Text
    after: int


class MeanClaim(BaseClaim):
    """``cell`` can be the mean of ``runs`` values, one of them ``least`` and one ``most``."""

    relation: Literal["mean of"]
    cell: Text
    runs: Text
    least: float
    most: float


class BusyClaim(BaseClaim):
    """Whether the same work takes ``ratio`` of the time because the CPUs are always busy and not idle now and then."""

    relation: Literal["busy"]
    ratio: Text
    busy: Text
    dip: Text


class UnstatedClaim(BaseClaim):
    """The report does not have what is needed to check this."""

    relation: Literal["unstated"]
    lacking: Text
    cells: Text = ""
    """The cells that there are."""


Claim = Annotated[
    WithinClaim
    | LessClaim
    | ExtremeClaim
    | AboutClaim
    | RowsClaim
    | ApartClaim
    | DifferentClaim
    | FallingClaim
    | SteadyClaim
    | SettlesClaim
    | MeanClaim
    | BusyClaim
    | UnstatedClaim,
    Field(discriminator="relation"),
]

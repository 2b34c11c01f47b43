"""Lays campaigns beside each other, in an order that is chosen, and finds where their level changes."""

from collections.abc import Mapping
from pathlib import Path

from runoff.errors import UsageError
from runoff.history.build import Ordered, make_history
from runoff.history.order import order_campaigns
from runoff.history.subjects import Wanted
from runoff.history.values import History, Order
from runoff.results import Results


def draw_history(
    campaigns: Mapping[str, Results],
    wanted: Wanted,
    *,
    order: Order | None = None,
    repository: Path | None = None,
    rerun: str = "",
) -> History:
    """Return the history of campaigns by name; ``rerun`` is the command that makes it again.

    Without an ``order`` it is that of their dates, or of the commits of ``repository`` that they are named by. Raises
    UsageError where nothing is comparable, and MissingError without the library that finds changes.
    """
    if repository is not None and order not in (None, "commits"):
        raise UsageError(f"--repository is for the order of commits, not --order {order}: leave one of them out")
    chosen: Order = order or ("dates" if repository is None else "commits")
    places, warnings = order_campaigns(campaigns, chosen, repository or Path())
    return make_history(Ordered(campaigns, places, chosen, warnings), wanted, rerun)

"""Stop a campaign whose first block is void for one reason: later blocks would be too."""

import re

from runoff.campaign.journal.journal import Journal

LEAST = 2
"""Samples that must be void: one may be an accident."""


class Doubt:
    """Looks once, when the first block is whole, whether it is void throughout for one reason."""

    def __init__(self, size: int) -> None:
        """``size`` is how many samples the first block has."""
        self._wanted = max(size, LEAST)
        self._is_open = True
        self._reason: str | None = None

    def find_reason(self, journal: Journal) -> str | None:
        """Return the reason; None while the block is not whole, and where some sample is valid or void for another."""
        if self._is_open and len(journal.done()) >= self._wanted:
            self._is_open = False
            self._reason = self._look(journal)
        return self._reason

    def _look(self, journal: Journal) -> str | None:
        rows = journal.rows()[: self._wanted]
        # The same failure has other numbers, such as those of processes, in each sample.
        reasons = {re.sub(r"[0-9]+", "0", row.reason or "") for row in rows}
        if len(reasons) == 1 and not any(row.valid for row in rows):
            return rows[0].reason
        return None

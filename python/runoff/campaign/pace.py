"""How long blocks took, as a clock on the wall has it."""

import heapq
from collections import defaultdict
from collections.abc import Iterable, Mapping
from datetime import datetime
from statistics import median

from runoff.campaign.journal.records import Row


def seconds_per_block(rows: Iterable[Row], sizes: Mapping[int, int]) -> float | None:
    """Return the median wall time of those blocks that are whole; ``sizes`` has how many samples each of them has.

    Samples that ran side by side share the time that passed, so that the times of all blocks add up to the campaign's
    without its stops. None if no block is whole, or a time is unknown.
    """
    blocks: dict[int, list[Row]] = defaultdict(list)
    for row in rows:
        blocks[row.block].append(row)
    whole = [block for block, size in sizes.items() if len(blocks[block]) == size]
    spans = [span for mine in blocks.values() for row in mine if (span := _span(row)) is not None]
    known = {cell for _, _, cell in spans}
    shares = _shares(spans)
    times = [
        sum(shares[row.cell] for row in blocks[block])
        for block in whole
        if known.issuperset(row.cell for row in blocks[block])
    ]
    return median(times) if times else None


def _span(row: Row) -> tuple[float, float, str] | None:
    """Return when the sample began and ended, in seconds of any epoch."""
    if row.conditions is None or row.seconds is None:
        return None
    began_s = datetime.fromisoformat(row.conditions.started).timestamp()
    return began_s, began_s + row.seconds, row.cell


def _shares(spans: Iterable[tuple[float, float, str]]) -> Mapping[str, float]:
    """Return what each has of the time, of which every moment belongs to all that run then in equal parts."""
    ends: list[tuple[float, str]] = []
    shares: dict[str, float] = defaultdict(float)
    now_s = 0.0
    for began_s, ended_s, cell in [*sorted(spans), (float("inf"), float("inf"), "")]:
        while ends and ends[0][0] <= began_s:
            now_s = _pass(ends, shares, now_s, ends[0][0])
            heapq.heappop(ends)
        now_s = _pass(ends, shares, now_s, began_s)
        heapq.heappush(ends, (ended_s, cell))
    return shares


def _pass(ends: list[tuple[float, str]], shares: dict[str, float], from_s: float, until_s: float) -> float:
    for _, cell in ends:
        shares[cell] += (until_s - from_s) / len(ends)
    return until_s

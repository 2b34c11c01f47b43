"""Progress of a campaign on standard error: one live line on a terminal, quiet lines elsewhere."""

import contextlib
import sys
from collections.abc import Callable, Sequence

from rich.console import Console
from rich.status import Status

from runoff.analysis.labels import shorten_labels
from runoff.campaign.manifest import list_metrics
from runoff.cli.live_line import LiveLine
from runoff.cli.output import echo
from runoff.cli.pace import Pace
from runoff.decide.looks import Look
from runoff.engines.outcome import Outcome, ValidSample
from runoff.plan import stopping
from runoff.plan.order import Cell
from runoff.plan.plan import Plan
from runoff.report.words.numbers import format_value
from runoff.results import LoadedWork, Metric
from runoff.text import escape_lines, format_duration

MOST_NAMED = 3
"""Undecided comparisons that a line names."""


BAR_WIDTH = 10


class Progress:
    """An ``Observer`` of a campaign: has its place on the screen only between ``began`` and ``ended``."""

    _plan: Plan

    def __init__(self) -> None:
        self._console = Console(stderr=True, highlight=False)
        self._works: dict[str, str] = {}
        self._headlines: list[Metric] = []
        self._done = 0
        self._pace = Pace()
        self._has_begun = False
        self._sums: dict[tuple[int, int, int], list[float]] = {}
        self._look: Look | None = None
        self._status: Status | None = None

    def began(self, plan: Plan, done: int) -> None:
        self._plan = plan
        self._works = shorten_labels([work.label for work in plan.works])
        self._headlines = [list_metrics(plan, work)[0] for work in plan.works]
        self._done = done
        self._pace = Pace()
        self._has_begun = False
        self._sums = {}
        self._look = None
        self._status = Status("", console=self._console) if sys.stderr.isatty() else None

    def ended(self) -> None:
        if self._status is not None:
            with contextlib.suppress(OSError):
                self._status.stop()
        self._status = None

    def say(self, text: str) -> None:
        if self._status is None:
            echo(text, err=True)
        else:
            self._show(lambda: [text])

    def _print(self, text: str) -> None:
        """Print a line above the live one. If nothing reads it any more, the campaign goes on."""
        with contextlib.suppress(OSError):
            self._console.print(escape_lines(text), markup=False, soft_wrap=True)

    def started(self, cell: Cell) -> None:
        if not self._has_begun:
            self._pace.start()
            for work, metric in zip(self._works.values(), self._headlines, strict=True):
                self._print(f"a line of {work} ends with: {metric.title}")
        self._has_begun = True

    def phase(self, cell: Cell, phase: str) -> None:
        if self._status is not None:
            self._show(lambda: self._list_parts(cell, phase))

    def finished(self, cell: Cell, outcome: Outcome) -> None:
        self._done += 1
        self._pace.finish()
        if isinstance(outcome, ValidSample):
            headline = self._headlines[cell.work]
            value = outcome.metrics[headline.name]
            self._sums.setdefault((cell.work, cell.load, cell.arm), []).append(value)
            text = format_value(value, headline.unit)
        else:
            text = f"void: {outcome.reason}"
        if self._status is None:
            echo(f"{self._place(cell)}  {text}", err=True)
        elif not isinstance(outcome, ValidSample):
            self._print(f"{self._place(cell)}  {text}")

    def looked(self, look: Look) -> None:
        self._look = look
        if look.ends is not None:
            self._print(f"after block {look.blocks}: {look.ends}")
        elif self._status is None:
            echo(f"after block {look.blocks}: {_describe_undecided(look)}", err=True)

    def gave_up(self, reason: str) -> None:
        text = f"every sample of the first block is void for one reason, so no more are taken: {reason}"
        self._print(text)

    def stopping(self, now: bool) -> None:
        text = "stopping now; finished samples are kept" if now else "finishing this sample; Ctrl-C again to stop now"
        self._print(text)

    def _show(self, list_parts: Callable[[], Sequence[str]]) -> None:
        assert self._status is not None
        with contextlib.suppress(OSError):
            self._status.start()
            self._status.update(LiveLine(list_parts, lambda: max(20, self._console.width - 4)))

    def _list_parts(self, cell: Cell, phase: str) -> list[str]:
        """Return what is known now, that which must be seen on the narrowest terminal first."""
        done, block = self._count(cell)
        eta, _, interval = self._eta().partition(" (")
        arm, work = self._name(cell)
        interval = f"({interval}" if interval else ""
        return [done, eta, self._bar(), block, arm, phase, work, interval, *self._estimates(cell), self._rate()]

    def _bar(self) -> str:
        """Return how much is done; empty without a fixed end."""
        if self._plan.settings.until is not None:
            return ""
        full = BAR_WIDTH * self._done // self._plan.planned
        return f"[{'#' * full}{'-' * (BAR_WIDTH - full)}]"

    def _place(self, cell: Cell) -> str:
        return "  ".join(filter(None, (*self._count(cell), *self._name(cell), self._eta())))

    def _name(self, cell: Cell) -> tuple[str, str]:
        """Return the arm, and the workload beside its load."""
        loads = self._plan.load_labels
        work = LoadedWork(self._works[self._plan.works[cell.work].label], loads[cell.load]).label(len(loads))
        return self._plan.arms[cell.arm].label, work

    def _count(self, cell: Cell) -> tuple[str, str]:
        """Return how many samples are done, and which block this is."""
        settings = self._plan.settings
        if cell.block < 0:
            block = f"warm-up {settings.warmup + cell.block + 1}/{settings.warmup}"
        else:
            block = f"block {cell.block + 1}/{stopping.find_most_blocks(settings)}"
        if settings.until is None:
            return f"{self._done}/{self._plan.planned}", block
        return f"{self._done}", f"{block} at most"

    def _eta(self) -> str:
        if self._plan.settings.until is not None:
            each_s = self._pace.each_s
            if self._look is None or each_s is None:
                return ""
            return _describe_remaining(self._look, each_s * self._samples_per_block())
        found = self._pace.estimate(self._plan.planned - self._done)
        if found is None:
            return ""
        between = ""
        if found.interval is not None:
            low, high = map(format_duration, found.interval)
            between = f" ({low} to {high})" if low != high else ""
        return f"ETA {format_duration(found.seconds)}{between}"

    def _rate(self) -> str:
        """Return how many samples come a minute; empty before the first is finished."""
        rate = self._pace.per_minute
        return "" if rate is None else f"{rate:.3g}/min"

    def _samples_per_block(self) -> int:
        return len(self._plan.arms) * len(self._plan.works) * len(self._plan.loads)

    def _estimates(self, cell: Cell) -> list[str]:
        """Return running means of the present workload and load, by arm: to watch, not to judge by."""
        parts = []
        for index, arm in enumerate(self._plan.arms):
            values = self._sums.get((cell.work, cell.load, index))
            if values:
                mean = sum(values) / len(values)
                parts.append(f"{arm.label} {format_value(mean, self._headlines[cell.work].unit)}")
        return parts


def _describe_undecided(look: Look) -> str:
    """Return how many comparisons are, the first few by name, and how many blocks may decide them."""
    names = ", ".join(look.undecided[:MOST_NAMED])
    more = f" and {len(look.undecided) - MOST_NAMED} more" if len(look.undecided) > MOST_NAMED else ""
    median, low, high = look.ahead
    if low is None:
        return f"undecided: {names}{more}; no end is in sight"
    return f"undecided: {names}{more}; {_number(median)} more blocks, 90 % interval {low} to {_number(high)}"


def _number(blocks: int | None) -> str:
    return "over the limit" if blocks is None else str(blocks)


def _describe_remaining(look: Look, block_s: float) -> str:
    """Return the same as time, from the look on."""
    median, low, high = look.ahead
    if low is None:
        return f"{len(look.undecided)} undecided, no end in sight"
    times = ["?" if blocks is None else format_duration(block_s * blocks) for blocks in (median, low, high)]
    return f"{len(look.undecided)} undecided, ETA {times[0]} ({times[1]} to {times[2]})"

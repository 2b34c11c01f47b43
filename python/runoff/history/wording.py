"""A history in words, the same in all views."""

from collections.abc import Iterator, Sequence

from runoff.history.values import Change, Difference, Entry, History, Series
from runoff.report.words.layout import cut_middle
from runoff.report.words.numbers import Scale, format_change, format_change_range, format_p
from runoff.report.words.wording import DIRECTIONS
from runoff.statistics import Interval
from runoff.statistics.values import to_percent
from runoff.version import __version__

MOST_DIFFERENCES = 6
"""Facts that are told of a change; the JSON has all."""
LONGEST_VALUE = 24
MOST_UNCHANGED = 4
"""Series without a change that have a sentence each."""

_ORDERS = {
    "dates": "in the order of their dates",
    "commits": "in the order of their commits",
    "given": "in the order given",
}

LEGEND = (
    "If nothing changes and all campaigns are equally exact, at most one history in twenty shows a change; more do if "
    "neighbours are more alike than others, as in a warm week. What only the newest campaign shows is not called a "
    "change yet: two are needed."
)


def describe_title(history: History) -> str:
    """Return tool, number of campaigns, order and engine."""
    return (
        f"runoff {__version__}  {len(history.places)} campaigns {_ORDERS[history.order]}{_describe_span(history)}"
        f"  {history.engine}"
    )


def _describe_span(history: History) -> str:
    days = sorted(place.day for place in history.places if place.day)
    if not days:
        return ""
    return f", {days[0]}" if days[0] == days[-1] else f", {days[0]} to {days[-1]}"


def describe_outcome(history: History) -> Iterator[str]:
    """Yield a sentence for each change, and for each series without one, or for all of them if they are many."""
    unchanged = [series for series in history.series if not series.changes]
    is_long = len(unchanged) > MOST_UNCHANGED
    for series in history.series:
        subject = f"{series.heading}: {series.metric.title}"
        for change in series.changes:
            yield f"{subject}, {describe_change(series, change)}."
        if not series.changes and not is_long:
            yield f"{subject}: {_describe_no_change(series)}."
    if is_long:
        yield from _describe_unchanged(unchanged, len(history.series))


def _describe_unchanged(unchanged: Sequence[Series], count: int) -> Iterator[str]:
    """Yield how many of ``count`` series show no change, and how many cannot."""
    short = [series for series in unchanged if len(series.entries) < series.least]
    if found := len(unchanged) - len(short):
        yield f"No change is seen in {found} of {count} series."
    if short:
        most, least = max(len(series.entries) for series in short), short[0].least
        yield (
            f"{most} campaigns are too few to show a change in {len(short)} of {count} series, {least} are the fewest "
            "that can."
        )


def _describe_no_change(series: Series) -> str:
    count = len(series.entries)
    if count < series.least:
        return f"{count} campaigns are too few to show a change, {series.least} are the fewest that can"
    return f"no change is seen in {count} campaigns"


def describe_place(entry: Entry) -> str:
    """Return the name of a campaign, and its day if it has one."""
    return f"{entry.place.campaign} ({entry.place.day})" if entry.place.day else entry.place.campaign


def describe_size(series: Series, change: Change) -> str:
    """Return the size of a change with its interval."""
    size, interval = find_size(series, change)
    if series.is_relative:
        decimals = 2 if interval is not None and interval.high - interval.low < 1 else 1
        shown = f" {format_change_range(interval, size, decimals)}" if interval else ""
        return f"{format_change(size, decimals)}{shown}"
    scale = choose_scale(series)
    shown = f" {scale.signed_range(interval)}" if interval else ""
    return scale.difference(size) + shown


def find_size(series: Series, change: Change) -> tuple[float, Interval | None]:
    """Return the size of a change in percent where the series is relative, else in the metric's unit."""
    if not series.is_relative:
        return change.size, change.interval
    interval = change.interval
    low_high = None if interval is None else Interval(to_percent(interval.low), to_percent(interval.high))
    return to_percent(change.size), low_high


def describe_change(series: Series, change: Change) -> str:
    """Return a change without its subject: which way, from where on, by how much and how clear."""
    word = change.verdict.word if change.verdict else "another level"
    place = describe_place(series.entries[change.first])
    return f"{word} from {place} on: {describe_size(series, change)}, p {format_p(change.p)}"


def describe_differences(change: Change) -> Iterator[str]:
    """Yield what else is not the same since the change, a fact each."""
    for difference in change.differences[:MOST_DIFFERENCES]:
        yield _describe_difference(difference)
    if len(change.differences) > MOST_DIFFERENCES:
        yield f"{len(change.differences) - MOST_DIFFERENCES} more facts differ (--json)"
    if not change.differences:
        yield "nothing that is known of the two campaigns differs"


def _describe_difference(difference: Difference) -> str:
    before, after = (cut_middle(value, LONGEST_VALUE) for value in (difference.before, difference.after))
    return f"{difference.fact} was {before}, is {after}"


def describe_heading(series: Series) -> str:
    """Return the heading of a series, with unit and direction."""
    unit = choose_scale(series).unit
    direction = DIRECTIONS[series.metric.direction]
    return f"{series.heading}: {series.metric.title} ({f'{unit}, ' if unit else ''}{direction})"


def describe_left_out(series: Series) -> str:
    """Return which campaigns have nothing of this; empty if all have."""
    if not series.left_out:
        return ""
    return f"without a valid sample of it: {', '.join(series.left_out)}"


def list_columns(series: Series) -> list[tuple[str, tuple[str, ...]]]:
    """Return the title and the cells of each column of the table of campaigns; a column without a word is left out."""
    scale = choose_scale(series)
    entries = series.entries
    centres = [series.find_centre(entry) for entry in entries]
    machines = tuple(entry.place.machine for entry in entries)
    columns: list[tuple[str, tuple[str, ...]]] = [
        ("campaign", tuple(entry.place.campaign for entry in entries)),
        ("commit", tuple(entry.place.commit for entry in entries)),
        ("machine", machines if len(set(machines)) > 1 else ()),
        ("day", tuple(entry.place.day for entry in entries)),
        ("n", tuple(str(entry.summary.n) for entry in entries)),
        ("geo. mean" if series.is_relative else "mean", tuple(scale.plain(mean) for mean, _ in centres)),
        ("its 95 % CI", tuple(scale.range(ci) if ci else "" for _, ci in centres)),
    ]
    return [(title, cells) for title, cells in columns if any(cells)]


def choose_scale(series: Series) -> Scale:
    """Return the unit and digits of all numbers of a series."""
    return Scale.from_summaries([entry.summary for entry in series.entries], series.metric.unit)

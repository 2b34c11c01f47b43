"""From an interval to one of five words."""

from runoff.results import Direction
from runoff.statistics.values import Comparison, Interval, Pair, Question, Verdict


def judge(pair: Pair, question: Question, percent: float | None, percent_interval: Interval | None) -> Comparison:
    """Compare ``pair.second`` with the baseline ``pair.first``."""
    return Comparison(
        pair.second,
        pair.difference,
        pair.interval,
        percent,
        percent_interval,
        pair.p,
        _verdict(pair, question, percent_interval),
    )


def _verdict(pair: Pair, question: Question, percent_interval: Interval | None) -> Verdict | None:
    """``=`` goes first: a difference that is real but wholly inside the margin is too small to matter."""
    if question.direction == "none":
        return None
    if _same(pair, question.margin, percent_interval):
        return Verdict.SAME
    if not pair.separated:
        return Verdict.UNCLEAR
    return _good(pair.difference, question.direction)


def _same(pair: Pair, margin: float, percent_interval: Interval | None) -> bool:
    if percent_interval is not None:
        return percent_interval.inside(-100 * margin, 100 * margin)
    return pair.difference == 0 and pair.interval in (None, Interval(0.0, 0.0))


def _good(difference: float, direction: Direction) -> Verdict:
    return Verdict.BETTER if (difference < 0) == (direction == "lower") else Verdict.WORSE

"""What must hold for any samples, and how often pure noise may win."""

import math
import random
from itertools import combinations

from hypothesis import given, settings
from hypothesis import strategies as st

from runoff.statistics import Observation, Question, Verdict, analyse
from runoff.statistics.letters import connect

values = st.floats(min_value=0.001, max_value=1e6)
arms = st.dictionaries(st.sampled_from("abcdef"), st.lists(values, max_size=8), min_size=1, max_size=5)


def observe(data):
    return {arm: [Observation(v, i) for i, v in enumerate(samples)] for arm, samples in data.items()}


@settings(deadline=None, max_examples=150)
@given(arms, st.sampled_from(["lower", "higher"]))
def test_glyph_interval_p_and_letters_never_contradict(data, direction):
    analysis = analyse(observe(data), Question(next(iter(data)), direction))
    for arm, comparison in analysis.comparisons.items():
        assert (comparison.verdict is Verdict.VOID) == (not data[arm])
        interval = comparison.percent_interval or comparison.interval
        if comparison.verdict in (Verdict.BETTER, Verdict.WORSE):
            assert interval.low > 0 or interval.high < 0
            assert comparison.p < 0.05 + 1e-6
            assert (interval.high < 0) == ((comparison.verdict is Verdict.BETTER) == (direction == "lower"))
        if comparison.verdict is Verdict.SAME and comparison.percent_interval:
            assert comparison.percent_interval.inside(-2, 2)
        if comparison.verdict is Verdict.UNCLEAR and interval:
            assert interval.low <= 0 <= interval.high
    for pair in analysis.pairs:
        shared = set(analysis.letters[pair.first]) & set(analysis.letters[pair.second])
        assert pair.separated == (not shared)


@settings(deadline=None, max_examples=60)
@given(st.lists(st.lists(values, min_size=2, max_size=6), min_size=2, max_size=4), st.randoms(use_true_random=False))
def test_the_order_of_samples_and_of_other_arms_changes_nothing(samples, rng):
    data = dict(zip("abcd", samples, strict=False))
    others = list(data)[1:]
    rng.shuffle(others)
    shuffled = {arm: rng.sample(data[arm], len(data[arm])) for arm in ["a", *others]}
    one, two = (analyse(observe(d), Question("a", "lower")) for d in (data, shuffled))
    for arm in others:
        first, second = one.comparisons[arm], two.comparisons[arm]
        assert first.verdict is second.verdict
        assert math.isclose(
            first.difference, second.difference, rel_tol=1e-9, abs_tol=1e-9 * max(data[arm] + data["a"])
        )


@given(st.integers(1, 7), st.data())
def test_letters_are_shared_exactly_by_unseparated_pairs(count, data):
    names = "abcdefg"[:count]
    everything = list(combinations(names, 2))
    separated = data.draw(st.sets(st.sampled_from(everything))) if everything else set()
    letters = connect(names, sorted(separated))
    assert all(letters[name] for name in names)
    for pair in everything:
        assert (pair in separated) == (not set(letters[pair[0]]) & set(letters[pair[1]]))


REPORTS = 1000
TOLERANCE = 3 * math.sqrt(REPORTS * 0.05 * 0.95)
"""Three standard deviations of a binomial count with 5 %: 20.7 of 1000."""


def test_an_a_a_comparison_shows_a_winner_in_at_most_5_percent_of_reports():
    judged = separated = 0
    for seed in range(REPORTS):
        rng = random.Random(seed)
        data = {arm: [rng.gauss(100, 10) for _ in range(5)] for arm in ("a", "b", "c")}
        analysis = analyse(observe(data), Question("a", "lower"))
        judged += any(c.verdict in (Verdict.BETTER, Verdict.WORSE) for c in analysis.comparisons.values())
        separated += any(pair.separated for pair in analysis.pairs)
    assert judged <= 0.05 * REPORTS + TOLERANCE
    assert abs(separated - 0.05 * REPORTS) <= TOLERANCE, "with equal n the family-wise error is exact, not smaller"

"""Properties that must hold for any samples, and how often pure noise may win."""

import math
import random
from itertools import combinations

from hypothesis import given, settings
from hypothesis import strategies as st

from runoff.statistics import Observation, Question, Verdict, analyse, analyse_classic, judge_family
from runoff.statistics.letters import connect

values = st.floats(min_value=0.001, max_value=1e6)
arms = st.dictionaries(st.sampled_from("abcdef"), st.lists(values, max_size=8), min_size=1, max_size=5)


def observe(data):
    return {arm: [Observation(v, i, i) for i, v in enumerate(samples)] for arm, samples in data.items()}


@settings(deadline=None, max_examples=150)
@given(arms, st.sampled_from(["lower", "higher"]), st.floats(0.001, 0.5), st.floats(0.001, 0.5))
def test_glyph_interval_and_p_never_contradict(data, direction, margin, rare):
    analysis = analyse(observe(data), Question(next(iter(data)), direction, margin=margin, rare=rare))
    advised = {"resolution", "rare", "order", "few", "baseline", "coarse", "constant"} & {
        w.kind for w in analysis.warnings
    }
    for arm, comparison in analysis.comparisons.items():
        assert (comparison.verdict is Verdict.VOID) == (not data[arm])
        interval = comparison.percent_interval or comparison.interval
        assert comparison.separated == (interval is not None and not interval.low <= 0 <= interval.high)
        if comparison.verdict in (Verdict.BETTER, Verdict.WORSE):
            assert comparison.separated
            assert comparison.p < 0.05 + 1e-6
            assert (interval.high < 0) == ((comparison.verdict is Verdict.BETTER) == (direction == "lower"))
        if comparison.verdict is Verdict.SAME:
            assert interval.is_inside(-100 * margin - 1e-9, 100 * margin + 1e-9)
            assert comparison.n >= 10
            assert comparison.unseen <= rare + 1e-9
        if comparison.verdict is Verdict.UNCLEAR:
            assert advised
            assert not comparison.separated or comparison.is_within


@settings(deadline=None, max_examples=100)
@given(arms, st.sampled_from(["lower", "higher"]))
def test_the_classic_view_never_contradicts_itself(data, direction):
    found = analyse_classic(analyse(observe(data), Question(next(iter(data)), direction)))
    for pair in found.pairs:
        shared = set(found.letters[pair.first]) & set(found.letters[pair.second])
        assert pair.separated == (not shared)


@settings(deadline=None, max_examples=60)
@given(st.lists(st.lists(values, min_size=2, max_size=6), min_size=2, max_size=4), st.randoms(use_true_random=False))
def test_the_order_of_observations_and_of_other_arms_changes_nothing(samples, rng):
    data = observe(dict(zip("abcd", samples, strict=False)))
    others = list(data)[1:]
    rng.shuffle(others)
    shuffled = {arm: rng.sample(data[arm], len(data[arm])) for arm in ["a", *others]}
    one, two = (analyse(d, Question("a", "lower")) for d in (data, shuffled))
    for arm in others:
        assert one.comparisons[arm] == two.comparisons[arm]


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
FAMILIES = 300
TOLERANCE = 3 * math.sqrt(REPORTS * 0.05 * 0.95)
"""Three standard deviations of a binomial count with 5 %: 20.7 of 1000."""


def test_an_a_a_comparison_shows_a_winner_in_5_percent_of_reports():
    """One arm against the baseline is an exact t test; with three arms Sidak's level is not exceeded."""
    for arms, exact in (("ab", True), ("abc", False)):
        judged = 0
        for seed in range(REPORTS):
            rng = random.Random(seed)
            data = {arm: [rng.gauss(100, 10) for _ in range(5)] for arm in arms}
            analysis = analyse(observe(data), Question("a", "lower"))
            judged += any(c.verdict in (Verdict.BETTER, Verdict.WORSE) for c in analysis.comparisons.values())
        assert judged <= 0.05 * REPORTS + TOLERANCE
        assert judged >= 0.05 * REPORTS - TOLERANCE or not exact


def test_headline_tables_of_pure_noise_show_a_winner_in_5_percent_of_reports():
    """Nine tables of three arms, judged together; one by one 37 % of reports would have a difference."""
    judged = alone = 0
    tolerance = 3 * math.sqrt(FAMILIES * 0.05 * 0.95)
    for seed in range(FAMILIES):
        rng = random.Random(seed)
        asked = Question("a", "lower", tables=9)
        tables = [
            analyse(observe({arm: [rng.gauss(100, 5) for _ in range(8)] for arm in "abc"}), asked) for _ in range(9)
        ]
        alone += any(c.separated for table in tables for c in table.comparisons.values())
        judged += any(
            c.verdict in (Verdict.BETTER, Verdict.WORSE) for t in judge_family(tables) for c in t.comparisons.values()
        )
    assert 0.05 * FAMILIES - tolerance <= judged <= 0.05 * FAMILIES + tolerance
    assert alone > 0.25 * FAMILIES

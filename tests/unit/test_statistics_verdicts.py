"""Which glyph an arm gets, and the data that must not get one."""

import pytest

from runoff.statistics import Analysis, Interval, Observation, Question, Verdict, analyse

BASE = [100.0, 101.0, 99.0, 100.5, 99.5, 100.2]
SLOWER = [value + 20 for value in BASE]
NEAR = [value + 0.3 for value in BASE]
WIDE = [80.0, 120.0, 95.0, 130.0, 70.0, 118.0]


def compare(data: dict[str, list[float]], direction: str = "lower", **question) -> Analysis:
    """Round-robin run order: position is block * arms + arm."""
    arms = {
        arm: [Observation(value, block * len(data) + place) for block, value in enumerate(values)]
        for place, (arm, values) in enumerate(data.items())
    }
    return analyse(arms, Question(next(iter(data)), direction, **question))


def kinds(analysis: Analysis) -> list[str]:
    return [warning.kind for warning in analysis.warnings]


@pytest.mark.parametrize(
    ("values", "direction", "verdict"),
    [
        (SLOWER, "lower", Verdict.WORSE),
        (SLOWER, "higher", Verdict.BETTER),
        (NEAR, "lower", Verdict.SAME),
        (WIDE, "lower", Verdict.UNCLEAR),
        (SLOWER, "none", None),
    ],
)
def test_verdict(values, direction, verdict):
    assert compare({"base": BASE, "arm": values}, direction).comparisons["arm"].verdict is verdict


def test_a_real_difference_inside_the_margin_is_same():
    small = [value * 1.01 for value in (1000.0, 1000.1, 999.9, 1000.05, 999.95)]
    analysis = compare({"base": [1000.0, 1000.1, 999.9, 1000.05, 999.95], "arm": small})
    assert analysis.pairs[0].separated
    assert analysis.comparisons["arm"].verdict is Verdict.SAME
    assert analysis.letters == {"base": "a", "arm": "b"}
    tight = compare({"base": [1000.0, 1000.1, 999.9, 1000.05, 999.95], "arm": small}, margin=0.005)
    assert tight.comparisons["arm"].verdict is Verdict.WORSE


def test_letters_start_at_the_better_end():
    data = {"base": BASE, "arm": SLOWER}
    assert compare(data, "lower").letters == {"base": "a", "arm": "b"}
    assert compare(data, "higher").letters == {"arm": "a", "base": "b"}


def test_baseline_gets_no_verdict():
    baseline = compare({"base": BASE, "arm": SLOWER}).comparisons["base"]
    assert (baseline.verdict, baseline.percent, baseline.p) == (None, None, None)


def test_all_values_identical():
    analysis = compare({"base": [5.0] * 6, "arm": [5.0] * 6, "third": [5.0] * 6})
    assert analysis.comparisons["arm"].verdict is Verdict.SAME
    assert analysis.comparisons["arm"].percent_interval == Interval(0.0, 0.0)
    assert analysis.anova.f is None
    assert set(analysis.letters.values()) == {"a"}
    assert kinds(analysis) == ["constant"]


@pytest.mark.parametrize(("n", "verdict"), [(2, Verdict.UNCLEAR), (3, Verdict.UNCLEAR), (4, Verdict.WORSE)])
def test_constant_arms_are_tested_by_permutation(n, verdict):
    """2 / C(2n, n) is 0.33, 0.1 and 0.029 for n of 2, 3 and 4."""
    comparison = compare({"base": [12.0] * n, "arm": [13.0] * n}).comparisons["arm"]
    assert comparison.verdict is verdict
    assert comparison.p == pytest.approx({2: 1 / 3, 3: 0.1, 4: 1 / 35}[n])


def test_copies_of_one_run_are_no_evidence():
    analysis = compare({"base": [12.0] * 9, "arm": [13.0] * 9, "twin": [12.0] * 9}, repeats_exactly=True)
    assert analysis.comparisons["arm"].verdict is Verdict.UNCLEAR
    assert analysis.comparisons["arm"].percent == pytest.approx(100 / 12)
    assert analysis.comparisons["twin"].verdict is Verdict.SAME
    assert analysis.letters == {}
    assert kinds(analysis) == ["copies"]


def test_one_sample_each_shows_the_difference_and_decides_nothing():
    analysis = compare({"base": [10.0], "arm": [30.0]})
    comparison = analysis.comparisons["arm"]
    assert (comparison.verdict, comparison.percent) == (Verdict.UNCLEAR, 200.0)
    assert comparison.interval is None
    assert analysis.anova is None
    assert kinds(analysis) == ["few"]


def test_two_samples_each_are_enough_for_a_huge_difference():
    analysis = compare({"base": [10.0, 10.1], "arm": [30.0, 30.1]})
    assert analysis.comparisons["arm"].verdict is Verdict.WORSE
    assert kinds(analysis)[0] == "few"


def test_an_arm_without_valid_samples_is_void_and_leaves_the_rest_alone():
    without = compare({"base": BASE, "arm": SLOWER})
    with_void = compare({"base": BASE, "arm": SLOWER, "gone": []})
    assert with_void.comparisons["gone"].verdict is Verdict.VOID
    assert with_void.pairs == without.pairs
    assert "gone" not in with_void.summaries


def test_a_void_baseline_leaves_nothing_to_compare_with_but_still_letters():
    analysis = compare({"base": [], "arm": BASE, "other": SLOWER})
    assert analysis.comparisons["base"].verdict is Verdict.VOID
    assert analysis.comparisons["arm"].verdict is Verdict.UNCLEAR
    assert analysis.letters == {"arm": "a", "other": "b"}
    assert "baseline" in kinds(analysis)


def test_nothing_valid_at_all():
    analysis = compare({"base": [], "arm": []})
    assert {c.verdict for c in analysis.comparisons.values()} == {Verdict.VOID}
    assert analysis.anova is None


def test_a_single_arm_is_described_and_not_judged():
    analysis = compare({"only": BASE})
    assert analysis.summaries["only"].n == 6
    assert (analysis.pairs, analysis.anova, analysis.letters) == ((), None, {})


@pytest.mark.parametrize("shift", [-100.0, -500.0])
def test_zero_and_negative_values_are_compared_in_units(shift):
    analysis = compare({"base": [v + shift for v in BASE], "arm": [v + shift for v in SLOWER]})
    comparison = analysis.comparisons["arm"]
    assert not analysis.relative
    assert (comparison.percent, comparison.percent_interval) == (None, None)
    assert comparison.difference == pytest.approx(20)
    assert comparison.verdict is Verdict.WORSE


def test_a_baseline_lost_in_its_noise_is_compared_in_units():
    analysis = compare({"base": [0.1, 9.0, 0.2], "arm": [500.0, 508.0, 503.0]})
    assert not analysis.relative
    assert analysis.comparisons["arm"].verdict is Verdict.WORSE


@pytest.mark.parametrize("scale", [1e-300, 1e-30, 1e30, 1e300])
def test_the_unit_does_not_matter(scale):
    plain = compare({"base": BASE, "arm": SLOWER, "wide": WIDE})
    scaled = compare(
        {arm: [v * scale for v in data] for arm, data in (("base", BASE), ("arm", SLOWER), ("wide", WIDE))}
    )
    assert scaled.anova.f == pytest.approx(plain.anova.f)
    for arm in ("arm", "wide"):
        ours, reference = scaled.comparisons[arm], plain.comparisons[arm]
        assert ours.verdict is reference.verdict
        assert ours.p == pytest.approx(reference.p)
        assert ours.percent_interval.low == pytest.approx(reference.percent_interval.low)


def test_unequal_spread_names_the_pairs_that_fail_without_pooling():
    data = {"base": [100.0, 130.0, 70.0, 140.0, 60.0, 100.0], "arm": SLOWER, "third": [v + 80 for v in BASE]}
    (warning,) = [w for w in compare(data).warnings if w.kind == "spread"]
    assert "Brown-Forsythe" in warning.text
    assert "Games-Howell" in warning.text


def test_drift_along_the_run_order():
    rising = {"base": [100.0, 103, 106, 109, 112, 115], "arm": [101.0, 104, 107, 110, 113, 116]}
    assert "drift" in kinds(compare(rising))
    assert "drift" not in kinds(compare({"base": BASE, "arm": NEAR}))


@pytest.mark.parametrize(("factor", "blocks"), [(1.0, "about 769 blocks"), (2.0, "more than 1000 blocks")])
def test_unclear_says_how_many_blocks_would_decide(factor, blocks):
    """6 blocks and a half-width of 22.6 % need 6 * (22.6 / 2)^2."""
    wide = [100 + factor * (value - 100) for value in WIDE]
    (warning,) = [w for w in compare({"base": BASE, "arm": wide}).warnings if w.kind == "resolution"]
    assert blocks in warning.text


def test_an_unknown_baseline_is_refused_by_name():
    with pytest.raises(ValueError, match="'nobody' is not one of the arms: base"):
        analyse({"base": [Observation(1.0, 0)]}, Question("nobody", "lower"))

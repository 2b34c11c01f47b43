"""Which glyph an arm gets, and the data that must not get one."""

import math
import random

import pytest
from compared import BASE, NEAR, SLOWER, WIDE, compare, kinds, on_grid, sentences, step_of

from runoff.statistics import Interval, Observation, Question, Verdict, analyse, analyse_classic


@pytest.mark.parametrize(
    ("values", "direction", "verdict"),
    [
        (SLOWER, "lower", Verdict.WORSE),
        (SLOWER, "higher", Verdict.BETTER),
        (NEAR * 8, "lower", Verdict.SAME),
        (WIDE, "lower", Verdict.UNCLEAR),
        (SLOWER, "none", None),
    ],
)
def test_verdict(values, direction, verdict):
    base = BASE * (len(values) // len(BASE))
    assert compare({"base": base, "arm": values}, direction).comparisons["arm"].verdict is verdict


def test_a_real_difference_inside_the_margin_is_same():
    base = [1000.0, 1000.1, 999.9, 1000.05, 999.95] * 9
    small = [value * 1.01 for value in [1000.1, 1000.0, 999.9, 1000.0, 999.95] * 9]
    comparison = compare({"base": base, "arm": small}).comparisons["arm"]
    assert comparison.separated
    assert comparison.verdict is Verdict.SAME
    assert compare({"base": base, "arm": small}, margin=0.005).comparisons["arm"].verdict is Verdict.WORSE


def test_baseline_gets_no_verdict():
    baseline = compare({"base": BASE, "arm": SLOWER}).comparisons["base"]
    assert (baseline.verdict, baseline.percent, baseline.p, baseline.separated) == (None, None, None, False)


def test_all_values_identical():
    """The hidden digits of one number are not known."""
    analysis = compare({"base": [5.0] * 45, "arm": [5.0] * 45, "third": [5.0] * 45})
    assert analysis.comparisons["arm"].verdict is Verdict.UNCLEAR
    assert analysis.comparisons["arm"].advice is None
    assert analysis.comparisons["arm"].percent_interval == Interval(0.0, 0.0)
    assert analyse_classic(analysis).anova.f is None
    assert set(analyse_classic(analysis).letters.values()) == {"a"}
    assert kinds(analysis) == ["constant"]


@pytest.mark.parametrize(
    ("n", "arms", "verdict", "p"),
    [
        (5, 2, Verdict.UNCLEAR, 0.0625),
        (6, 2, Verdict.WORSE, 0.03125),
        (6, 3, Verdict.UNCLEAR, 1 - (1 - 0.03125) ** 2),
        (7, 3, Verdict.WORSE, 1 - (1 - 0.015625) ** 2),
    ],
)
def test_constant_differences_are_tested_by_their_signs(n, arms, verdict, p):
    """Two of all 2^n ways to exchange the arms within blocks sort them completely."""
    third = {"third": [12.5] * n} if arms == 3 else {}
    comparison = compare({"base": [12.0] * n, "arm": [13.0] * n, **third}).comparisons["arm"]
    assert comparison.verdict is verdict
    assert comparison.p == pytest.approx(p)


def test_a_constant_ratio_is_a_constant_difference():
    """Blocks vary, the arm is a tenth slower in each."""
    comparison = compare({"base": WIDE, "arm": [1.1 * value for value in WIDE]}).comparisons["arm"]
    assert comparison.sd == 0
    assert comparison.p == pytest.approx(1 / 32)
    assert comparison.percent_interval.low == pytest.approx(10)


@pytest.mark.parametrize(("step", "constant"), [(1e-13, True), (1e-7, False), (1e-9, False)])
def test_a_small_spread_is_a_spread_but_for_rounding(step, constant):
    base = [10.0 * (1 + step * i) for i in range(6)]
    comparison = compare({"base": base, "arm": [11.0] * 6}).comparisons["arm"]
    assert (comparison.sd == 0) is constant
    assert (compare({"base": base, "arm": base}).summaries["base"].sd == 0) is constant


@pytest.mark.parametrize("sign", [1, -1])
def test_the_whole_interval_has_to_be_inside_the_margin(sign):
    base = BASE * 8
    arm = [v * (1 + sign * 0.004) for v in NEAR * 8]
    interval = compare({"base": base, "arm": arm}).comparisons["arm"].percent_interval
    # Values come in steps of 0.1 of 100.
    edge = max(abs(interval.low), abs(interval.high)) / 100 + step_of(base, arm)
    assert compare({"base": base, "arm": arm}, margin=1.02 * edge).comparisons["arm"].verdict is Verdict.SAME
    assert compare({"base": base, "arm": arm}, margin=0.98 * edge).comparisons["arm"].verdict is not Verdict.SAME


@pytest.mark.parametrize(
    ("base", "truth", "sd"), [(8, 0.025, 0.05), (8, 0.078, 0.05), (8, 0.105, 0.03), (8, 0.038, 0.1), (20, 0.02, 0.05)]
)
def test_steps_as_coarse_as_the_margin_are_never_the_same(base, truth, sd):
    """All of these were called the same in each table: 1 ms steps of a time of 8 ms hide 7.8 %."""
    for seed in range(50):
        comparison = compare(on_grid(truth, sd, seed, base=base)).comparisons["arm"]
        assert comparison.verdict is not Verdict.SAME
        assert comparison.coarse


@pytest.mark.parametrize("base", [30.0, 60.1, 52.4, 90.3])
@pytest.mark.parametrize("truth", [0.021, 0.022, 0.025])
def test_steps_somewhat_finer_than_the_margin_do_not_hide_more_than_it(base, truth):
    """Both values cut to a step may be a whole step nearer than they are."""
    for seed in range(20):
        assert compare(on_grid(truth, 0.02, seed, base=base)).comparisons["arm"].verdict is not Verdict.SAME


def test_why_an_interval_inside_the_margin_is_not_enough_is_told():
    data = on_grid(0.0, 0.1, 1, grid=0.05, n=20)
    interval, step = compare(data).comparisons["arm"].percent_interval, step_of(*data.values())
    edge = max(abs(interval.low), abs(interval.high)) / 100
    (told,) = sentences(compare(data, margin=edge + step / 2), "resolution")
    assert told.startswith(f"unclear: arm (a step of its values, {100 * step:.2g} %, counts on both sides of the")
    (told,) = sentences(compare(data, margin=0.9 * edge), "resolution")
    assert told.startswith("unclear: arm;")


def test_an_arithmetic_mean_that_may_be_beyond_the_margin_is_told():
    rng = random.Random(1)
    base, arm = ([100 * math.exp(rng.gauss(0, 0.01)) for _ in range(100)] for _ in range(2))
    analysis = compare({"base": base, "arm": [2 * arm[0], *arm[1:]]}, margin=0.025)
    assert analysis.comparisons["arm"].log_interval.is_inside(math.log1p(-0.025), math.log1p(0.025))
    (told,) = sentences(analysis, "resolution")
    assert told.startswith("unclear: arm (its arithmetic mean may differ by more);")


def test_a_step_as_large_as_the_margin_is_told_once():
    analysis = compare(on_grid(0.0, 0.3, 1, base=50, n=100))
    comparison = analysis.comparisons["arm"]
    assert (comparison.beyond, comparison.coarse, comparison.verdict) == ("step", True, Verdict.UNCLEAR)
    assert kinds(analysis) == ["coarse", "resolution"]
    (told,) = sentences(analysis, "resolution")
    assert told.startswith("unclear: arm;")


def test_before_the_first_look_no_reason_is_told_for_what_is_within_the_margin():
    analysis = compare(on_grid(0.0, 0.01, 1, grid=0.001, n=8), stopping="until")
    comparison = analysis.comparisons["arm"]
    assert (comparison.is_within, comparison.verdict) == (True, Verdict.UNCLEAR)
    (told,) = sentences(analysis, "resolution")
    assert told.startswith("unclear: arm;")


def test_fine_steps_cost_nothing():
    data = on_grid(0.0, 0.05, 1, grid=0.001, base=8)
    assert compare(data).comparisons["arm"].verdict is Verdict.SAME
    assert kinds(compare(data)) == []


def test_coarse_steps_are_reported_with_any_verdict():
    worse = compare(on_grid(0.065, 0.2, 3, base=9.4, n=20))
    assert worse.comparisons["arm"].verdict is Verdict.WORSE
    (warning,) = sentences(worse, "coarse")
    assert warning.startswith("values come in steps of 10 %, and the margin is 2 %: too coarse to call arm the same")
    assert "coarse" not in kinds(compare({"base": WIDE, "arm": [v + 0.5 for v in WIDE]}))
    unlike = compare({"base": [5.0] * 20, "arm": [5.0] * 20, "third": [5.0 + 0.1 * (i % 4) for i in range(20)]})
    (warning,) = sentences(unlike, "coarse")
    assert warning.startswith("all values of arm and of base are one number")


def test_what_is_in_units_is_the_same_only_where_values_differ_from_block_to_block():
    counts = [0.0, 1.0, 0.0, 2.0, 0.0] * 9
    assert compare({"base": counts, "arm": counts}).comparisons["arm"].verdict is Verdict.SAME
    assert compare({"base": [0.0] * 45, "arm": [0.0] * 45}).comparisons["arm"].verdict is Verdict.UNCLEAR


def test_the_same_holds_for_arithmetic_means_too():
    """Two stalls of 45 runs cost 1.4 % in the geometric mean, and 2.5 % in the arithmetic one."""
    base = [100.0 + 0.1 * (i % 5) for i in range(45)]
    arm = [v * (1.55 if i in (7, 30) else 1.0) for i, v in enumerate(base)]
    comparison = compare({"base": base, "arm": arm}, margin=0.05).comparisons["arm"]
    assert comparison.percent == pytest.approx(1.97, abs=0.05)
    assert comparison.percent_interval.high < 5
    assert not comparison.is_within
    assert comparison.verdict is Verdict.UNCLEAR


def test_copies_of_one_run_are_not_evidence():
    analysis = compare({"base": [12.0] * 49, "arm": [13.0] * 49, "twin": [12.0] * 49}, repeats_exactly=True)
    assert analysis.comparisons["arm"].verdict is Verdict.UNCLEAR
    assert analysis.comparisons["arm"].percent == pytest.approx(100 / 12)
    assert analysis.comparisons["twin"].verdict is Verdict.UNCLEAR
    assert analyse_classic(analysis).letters == {}
    assert kinds(analysis) == ["copies"]


def test_one_sample_each_shows_the_difference_and_decides_nothing():
    analysis = compare({"base": [10.0], "arm": [30.0]})
    comparison = analysis.comparisons["arm"]
    assert (comparison.verdict, comparison.percent) == (Verdict.UNCLEAR, pytest.approx(200.0))
    assert comparison.percent_interval is None
    assert analyse_classic(analysis).anova is None
    assert kinds(analysis) == ["few", "resolution"]
    assert "one block has no spread" in sentences(analysis)[-1]


def test_two_samples_each_are_enough_for_a_huge_difference():
    analysis = compare({"base": [10.0, 10.1], "arm": [30.0, 30.31]})
    assert analysis.comparisons["arm"].verdict is Verdict.WORSE
    assert kinds(analysis)[0] == "few"


def test_a_void_baseline_leaves_nothing_to_compare_with():
    analysis = compare({"base": [], "arm": BASE, "other": SLOWER})
    assert analysis.comparisons["base"].verdict is Verdict.VOID
    assert analysis.comparisons["arm"].verdict is Verdict.UNCLEAR
    assert analyse_classic(analysis).letters == {"arm": "a", "other": "b"}
    assert "or name another arm first" in sentences(analysis)[0]


def test_without_any_valid_sample_no_other_baseline_is_recommended():
    analysis = compare({"base": [], "arm": []})
    assert {c.verdict for c in analysis.comparisons.values()} == {Verdict.VOID}
    assert analyse_classic(analysis).anova is None
    (sentence,) = sentences(analysis)
    assert "name another arm" not in sentence
    assert "take them again" in sentence


def test_a_single_arm_is_described_and_not_judged():
    analysis = compare({"only": BASE})
    assert analysis.summaries["only"].n == 6
    found = analyse_classic(analysis)
    assert (found.pairs, found.anova, found.letters) == ((), None, {})


@pytest.mark.parametrize("shift", [-100.0, -500.0])
def test_zero_and_negative_values_are_compared_in_units(shift):
    analysis = compare({"base": [v + shift for v in BASE], "arm": [v + shift for v in SLOWER]})
    comparison = analysis.comparisons["arm"]
    assert not analysis.is_relative
    assert (comparison.percent, comparison.percent_interval) == (None, None)
    assert comparison.difference == pytest.approx(20, abs=0.2)
    assert comparison.verdict is Verdict.WORSE


def test_a_third_arm_with_a_zero_leaves_the_others_their_percent():
    comparisons = compare({"base": BASE, "arm": SLOWER, "zero": [0.0] * 6}).comparisons
    assert comparisons["arm"].percent == pytest.approx(20, abs=0.2)
    assert comparisons["zero"].percent is None
    assert comparisons["zero"].difference == pytest.approx(-100, abs=0.2)


def test_values_too_far_apart_have_no_percent():
    comparison = compare({"base": [1e-9, 2e-9, 1e-9], "arm": [5.0, 5.1, 5.2]}).comparisons["arm"]
    assert comparison.percent is None
    assert compare({"base": [1e-8, 2e-8, 1e-8], "arm": [5.0, 5.1, 5.2]}).comparisons["arm"].percent > 1e10


@pytest.mark.parametrize("scale", [1e-300, 1e-30, 1e30, 1e300])
def test_the_unit_does_not_matter(scale):
    data = {"base": BASE, "arm": SLOWER, "wide": WIDE}
    plain = compare(data)
    scaled = compare({arm: [v * scale for v in values] for arm, values in data.items()})
    assert analyse_classic(scaled).anova.f == pytest.approx(analyse_classic(plain).anova.f)
    for arm in ("arm", "wide"):
        ours, reference = scaled.comparisons[arm], plain.comparisons[arm]
        assert ours.verdict is reference.verdict
        assert ours.p == pytest.approx(reference.p)
        assert ours.percent_interval.low == pytest.approx(reference.percent_interval.low)


WILD = [20.0, 900.0, 3.0, 5000.0, 77.0, 400.0]


@pytest.mark.parametrize("third", [WILD, [10 * v for v in BASE], [0.0] * 6, [-5.0] * 6, [], WILD[:1]])
def test_a_third_arm_changes_nothing_for_another_but_their_number(third):
    """The spread, size, voids and sign do not reach the comparison of two others."""
    usual = compare({"base": BASE, "arm": SLOWER, "third": [v + 1 for v in NEAR]})
    here = compare({"base": BASE, "arm": SLOWER, "third": third})
    assert here.comparisons["arm"] == usual.comparisons["arm"]
    assert here.summaries["arm"] == usual.summaries["arm"]
    two = compare({"base": BASE, "arm": SLOWER}).comparisons["arm"]
    assert here.comparisons["arm"].p == pytest.approx(1 - (1 - two.p) ** 2)


def test_only_blocks_with_a_valid_sample_of_both_count():
    base = [Observation(value, 2 * block, block) for block, value in enumerate(BASE)]
    arm = [Observation(value, 2 * block + 1, block) for block, value in enumerate(SLOWER)]
    some = analyse({"base": base[1:], "arm": arm[:4]}, Question("base", "lower")).comparisons["arm"]
    cut = analyse({"base": base[1:4], "arm": arm[1:4]}, Question("base", "lower")).comparisons["arm"]
    assert some == cut
    assert some.n == 3


def test_blocks_that_never_meet_leave_an_arm_unclear():
    base = [Observation(value, 2 * block, block) for block, value in enumerate(BASE)]
    arm = [Observation(value, 100 + block, 100 + block) for block, value in enumerate(SLOWER)]
    comparison = analyse({"base": base, "arm": arm}, Question("base", "lower")).comparisons["arm"]
    assert (comparison.verdict, comparison.difference, comparison.n) == (Verdict.UNCLEAR, None, 0)


def test_effects_of_blocks_on_all_arms_are_not_noise():
    levels = [1.0, 3.0, 0.5, 8.0, 2.0, 1.5]
    calm = compare({"base": BASE, "arm": SLOWER}).comparisons["arm"]
    rough = compare(
        {"base": [v * f for v, f in zip(BASE, levels, strict=True)],
         "arm": [v * f for v, f in zip(SLOWER, levels, strict=True)]}
    ).comparisons["arm"]  # fmt: skip
    assert rough.percent == pytest.approx(calm.percent)
    assert rough.percent_interval.low == pytest.approx(calm.percent_interval.low)
    assert rough.p == pytest.approx(calm.p)


def test_two_values_in_one_block_are_refused():
    twice = [Observation(1.0, 0, 0), Observation(2.0, 1, 0)]
    with pytest.raises(ValueError, match="'arm' has two values in one block"):
        analyse({"base": [Observation(1.0, 2, 0)], "arm": twice}, Question("base", "lower"))


def test_an_unknown_baseline_is_refused_by_name():
    with pytest.raises(ValueError, match="'nobody' is not one of the arms: base"):
        analyse({"base": [Observation(1.0, 0, 0)]}, Question("nobody", "lower"))

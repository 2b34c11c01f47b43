"""One metric on several machines: what the single machines add up to, and when they do not."""

from collections.abc import Sequence

import numpy as np
import pytest
from scipy import stats

from runoff.statistics import Observation, Question, Verdict, analyse_machines
from runoff.statistics.heterogeneity import Moments, estimate_sd, find_p_of_equal_means

QUESTION = Question("a", "lower")


def observe(changes: Sequence[float], speed: float = 1.0) -> dict[str, list[Observation]]:
    """Return one machine: a block for each of these log ratios of b to a, which is first in every second."""
    return {
        "a": [Observation(speed, 2 * block + block % 2, block) for block in range(len(changes))],
        "b": [
            Observation(speed * float(np.exp(c)), 2 * block + 1 - block % 2, block) for block, c in enumerate(changes)
        ],
    }


def compare(machines: dict[str, Sequence[float]], question: Question = QUESTION):
    speeds = np.geomspace(1, 50, len(machines))
    observed = {name: observe(each, float(s)) for (name, each), s in zip(machines.items(), speeds, strict=True)}
    return analyse_machines(observed, question).comparisons["b"]


def test_the_means_of_machines_have_no_quantiles():
    observed = {name: observe([0.01, 0.02, 0.03]) for name in ("one", "two")}
    assert [each.quantiles for each in analyse_machines(observed, QUESTION).summaries.values()] == [None, None]


def test_one_machine_with_a_spread_does_not_tell_how_machines_differ():
    between = compare({"one": [0.04, 0.06, 0.05], "two": [0.07]}).between
    assert (between.machines, between.sd, between.p) == (2, None, None)


def test_the_interval_is_that_of_students_t_over_the_machines_mean_changes():
    machines = {"one": [0.04, 0.06], "two": [0.07], "three": [0.02, 0.03, 0.04], "four": [0.05] * 20}
    means = [np.mean(each) for each in machines.values()]
    found = compare(machines)
    low, high = stats.t.interval(0.95, 3, np.mean(means), stats.sem(means))
    assert (found.log_interval.low, found.log_interval.high) == pytest.approx((low, high), rel=1e-9)
    assert found.p == pytest.approx(stats.ttest_1samp(means, 0).pvalue, rel=1e-9)
    assert (found.verdict, found.n, found.units) == (Verdict.WORSE, 26, 4)


def test_a_machine_counts_once_however_many_blocks_it_has():
    few = {"one": [0.04, 0.06], "two": [-0.01, 0.01], "three": [0.02, 0.04]}
    many = few | {"three": [0.02, 0.04] * 50}
    assert compare(few).log_mean == pytest.approx(compare(many).log_mean, rel=1e-9)


def test_two_machines_have_the_hull_of_their_intervals():
    machines = {"one": [0.049, 0.05, 0.051], "two": [0.099, 0.1, 0.101]}
    found = compare(machines)
    ends = [stats.t.interval(0.95, 2, np.mean(each), stats.sem(each)) for each in machines.values()]
    assert found.log_interval.low == pytest.approx(min(low for low, _ in ends), rel=1e-9)
    assert found.log_interval.high == pytest.approx(max(high for _, high in ends), rel=1e-9)
    assert found.verdict is Verdict.WORSE
    assert compare({"one": [0.05], "two": [0.1]}).verdict is Verdict.UNCLEAR
    alone = compare({"one": [0.05, 0.06], "two": [0.1]})
    assert (alone.log_interval, alone.interval, alone.p) == (None, None, None)


@pytest.mark.parametrize("machines", [2, 3])
def test_why_an_interval_inside_the_margin_is_not_enough_is_known(machines: int):
    step = 0.004
    drawn = {f"{number}": [step * (number + each) for each in (0, 1, 2, 1)] for number in range(machines)}
    edge = compare(drawn).log_interval.high
    found = compare(drawn, Question("a", "lower", margin=np.expm1(edge + step / 2)))
    assert (found.beyond, found.verdict, found.coarse) == ("step", Verdict.UNCLEAR, False)
    assert compare(drawn, Question("a", "lower", margin=np.expm1(edge + 1.1 * step))).beyond == "nothing"
    assert compare(drawn, Question("a", "lower", margin=np.expm1(0.9 * edge))).beyond == "interval"


def test_opposite_changes_are_said_and_not_averaged_away():
    found = compare({"one": [0.10, 0.11, 0.12], "two": [-0.10, -0.11, -0.12], "three": [0.01, -0.01, 0.02]})
    assert found.verdict is Verdict.MIXED
    assert (found.between.better, found.between.worse) == (("two",), ("one",))
    assert found.between.p < 0.001
    # Where neither direction is better there is nothing to be mixed.
    plain = compare({"one": [0.10, 0.11, 0.12], "two": [-0.10, -0.11, -0.12]}, Question("a", "none"))
    assert (plain.verdict, plain.between.better, plain.between.worse) == (None, (), ())


def test_machines_are_said_to_differ_where_they_do():
    def kinds(machines: dict[str, Sequence[float]]) -> list[str]:
        observed = {name: observe(each) for name, each in machines.items()}
        return [each.kind for each in analyse_machines(observed, QUESTION).warnings]

    assert "machines" in kinds({"one": [0.10, 0.11, 0.12], "two": [-0.10, -0.11, -0.12], "three": [0.01, -0.01, 0.02]})
    assert "machines" not in kinds({name: [0.10, 0.11, 0.12] for name in ("one", "two", "three")})


def test_what_is_inside_the_margin_is_on_no_side():
    found = compare({"one": [0.010, 0.0101, 0.0099], "two": [-0.10, -0.11, -0.12]})
    assert (found.between.better, found.between.worse) == (("two",), ())


def test_one_block_on_each_machine_says_nothing_of_machines():
    observed = {name: observe([change]) for name, change in {"one": 0.1, "two": 0.11, "three": 0.12}.items()}
    analysis = analyse_machines(observed, QUESTION)
    between = analysis.comparisons["b"].between
    assert (between.p, between.sd, between.machines) == (None, None, 3)
    assert [warning.kind for warning in analysis.warnings] == ["one_block"]
    assert analysis.comparisons["b"].verdict is Verdict.WORSE


def test_an_arm_without_a_valid_sample_on_one_machine_is_judged_by_the_others():
    observed = {name: observe([0.1, 0.11, 0.12]) for name in ("one", "two", "three")}
    observed["two"]["b"] = []
    found = analyse_machines(observed, QUESTION)
    assert found.comparisons["b"].between.machines == 2
    assert found.machines["two"].comparisons["b"].verdict is Verdict.VOID
    for machine in observed.values():
        machine["b"] = []
    assert analyse_machines(observed, QUESTION).comparisons["b"].verdict is Verdict.VOID


def test_values_without_ratios_are_compared_in_their_unit():
    observed = {name: observe([0.1, 0.2, 0.3]) for name in ("one", "two")}
    observed["one"]["a"][0] = Observation(0.0, 0, 0)
    found = analyse_machines(observed, QUESTION).comparisons["b"]
    assert found.log_mean is None
    assert found.difference is not None


def test_with_equal_groups_the_ratio_is_that_of_analysis_of_variance():
    values = [np.array([1.0, 2.0, 3.0]), np.array([2.0, 3.0, 4.0]), np.array([6.0, 7.0, 8.0])]
    f, _ = stats.f_oneway(*values)
    groups = [Moments.from_values(each) for each in values]
    # Equal variances and sizes: Mehrotra's degrees of freedom are the usual ones too.
    assert find_p_of_equal_means(groups) == pytest.approx(stats.f.sf(f, 2, 6), rel=1e-9)
    assert estimate_sd(groups) == pytest.approx(np.sqrt(np.var([2, 3, 7], ddof=1) - 1 / 3), rel=1e-9)


def test_groups_that_do_not_vary_differ_for_certain_or_not_at_all():
    assert find_p_of_equal_means([Moments(2, 1.0, 0.0), Moments(2, 1.0, 0.0)]) == 1
    assert find_p_of_equal_means([Moments(2, 1.0, 0.0), Moments(2, 2.0, 0.0)]) == 0


@pytest.mark.parametrize(("machines", "blocks"), [(3, 1), (3, 3), (7, 3)])
def test_changes_that_cancel_out_over_machines_seldom_have_a_verdict(machines: int, blocks: int):
    """A small part of bench/machine_errors.py; 5.5 %, and three standard errors of these few campaigns."""
    rng = np.random.default_rng([machines, blocks])
    campaigns, wrong = 300, 0
    for _ in range(campaigns):
        noise, effects = np.linspace(0.01, 0.04, machines), rng.normal(0, 0.05, machines)
        drawn = {f"{number}": rng.normal(effects[number], noise[number], blocks) for number in range(machines)}
        wrong += compare(drawn, Question("a", "lower", margin=1e-9)).verdict in (Verdict.BETTER, Verdict.WORSE)
    assert wrong / campaigns <= 0.055 + 3 * np.sqrt(0.055 * 0.945 / campaigns)


def test_machines_together_have_the_coarsest_step_of_them():
    fine, coarse = [0.0, 0.001, 0.002, 0.001], [0.0, 0.004, 0.008, 0.004]
    for machines in ({"one": coarse, "two": fine}, {"one": fine, "two": coarse, "three": fine}):
        assert compare(machines).step == pytest.approx(0.004, rel=0.01)
    equal = compare({"one": fine, "two": [0.0] * 4, "three": fine})
    assert (equal.step, equal.coarse) == (None, True)


def test_two_machines_that_disagree_show_nothing_together():
    machines = {"one": [0.10, 0.11, 0.12], "two": [-0.10, -0.11, -0.12]}
    assert compare(machines).p == 1
    agreed = compare(machines | {"two": [0.30, 0.32, 0.31]})
    own = [stats.ttest_1samp(each, 0).pvalue for each in (machines["one"], [0.30, 0.32, 0.31])]
    assert agreed.p == pytest.approx(max(own), rel=1e-6)


def test_a_machine_has_a_side_only_where_that_holds_for_all_machines_together():
    """One of three whose p is 0.037: if none differs, one has that in a tenth of campaigns."""
    change = np.array([0.02, 0.05, 0.11, 0.08, 0.03])
    change += 0.03 - change.mean()
    machines = {"one": change, "two": [0.01, -0.02, 0.012, -0.011, 0.0], "three": [0.01, -0.01, 0.02, -0.02, 0.0]}
    for scale, worse in ((0.6, ()), (0.3, ("one",))):
        machines["one"] = change.mean() + scale * (change - change.mean())
        observed = {name: observe(each) for name, each in machines.items()}
        found = analyse_machines(observed, Question("a", "lower", margin=1e-6))
        one = found.machines["one"].comparisons["b"]
        p = stats.ttest_1samp(machines["one"], 0).pvalue
        assert (one.p, one.p_report) == (pytest.approx(p), pytest.approx(1 - (1 - p) ** 3))
        half = stats.t.isf((1 - 0.95 ** (1 / 3)) / 2, 4) * stats.sem(machines["one"])
        assert one.joint_interval.low == pytest.approx(0.03 - half)
        assert found.comparisons["b"].between.worse == worse


def test_machines_that_were_looked_at_on_the_way_are_taken_once():
    """The rule for looking again is one of blocks: it holds on each machine, and not over machines."""
    machines = {"one": [0.04, 0.06], "two": [0.07, 0.09], "three": [0.02, 0.03], "four": [0.05, 0.01]}
    asked = Question("a", "lower", stopping="until")
    assert compare(machines, asked).log_interval == compare(machines).log_interval
    assert not compare(machines, asked).is_sequential
    observed = {name: observe(each) for name, each in machines.items()}
    assert analyse_machines(observed, asked).machines["one"].comparisons["b"].is_sequential


def test_the_arithmetic_means_of_machines_have_to_be_inside_the_margin_too():
    """Half of the runs take 1.5 times as long, half two thirds: no change in the geometric mean, 8 % in the other."""
    base = [1.0, 1.011, 1.023, 1.037]
    observed = {
        f"{number}": {
            "a": [Observation(value, 2 * block, block) for block, value in enumerate(base)],
            "b": [
                Observation(value * 1.5 ** (-1) ** block * (1 + 1e-5 * number), 2 * block + 1, block)
                for block, value in enumerate(base)
            ],
        }
        for number in range(3)
    }
    for margin, found in ((0.06, "mean"), (0.1, "nothing")):
        comparison = analyse_machines(observed, Question("a", "lower", margin=margin)).comparisons["b"]
        assert comparison.log_mean == pytest.approx(0, abs=1e-4)
        assert comparison.beyond == found


def test_two_machines_without_spread_are_on_no_side():
    found = compare({"one": [0.05], "two": [0.1]})
    assert (found.separated, found.beyond, found.p) == (False, "interval", None)


def test_runs_that_are_one_number_up_to_rounding_do_not_vary():
    """The size of both arms' values decides that, as their difference has the digits of the larger."""
    observed = {
        name: {
            "a": [Observation(value, block, block) for block in range(3)],
            "b": [Observation(each * 1e-8, 3 + each, each) for each in range(1, 4)],
        }
        for name, value in {"one": -1e6, "two": -2e6}.items()
    }
    between = analyse_machines(observed, Question("a", "lower", paired=False)).comparisons["b"].between
    assert between.p == 0

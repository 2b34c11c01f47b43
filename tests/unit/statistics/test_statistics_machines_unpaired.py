"""One metric on several machines whose runs are in no blocks: each by its own spread, then the machines by theirs."""

from collections.abc import Sequence

import numpy as np
import pytest
from scipy import stats

from runoff.statistics import Observation, Question, Verdict, analyse_machines
from runoff.statistics.machine_effects import IN_RUNS

QUESTION = Question("a", "lower", paired=False)
Runs = tuple[Sequence[float], Sequence[float]]


def observe(runs: Runs, speed: float) -> dict[str, list[Observation]]:
    """Return one machine with these logarithms of runs of a and b."""
    return {
        arm: [Observation(speed * float(np.exp(log)), number, number) for number, log in enumerate(logs)]
        for arm, logs in zip("ab", runs, strict=True)
    }


def analyse(machines: dict[str, Runs], question: Question = QUESTION):
    speeds = np.geomspace(1, 50, len(machines))
    observed = {name: observe(runs, float(s)) for (name, runs), s in zip(machines.items(), speeds, strict=True)}
    return analyse_machines(observed, question)


def draw(*shifts: float, counts: Sequence[tuple[int, int]] = ((9, 5), (4, 12), (20, 3))) -> dict[str, Runs]:
    rng = np.random.default_rng(5)
    return {
        f"m{number}": (rng.normal(0, 0.02, one).tolist(), rng.normal(shift, 0.02, two).tolist())
        for number, (shift, (one, two)) in enumerate(zip(shifts, counts, strict=False))
    }


def test_the_interval_is_students_t_over_the_changes_of_each_machine() -> None:
    machines = draw(0.05, 0.07, 0.04)
    changes = [np.mean(b) - np.mean(a) for a, b in machines.values()]
    found = analyse(machines).comparisons["b"]
    low, high = stats.t.interval(0.95, 2, np.mean(changes), stats.sem(changes))
    assert (found.log_interval.low, found.log_interval.high) == pytest.approx((low, high), rel=1e-9)
    assert found.p == pytest.approx(stats.ttest_1samp(changes, 0).pvalue, rel=1e-9)
    assert (found.n, found.units) == (5 + 4 + 3, 3)


def test_two_machines_have_the_hull_of_welchs_intervals() -> None:
    machines = draw(0.08, 0.12, counts=((9, 8), (7, 6)))
    analysis = analyse(machines)
    ends = [stats.ttest_ind(b, a, equal_var=False).confidence_interval(0.95) for a, b in machines.values()]
    found = analysis.comparisons["b"].log_interval
    assert found.low == pytest.approx(min(each.low for each in ends), rel=1e-9)
    assert found.high == pytest.approx(max(each.high for each in ends), rel=1e-9)
    assert analysis.comparisons["b"].verdict is Verdict.WORSE


def test_each_machine_is_judged_at_a_level_for_all_of_them() -> None:
    machines = draw(0.05, 0.07, 0.04)
    own = analyse(machines).machines["m1"].comparisons["b"]
    a, b = machines["m1"]
    ends = stats.ttest_ind(b, a, equal_var=False).confidence_interval(0.95 ** (1 / 3))
    assert (own.joint_interval.low, own.joint_interval.high) == pytest.approx((ends.low, ends.high), rel=1e-9)


def test_opposite_changes_are_said_and_not_averaged_away() -> None:
    between = analyse(draw(0.10, -0.10, 0.0)).comparisons["b"].between
    assert (between.better, between.worse) == (("m1",), ("m0",))
    assert between.p < 0.001
    same = analyse(draw(0.05, 0.05, 0.05)).comparisons["b"].between
    assert same.p > 0.05


def test_equal_noise_and_sizes_give_the_ratio_of_an_analysis_of_variance_of_the_changes() -> None:
    machines = draw(0.0, 0.03, 0.06, counts=((10, 10),) * 3)
    between = analyse(machines).comparisons["b"].between
    errors = [np.sqrt(np.var(a, ddof=1) / 10 + np.var(b, ddof=1) / 10) for a, b in machines.values()]
    changes = [np.mean(b) - np.mean(a) for a, b in machines.values()]
    assert between.sd == pytest.approx(np.sqrt(np.var(changes, ddof=1) - np.mean(np.square(errors))), rel=1e-9)


def test_runs_are_not_blocks() -> None:
    machines = draw(0.05, 0.07, 0.04)
    turned = {name: (a, b[::-1]) for name, (a, b) in machines.items()}
    one, two = (analyse(each).comparisons["b"] for each in (machines, turned))
    assert one.log_mean == pytest.approx(two.log_mean, rel=1e-9)
    assert one.p == pytest.approx(two.p, rel=1e-9)
    assert one.between.p == pytest.approx(two.between.p, rel=1e-9)


def test_a_machine_without_a_run_of_an_arm_is_left_out() -> None:
    machines = draw(0.05, 0.07, 0.04)
    machines["m1"] = (machines["m1"][0], [])
    found = analyse(machines)
    assert found.comparisons["b"].between.machines == 2
    assert found.machines["m1"].comparisons["b"].verdict is Verdict.VOID


def test_what_is_left_of_rounding_beside_large_values_is_no_spread():
    """As the 5.6e-17 of 0.1 + 0.2 - 0.3 beside ones: the spread of neither arm is known to be more than nothing."""
    rest, ones = (
        [Observation(value, i, i) for i, value in enumerate(each)] for each in ([0.0, 5.6e-17] * 2, [1.0] * 4)
    )
    moments = IN_RUNS.find_effect(rest, ones).moments
    assert (moments.n, moments.variance) == (7, 0)

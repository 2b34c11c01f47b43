"""What stands otherwise than the headline: the typical case beside a tail, the whole run beside a part of it."""

import pytest
from report_examples import campaign

from runoff.analysis.build import build_report
from runoff.analysis.counterparts import find_counterparts
from runoff.report.figures import forest
from runoff.report.terminal.screen import render
from runoff.report.words.counterparts import list_drawn
from runoff.report.words.sentences import render_verdict
from runoff.results import Metric

TAIL = Metric("wakeup_p99_us", "us", "lower", "wake-up latency, 99th percentile", headline=True)
MEDIAN = Metric("wakeup_p50_us", "us", "lower", "wake-up latency, median")
OTHER_MEDIAN = Metric("request_p50_us", "us", "lower", "request latency, median")
PART = Metric("time_s", "s", "lower", "time to pass all messages", headline=True)
WHOLE = Metric("elapsed_s", "s", "lower", "elapsed time")
NOISE = 0.01


def judged(metrics, changes, *, blocks=10, noise=NOISE, seed=1, **fields):
    """The report of arms a (the baseline), b, c, ...: ``changes[metric]`` has what each of the others is times a."""
    arms = "abcdefg"[: 1 + max(len(each) for each in changes.values())]
    means = {name: [100.0, *(100.0 * factor for factor in factors)] for name, factors in changes.items()}
    cells = {
        arm: {name: (mean[place], mean[place] * noise) for name, mean in means.items()}
        for place, arm in enumerate(arms)
    }
    return build_report(campaign({"work": cells}, {"work": tuple(metrics)}, blocks=blocks, seed=seed, **fields))


def told(report):
    return [(each.kind, each.table.metric.name, each.arms) for each in find_counterparts(report.tables)]


def test_a_median_that_is_better_where_the_tail_is_worse_is_told():
    report = judged((TAIL, MEDIAN, OTHER_MEDIAN), {TAIL.name: [5], MEDIAN.name: [0.02], OTHER_MEDIAN.name: [0.02]})
    assert told(report) == [("typical", MEDIAN.name, ("b",))]
    sentences = render_verdict(report)
    assert "b (x4.97) is worse than a" in sentences[0]
    assert sentences[1].startswith("In the typical case (work wake-up latency, median) b (-98")
    assert sentences[1].endswith("is better than a.")


def test_a_run_that_takes_longer_where_the_part_that_is_measured_is_shorter_is_told():
    report = judged((PART, WHOLE), {PART.name: [0.2, 1.0, 0.2], WHOLE.name: [1.4, 1.1, 0.2]})
    assert told(report) == [("whole", WHOLE.name, ("c", "b"))]
    assert render_verdict(report)[-1] == _only(report, "Over the whole run (work elapsed time) c (+")
    assert render_verdict(report)[-1].endswith("are worse than a.")


def _only(report, beginning):
    [found] = [sentence for sentence in render_verdict(report) if sentence.startswith(beginning)]
    return found


def test_arms_on_both_sides_are_one_sentence():
    report = judged((TAIL, MEDIAN), {TAIL.name: [1.0, 1.0], MEDIAN.name: [0.5, 2.0]})
    found = _only(report, "In the typical case (work wake-up latency, median)")
    assert found.endswith(" b (-49.7 %) is better than a, and c (x2.01) is worse than a.")


@pytest.mark.parametrize(
    ("name", "typical"),
    [
        ("p99_us", "median_us"),
        ("latency_max_us", "latency_p50_us"),
        ("p999_us", "p50_us"),
        ("Latency p99.9 (ms)", "Latency p50 (ms)"),
        ("95th percentile", "50th percentile"),
    ],
)
def test_tails_have_the_medians_of_their_own_quantity(name, typical):
    metrics = (Metric(name, "us", "lower", name, headline=True), Metric(typical, "us", "lower", typical))
    assert told(judged(metrics, {name: [5], typical: [0.5]})) == [("typical", typical, ("b",))]


@pytest.mark.parametrize(
    ("tail", "median"),
    [
        (5, 4),  # the same way
        (1, 1),  # none differs
    ],
)
def test_nothing_is_told_where_both_stand_alike(tail, median):
    assert told(judged((TAIL, MEDIAN), {TAIL.name: [tail], MEDIAN.name: [median]})) == []


def test_a_metric_that_is_not_judged_is_no_counterpart():
    unjudged = Metric(MEDIAN.name, "us", "none", MEDIAN.title)
    assert told(judged((TAIL, unjudged), {TAIL.name: [5], MEDIAN.name: [0.02]})) == []


def test_the_whole_run_says_nothing_of_a_percentile():
    assert told(judged((TAIL, WHOLE), {TAIL.name: [5], WHOLE.name: [0.5]})) == []


def test_only_what_is_nearly_certain_is_told():
    """The counterparts of all tables add a tenth of its error to the verdict."""
    found = 0
    for seed in range(100):
        report = judged((TAIL, MEDIAN), {TAIL.name: [1, 1], MEDIAN.name: [1, 1]}, noise=0.2, seed=seed)
        found += any(c.p <= 0.05 for c in report.tables[1].analysis.comparisons.values() if c.p is not None)
        assert all(
            report.tables[1].analysis.comparisons[arm].p <= 0.005
            for each in find_counterparts(report.tables)
            for arm in each.arms
        )
    assert found > 1, "some medians differ by chance, at the level of their own table"


def test_where_the_headline_differs_the_other_way_five_percent_over_all_counterparts_are_enough():
    for seed in range(60):
        report = judged((TAIL, MEDIAN), {TAIL.name: [3], MEDIAN.name: [0.8]}, noise=0.2, seed=seed)
        comparison = report.tables[1].analysis.comparisons["b"]
        assert bool(told(report)) == (comparison.p <= 0.05)


def test_pictures_have_the_counterpart_below_its_headline_table():
    report = judged((TAIL, MEDIAN), {TAIL.name: [5], MEDIAN.name: [0.02]})
    assert [table.metric.name for table in list_drawn(report)] == [TAIL.name, MEDIAN.name]
    assert MEDIAN.title in forest.draw(report)
    drawn = render(report).split("VERDICT")[1]
    assert "work: wake-up latency, median (lower is better)" in drawn
    alike = judged((TAIL, MEDIAN), {TAIL.name: [5], MEDIAN.name: [4]})
    assert MEDIAN.title not in forest.draw(alike)


def test_void_arms_have_no_counterpart():
    voids = {("work", "b", block): "ejected" for block in range(10)}
    assert told(judged((TAIL, MEDIAN), {TAIL.name: [5, 5], MEDIAN.name: [0.02, 0.5]}, voids=voids)) == [
        ("typical", MEDIAN.name, ("c",))
    ]

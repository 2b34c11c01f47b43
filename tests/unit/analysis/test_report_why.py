"""What a report says about the reasons of a difference, and what it does not."""

import math
import statistics
from dataclasses import replace

import pytest
import report_examples as examples

from runoff.analysis import build, why
from runoff.report import markdown
from runoff.report.data import document
from runoff.report.html import page as html
from runoff.report.terminal import screen
from runoff.report.words.campaign_warnings import describe_campaign
from runoff.results import PROBE_COST, Metric

TURNS = Metric("turn_mean_us", "us", "none", "time on a CPU at a time")
OWN = Metric("scheduler_time_s", "s", "none", "the scheduler's own run time")
COST = Metric("cost_s", "s", "lower", "another judged metric")


def report(cells, metrics=(examples.WALL, examples.SWITCHES, examples.MIGRATIONS, TURNS, OWN, COST), **fields):
    return build.build_report(examples.campaign({"w": cells}, {"w": metrics}, blocks=5, **fields))


@pytest.fixture(scope="module")
def probed():
    common = {"migrations": (800.0, 50.0), "cost_s": (3.0, 0.01)}
    return report(
        {
            "default": {"elapsed_s": (10, 0.1), "involuntary_switches": (100, 5), "turn_mean_us": (90, 1), **common},
            "far": {"elapsed_s": (12, 0.1), "involuntary_switches": (200, 5), "turn_mean_us": (50, 1), **common,
                    "scheduler_time_s": (0.2, 0.01), "cost_s": (9.0, 0.01)},
            "near": {"elapsed_s": (10, 0.1), "involuntary_switches": (300, 5), "turn_mean_us": (20, 1), **common,
                     "scheduler_time_s": (0.3, 0.01)},
        }
    )  # fmt: skip


def test_only_arms_that_are_better_or_worse_are_explained(probed):
    assert [panel.arm for panel in why.build(probed)] == ["far"]


def test_counters_are_ranked_by_standard_deviations_within_blocks(probed):
    """Root 2 times mean / SD of the log ratios, with Hedges' correction for five of them: 1 - 3 / 15."""
    (panel,) = why.build(probed)
    sizes = {}
    for reason in panel.reasons:
        values = {(p.arm, p.block): p.value for p in reason.table.points}
        logs = [math.log(values["far", block] / values["default", block]) for block in range(5)]
        sizes[reason.table.metric.name] = 0.8 * math.sqrt(2) * statistics.mean(logs) / statistics.stdev(logs)
        assert reason.size == pytest.approx(sizes[reason.table.metric.name])
    assert list(sizes) == sorted(sizes, key=lambda name: -abs(sizes[name]))
    assert {*sizes} == {"turn_mean_us", "involuntary_switches"}


def test_a_metric_that_is_judged_or_unknown_for_one_arm_is_not_a_reason(probed):
    (panel,) = why.build(probed)
    assert panel.compared == 3
    assert panel.separated == 2
    assert panel.chance == pytest.approx(3 * 0.05)


def test_an_arm_without_a_metric_is_not_called_void(probed):
    page = html.render(probed)
    assert "has no valid sample" not in page
    assert "no valid sample (0 void)" not in page
    assert "not measured" in page


def test_no_spread_is_an_infinite_distance_and_a_number_in_no_view():
    cells = {"default": {"elapsed_s": (10, 0.1), "migrations": (5, 0)},
             "bfs": {"elapsed_s": (12, 0.1), "migrations": (9, 0)}}  # fmt: skip
    metrics = {"w": (examples.WALL, examples.MIGRATIONS)}
    constant = build.build_report(examples.campaign({"w": cells}, metrics, blocks=6))
    (panel,) = why.build(constant)
    assert [(reason.table.metric.name, reason.size) for reason in panel.reasons] == [("migrations", math.inf)]
    assert "+>1000" in screen.render(constant, 100)
    assert '"standardised": null' in document.render(constant)


def test_what_was_not_compared_has_no_distance(probed):
    table = next(table for table in probed.tables if table.metric is OWN)
    assert table.analysis.comparisons["far"].effect is None
    assert table.analysis.comparisons["default"].effect is None


def test_a_single_block_explains_nothing():
    once = examples.campaign(
        {"w": {"default": {"elapsed_s": (10, 0.1), "migrations": (5, 1)}, "bfs": {"elapsed_s": (99, 0.1)}}},
        {"w": (examples.WALL, examples.MIGRATIONS)},
        blocks=1,
    )
    assert why.build(build.build_report(once)) == ()


def test_the_terminal_has_a_few_panels_and_says_where_the_others_are():
    counted = {f"w{i}": {arm: {"elapsed_s": (mean, 0.1), "migrations": (100 * mean, 1)}
                         for arm, mean in (("default", 10), ("bfs", 12))} for i in range(6)}  # fmt: skip
    metrics = dict.fromkeys(counted, (examples.WALL, examples.MIGRATIONS))
    many = build.build_report(examples.campaign(counted, metrics, blocks=5))
    for width in (40, 60, 80, 132):
        out = screen.render(many, width)
        assert max(map(len, out.splitlines())) <= width
        assert out.count("why, w") == 4
        assert "2 more of these are in the page" in " ".join(out.split())
    assert markdown.render(many).count("why, w") == 6
    assert html.render(many).count('scope="rowgroup"') == 6


def test_a_report_says_what_probes_cost():
    took = Metric(PROBE_COST, "%", "none", "time in probes")
    cells = {
        "default": {"elapsed_s": (10, 0.1), PROBE_COST: (0.5, 0)},
        "bfs": {"elapsed_s": (10, 0.1), PROBE_COST: (0.7, 0)},
    }
    observed = report(cells, (examples.WALL, took))
    (line,) = describe_campaign(observed)
    assert line.startswith("probes observed these samples and took up to 0.7 % of one CPU (bfs on w)")
    assert report({arm: {"elapsed_s": (10, 0.1)} for arm in ("default", "bfs")}).warnings == ()


def test_a_judged_arm_without_a_separated_counter_says_so():
    alike = {"migrations": (100.0, 10.0)}
    found = report({"default": {"elapsed_s": (10, 0.1), **alike}, "bfs": {"elapsed_s": (12, 0.1), **alike}})
    (panel,) = why.build(replace(found))
    assert panel.reasons == ()
    assert "bfs, 0 of 1 counters differ" in screen.render(found, 80)

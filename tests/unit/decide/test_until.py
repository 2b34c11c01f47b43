"""The rule that ends a campaign when all its comparisons are decided."""

import math
import random
from collections.abc import Mapping
from dataclasses import replace

import pytest
from made_campaigns import made, noisy

from runoff.analysis import build
from runoff.campaign.directory import read_results
from runoff.decide import stopping
from runoff.decide.looks import Look
from runoff.decide.stopping import DECIDED, UntilRule, _values_agree, look
from runoff.plan.order import Cell
from runoff.results import Results
from runoff.statistics import Comparison, Interval, Verdict
from runoff.statistics.forecast import Forecast

UNTIL = {"until": 0.01, "most_blocks": 60, "rare": 0.3}


def first_end(results: Results, most: int) -> Look:
    return next(found for blocks in range(10, most + 1) if (found := look(results, blocks, most)).ends is not None)


@pytest.mark.parametrize(
    ("change", "sd", "verdict"),
    [(0.05, 0.02, Verdict.WORSE), (-0.05, 0.02, Verdict.BETTER), (0.0, 0.006, Verdict.SAME)],
)
def test_it_ends_when_all_is_decided_and_not_before(tmp_path, change, sd, verdict):
    results = read_results(made(tmp_path / "c", noisy(0.0, change, sd=sd), **UNTIL))
    end = first_end(results, 60)
    assert (end.ends, end.decided, end.undecided) == (DECIDED, True, ())
    assert 10 <= end.blocks < 60
    samples = tuple(sample for sample in results.samples if sample.block < end.blocks)
    (table,) = build.build_report(replace(results, samples=samples)).headline
    assert table.analysis.question.is_sequential
    assert table.analysis.comparisons["bfs"].verdict is verdict


def test_undecided_comparisons_are_named_with_a_forecast(tmp_path):
    found = look(read_results(made(tmp_path / "c", noisy(0.0, 0.012, sd=0.02), **UNTIL)), 10, 60)
    assert found.undecided == ("bfs on hackbench, time to pass all messages",)
    median, low, high = found.ahead
    assert low is not None
    assert low >= 1
    assert low <= (median or 51) <= (high or 51)


def test_there_is_no_forecast_beyond_the_cap(tmp_path):
    results = read_results(made(tmp_path / "c", noisy(0.0, 0.022, sd=0.02), **UNTIL))
    median = look(results, 10, 60).ahead[0]
    assert median is not None
    assert 4 <= median <= 10
    assert look(results, 10, 10 + median // 2).ahead[0] is None


def test_the_cap_ends_it_undecided(tmp_path):
    results = read_results(made(tmp_path / "c", noisy(0.0, 0.0, sd=0.1), **UNTIL))
    assert look(results, 59, 60).ends is None
    end = look(results, 60, 60)
    assert end.ends is not None
    assert "more than 60 blocks" in end.ends
    assert not end.decided


def test_one_table_that_is_not_decided_goes_on_for_all(tmp_path):
    def values(cell: Cell) -> dict[str, float]:
        quiet, loud = noisy(0.0, 0.1, sd=0.001)(cell), noisy(0.0, 0.01, sd=0.05, seed=2)(cell)
        return {"wakeup_p99_us": quiet["time_s"], "request_p99_us": loud["time_s"]}

    found = look(read_results(made(tmp_path / "c", values, workloads=("schbench",), **UNTIL)), 20, 60)
    assert found.ends is None
    assert found.undecided == ("bfs on schbench, request latency, 99th percentile",)


def test_a_void_arm_ends_it_with_its_name(tmp_path):
    def values(cell: Cell) -> Mapping[str, float] | None:
        return None if cell.arm == 2 else noisy(0.0, 0.1, 0.0)(cell)

    found = look(read_results(made(tmp_path / "c", values, arms=("default", "bfs", "o1"), **UNTIL)), 10, 60)
    assert found.ends is not None
    assert "o1 on hackbench, time to pass all messages (no valid sample)" in found.ends
    assert not found.decided


def test_copies_of_one_run_end_it(tmp_path):
    place = made(tmp_path / "c", lambda cell: {"time_s": 10.0 + cell.arm}, **{**UNTIL, "clock": "virtual"})
    found = look(read_results(place), 10, 60)
    assert found.ends is not None
    assert "every block repeats the same run" in found.ends


def test_values_too_coarse_to_be_the_same_end_it(tmp_path):
    """In steps of 10 % two equal arms never show that they differ by less than 1 %."""

    def values(cell: Cell) -> dict[str, float]:
        return {"time_s": 0.010 + 0.001 * (cell.block % 20 == 7)}

    found = look(read_results(made(tmp_path / "c", values, **UNTIL)), 10, 60)
    assert found.ends is not None
    assert "time to pass all messages (its values are too coarse to be called the same)" in found.ends
    assert not found.decided


def test_differences_without_percent_can_be_apart_only(tmp_path):
    def values(cell: Cell) -> dict[str, float]:
        return {"time_s": random.Random(cell.id).gauss(20.0 * cell.arm, 1.0)}

    found = first_end(read_results(made(tmp_path / "c", values, **UNTIL)), 60)
    assert (found.blocks, found.ends) == (10, DECIDED)


def test_it_keeps_its_error_over_whole_campaigns(tmp_path):
    """Two equal arms with a margin too narrow for any to be the same: what is decided is a false difference."""
    campaigns, most, wrong = 120, 20, 0
    settings = {"until": 0.001, "most_blocks": most}
    for seed in range(campaigns):
        results = read_results(made(tmp_path / f"{seed}", noisy(0.0, 0.0, sd=0.02, seed=seed), **settings))
        wrong += first_end(results, most).decided
    assert wrong <= 0.05 * campaigns + 3 * math.sqrt(0.05 * 0.95 * campaigns)


def test_a_rule_reads_the_directory(tmp_path):
    place = made(tmp_path / "c", noisy(0.0, 0.05, sd=0.01), **UNTIL)
    assert UntilRule(lambda: read_results(place), 60)(10) == look(read_results(place), 10, 60)


def test_a_difference_is_ahead_where_it_holds_for_all_tables(tmp_path, monkeypatch):
    """Two arms in two tables: a difference is one of four, what is the same one of two."""

    def values(cell: Cell) -> dict[str, float]:
        return {"wakeup_p99_us": noisy(0.0, 0.01, 0.0, sd=0.05)(cell)["time_s"],
                "request_p99_us": noisy(0.0, 0.01, 0.0, sd=0.05, seed=2)(cell)["time_s"]}  # fmt: skip

    asked = []
    monkeypatch.setattr(stopping, "forecast_blocks", lambda courses, most: asked.extend(courses) or Forecast(1, 2, 3))
    place = made(tmp_path / "c", values, arms=("default", "bfs", "o1"), workloads=("schbench",), **UNTIL)
    assert look(read_results(place), 10, 60).ahead == (2, 1, 3)
    assert len(asked) == 4
    assert [course.level_same for course in asked] == pytest.approx([1 - 0.95 ** (1 / 2)] * 4)
    assert [course.level_apart for course in asked] == pytest.approx([1 - 0.95 ** (1 / 4)] * 4)


def test_coarse_values_that_may_still_differ_go_on(tmp_path):
    """Steps of 10 %, and arms that vary by them: more blocks may show a difference."""

    def values(cell: Cell) -> dict[str, float]:
        return {"time_s": random.Random(cell.id).choice((0.010, 0.011))}

    found = look(read_results(made(tmp_path / "c", values, **UNTIL)), 10, 60)
    assert found.ends is None
    assert found.undecided == ("bfs on hackbench, time to pass all messages",)


def test_coarse_values_agree_where_the_whole_interval_is_inside_the_margin():
    for low, high, agree in ((-0.9, 0.9, True), (-1.1, 0.5, False), (-0.5, 1.1, False), (-5.0, -3.0, False)):
        interval = Interval(math.log1p(low / 100), math.log1p(high / 100))
        assert _values_agree(Comparison("bfs", log_interval=interval), 0.01) is agree

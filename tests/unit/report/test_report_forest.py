"""The forest in text: where its signs stand, what does not fit, and what has no percent."""

import re
from dataclasses import replace

import pytest
import report_examples as examples

from runoff.analysis import build
from runoff.report.figures import tail
from runoff.report.terminal import forest
from runoff.results import Results


def taken(*means: float, sd: float = 0.4, blocks: int = 6) -> Results:
    arms = {"default": 10.0, **{f"arm{i}": mean for i, mean in enumerate(means)}}
    cells = {"w": {arm: {"elapsed_s": (mean, sd)} for arm, mean in arms.items()}}
    return examples.campaign(cells, {"w": (examples.WALL,)}, blocks=blocks)


def drawn(results: Results, width: int = 80, **options) -> list[str]:
    return [line.plain for line in forest.render_rows(build.build_report(results, **options), width)]


def columns(line: str, sign: str) -> list[int]:
    return [found.start() for found in re.finditer(re.escape(sign), line)]


def test_interval_zero_and_margin_stand_in_their_order():
    axis, heading, worse, better = drawn(taken(12.0, 8.0))
    assert axis.startswith("% against default")
    assert heading == "w: elapsed time (lower is better)"
    by_name = {line.split()[0]: line for line in (worse, better)}
    slow, fast = by_name["arm0"], by_name["arm1"]
    zero = columns(slow, "|")[0]
    assert columns(fast, "|") == [zero]
    left, right = columns(slow, ":")
    assert left < zero < right
    assert columns(fast, "]")[0] < left
    assert right < columns(slow, "[")[0] < columns(slow, "]")[0]
    assert " -  " in slow
    assert " +  " in fast


def test_ticks_stand_over_their_values():
    axis, _, row, *_ = drawn(taken(12.0, 8.0))
    assert columns(axis, " 0")[0] + 1 == columns(row, "|")[0]


def test_a_wider_margin_has_its_edges_farther_out():
    narrow, wide = (drawn(taken(14.0), margin=margin)[2] for margin in (0.05, 0.15))
    (left, right), (far_left, far_right) = columns(narrow, ":"), columns(wide, ":")
    assert right - left < far_right - far_left


def test_intervals_that_go_on_are_cut():
    row = drawn(taken(90.0, sd=3.0))[2]
    assert row.endswith(">")
    assert "o" not in row
    assert "[" not in row


@pytest.mark.parametrize("width", [40, 60, 80, 132])
def test_rows_are_as_wide_as_the_screen_at_most(width):
    lines = drawn(examples.wide(4, 6), width)
    assert all(len(line) <= width for line in lines)
    assert bool(lines) == (width > 50)


def test_many_arms_are_not_all_drawn():
    lines = drawn(examples.wide(9, 9))
    assert sum(not line.startswith(" ") for line in lines) == 1 + 3
    assert re.search(r"\.\.\. and 48 more below and in the page", lines[-1])


def test_what_has_no_percent_is_not_drawn():
    results = taken(12.0)
    below = tuple(replace(s, metrics={"elapsed_s": s.metrics["elapsed_s"] - 11}) for s in results.samples)
    assert drawn(replace(results, samples=below)) == []


def test_the_tail_has_a_step_for_each_run():
    """Four runs: 75, 50 and 25 % are above the first three, and the line ends at the last."""
    report = build.build_report(
        examples.campaign({"w": {"default": {"elapsed_s": (10.0, 1.0)}}}, {"w": (examples.WALL,)}, blocks=4)
    )
    picture = tail.draw(report, report.tables[0])
    (steps,) = re.findall(r'class="steps s0" d="([^"]*)"', picture)
    heights = [float(v) for v in re.findall(r"V([\d.]+)", steps)]
    (half,) = re.findall(r'y="([\d.]+)"[^>]*>50 %<', picture)
    assert len(heights) == 4
    assert heights == sorted(heights)
    assert heights[1] == pytest.approx(float(half) - 4, abs=0.2)
    assert heights[-1] == tail.TOP + tail.PLOT


def test_one_run_has_no_tail():
    report = build.build_report(taken(12.0, blocks=1))
    assert tail.draw(report, report.tables[0]) == ""

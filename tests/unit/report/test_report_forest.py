"""The forest in text: where its signs stand, what does not fit, and what has no percent."""

import re
from dataclasses import replace

import pytest
import report_examples as examples
from rich.color import Color

from runoff.analysis import build
from runoff.report.figures import distribution, order, tail
from runoff.report.figures import forest as svgforest
from runoff.report.html import page
from runoff.report.terminal import forest
from runoff.report.terminal.table import STYLES
from runoff.report.words.numbers import Scale
from runoff.report.words.rows import describe_change
from runoff.report.words.sentences import render_verdict
from runoff.results import Results
from runoff.statistics import Verdict


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


def test_beyond_twice_as_much_the_axis_has_factors():
    axis, _, far, near = drawn(taken(90.0, 5.0))
    assert axis.startswith("times default")
    assert re.search(r" x1 .* x10\b", axis)
    by_name = {line.split()[0]: line for line in (far, near)}
    assert re.match(r"  arm0 +x\d\.\d+  -", by_name["arm0"])
    assert re.match(r"  arm1 +-\d\d\.\d %  \+", by_name["arm1"])
    assert columns(by_name["arm1"], "o")[0] < columns(by_name["arm1"], "|")[0] < columns(by_name["arm0"], "o")[-1]


def test_what_is_beyond_a_thousand_times_is_an_arrow():
    results = taken(90000.0, sd=0.4)
    row = drawn(results)[2]
    assert row.endswith(">")
    assert "o" not in row
    assert "[" not in row
    picture = svgforest.draw(build.build_report(results))
    assert "l-9-4.5v9z" in picture


def test_an_interval_as_narrow_as_its_point_has_no_half_bracket():
    for mean in (10.1, 12.0, 14.5):
        for line in drawn(taken(mean, 19.0, sd=0.02), 80)[2:]:
            plot = line[25:]
            assert ("[" in plot) == ("]" in plot), line
            assert "o" in plot


@pytest.mark.parametrize("form", [svgforest.WIDE, svgforest.NARROW])
def test_headings_of_one_picture_are_distinct_and_fit(form):
    name = "schbench:workers=8,operations=1,footprint_kb=32,warm_up_s=0,seconds=1"
    metrics = tuple(
        replace(examples.WALL, name=f"m{n}", title=f"{what} latency, 99th percentile, of all that were seen", unit="us")
        for n, what in enumerate(("wake-up", "request"))
    )
    cell = {arm: {metric.name: (mean, 0.1) for metric in metrics} for arm, mean in (("default", 10), ("bfs", 12))}
    report = build.build_report(examples.campaign({name: cell}, {name: metrics}, blocks=6))
    headings = re.findall(r'class="group">([^<]*)<', svgforest.draw(report, form))
    assert len(set(headings)) == len(headings) == 2
    assert max(map(len, headings)) <= form.letters
    assert all(heading.startswith("schbench: ") for heading in headings)


def test_metrics_with_one_title_are_told_apart():
    pair = (examples.WALL, replace(examples.WALL, name="other"))
    cell = {arm: {"elapsed_s": (10, 0.1), "other": (11, 0.1)} for arm in ("default", "bfs")}
    report = build.build_report(examples.campaign({"w": cell}, {"w": pair}, blocks=6))
    assert [t.metric.title for t in report.tables] == ["elapsed time (elapsed_s)", "elapsed time (other)"]


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


@pytest.mark.parametrize(("means", "has_band"), [((10.5,), True), ((0.05, 3000.0), False)])
def test_the_margin_is_drawn_and_told_where_it_can_be_seen(means: tuple[float, ...], has_band: bool) -> None:
    report = build.build_report(taken(*means, sd=0.005))
    assert svgforest.has_band(svgforest.draw(report)) == has_band
    assert ("the band is the margin" in page.render(report)) == has_band


@pytest.mark.parametrize(("mean", "is_logarithmic"), [(15.0, False), (3000.0, True)])
def test_all_pictures_of_a_metric_have_axes_of_one_kind(mean: float, is_logarithmic: bool) -> None:
    """Values that are a point on one picture would be anywhere on another."""
    report = build.build_report(taken(mean, sd=0.1))
    [table] = report.tables
    drawn = [distribution.draw(table, "default"), order.draw(report, table), tail.draw(report, table)]
    labels = [set(re.findall(r"<text[^>]*>([^<]*)<", picture)) for picture in drawn]
    assert [{"10", "100", "1000"} <= found for found in labels] == [is_logarithmic] * 3


@pytest.mark.parametrize("verdict", [Verdict.BETTER, Verdict.WORSE])
def test_colours_of_the_terminal_can_be_read_on_white_and_on_black(verdict: Verdict) -> None:
    """4 : 1 at least, by the formula of WCAG 2."""
    name = STYLES[verdict].split()[-1]
    levels = [each / 255 for each in Color.parse(name).get_truecolor()]
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in levels)
    light = 0.2126 * red + 0.7152 * green + 0.0722 * blue
    assert 1.05 / (light + 0.05) >= 4
    assert (light + 0.05) / 0.05 >= 4


def test_a_picture_of_very_many_rows_has_no_narrow_form():
    assert svgforest.draw(build.build_report(examples.three_arms()), svgforest.NARROW)
    assert svgforest.draw(build.build_report(examples.wide(10, 20, blocks=3)), svgforest.NARROW) == ""


def missed_periods() -> Results:
    """Periods missed in percent; one arm has blocks without any, so that there is no ratio."""
    results = taken(12.0, 0.0, sd=0.3)
    missed = replace(examples.WALL, name="elapsed_s", title="periods missed", unit="%")
    values = [sample.metrics["elapsed_s"] for sample in results.samples]
    samples = [
        replace(sample, metrics={"elapsed_s": value if value > 0.2 else 0.0})
        for sample, value in zip(results.samples, values, strict=True)
    ]
    return replace(results, metrics={"w": (missed,)}, samples=tuple(samples))


def test_an_arm_without_a_ratio_is_named_below_the_picture():
    report = build.build_report(missed_periods())
    lines = drawn(missed_periods())
    assert [line for line in lines if line.startswith("  arm1")] == []
    said = "Not drawn, because a ratio needs values above 0: w: periods missed of arm1."
    assert " ".join(lines[-2:]).replace("  ", " ").endswith(said)
    assert said in page.render(report)
    assert not any(line.startswith("Not drawn") for line in drawn(taken(12.0)))


def test_percents_differ_by_points():
    report = build.build_report(missed_periods())
    table = report.tables[0]
    change, interval = describe_change(table, "arm1", Scale.from_table(table))
    assert re.fullmatch(r"-[\d.]+ points", change)
    assert interval.startswith("[-")
    assert describe_change(table, "arm0", Scale.from_table(table))[0].endswith(" %")
    assert " points" in " ".join(render_verdict(report))

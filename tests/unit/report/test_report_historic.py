"""The layouts of graysky's comparison and of the counters' test: from samples with the published means the published
cells come out again."""

import re

import pytest
import report_examples as examples

from runoff.analysis import build
from runoff.errors import UsageError
from runoff.published.catalogue import find
from runoff.published.rows import CountersRow, MeansRow
from runoff.report.historic import counters, graysky
from runoff.results import Metric, Results, Sample

WALL = examples.WALL
TIME = Metric("time_s", "s", "lower", "time until all have counted", headline=True)
COST = Metric("cost_s", "s", "lower", "time divided by the number of processes")


def results(values: dict[tuple[str, str], list[dict[str, float]]], metrics: tuple[Metric, ...], **fields) -> Results:
    """``values[arm, workload]`` are the metrics of each block."""
    samples = [
        Sample(f"{arm}.{workload}.{block}", block, block, arm, workload, "none", True, None, found)
        for (arm, workload), many in values.items()
        for block, found in enumerate(many)
    ]
    arms, workloads = (tuple(dict.fromkeys(key[i] for key in values)) for i in (0, 1))
    return Results(
        engine="lab", clock="real", seed=1, blocks=max(map(len, values.values())), arms=arms, workloads=workloads,
        loads=("none",), metrics=dict.fromkeys(workloads, metrics), samples=tuple(samples), planned=len(samples),
        **fields,
    )  # fmt: skip


def around(mean: float, step: float = 0.01) -> list[dict[str, float]]:
    return [{"elapsed_s": mean + step * shift} for shift in (-2, -1, 0, 1, 2)]


def published_means() -> list[MeansRow]:
    report = find("graysky-2012")[0]
    rows = [row for table in report.of_kind("means") for row in table.rows if isinstance(row, MeansRow)]
    # The three rows whose difference is not that of their means, and one whose percentage is not.
    wrong = {("AMD Athlon XP", "-10.5753"), ("AMD Athlon XP", "-25.4671"), ("Intel X3360", "-1.7232")}
    wrong |= {("Intel i7-2620M", "-1.8765")}
    return [row for row in rows if (row.cpu, str(row.difference_s)) not in wrong]


@pytest.mark.parametrize("row", published_means(), ids=lambda row: f"{row.cpu} {row.difference_s}")
def test_graysky_cells_come_out_as_printed(row: MeansRow) -> None:
    values = {("vanilla", "make"): around(float(row.vanilla_s.value)), ("ck", "make"): around(float(row.ck_s.value))}
    report = build.build_report(results(values, (WALL,), fingerprint={"machine": {"cpu_model": row.cpu}}))
    (line,) = [line for line in graysky.render(report).splitlines() if line.startswith(row.cpu)]
    printed = [str(cell).replace(",", "") for cell in (row.vanilla_s, row.ck_s, row.difference_s)]
    ours = line.removeprefix(row.cpu).split()
    assert [float(cell) for cell in ours[:3]] == [float(cell) for cell in printed]
    assert ours[2][0] == printed[2][0]
    assert " ".join(ours[3:]) == f"{row.result_pct} % {row.result}"


def test_graysky_quantiles_are_jmps() -> None:
    runs = [{"elapsed_s": float(value)} for value in range(1, 10)]
    text = graysky.render(build.build_report(results({("a", "w"): runs, ("b", "w"): runs[:8]}, (WALL,))))
    lines = text.splitlines()
    start = lines.index("Quantiles")
    assert lines[start + 1].split() == ["Level", "Minimum", "10%", "25%", "Median", "75%", "90%", "Maximum"]
    assert lines[start + 2].split() == ["a", "1", "1", "2.5", "5", "7.5", "9", "9"]
    assert lines[start + 4] == "Number of runs: a 9, b 8"


def test_graysky_quantiles_have_seven_digits() -> None:
    values = {(arm, "w"): [{"elapsed_s": 27.876291}, {"elapsed_s": 27.87}] for arm in "ab"}
    text = graysky.render(build.build_report(results(values, (WALL,))))
    assert re.search(r"^a +27\.87 +27\.87 +27\.87 +27\.87315 +27\.87629 +27\.87629 +27\.87629$", text, re.MULTILINE)


def test_graysky_of_several_arms_voids_and_other_directions() -> None:
    text = graysky.render(build.build_report(examples.bonuses()))
    assert text.count("CPU ") == 3 * 5
    assert re.search(r"AMD Ryzen 7 7840U +6\d\.\d{4} +- +- +-", text)
    assert "exec:scx_bpfland -k 0" in text
    assert "! void: exec:scx_bpfland -k" in text
    assert text.isascii()
    rate = Metric("rate", "msg/s", "higher", "messages", headline=True)
    values = {("a", "w"): [{"rate": 100.0}] * 3, ("b", "w"): [{"rate": 150.0}] * 3, ("c", "w"): [{"rate": 100.0}] * 3}
    shown = graysky.render(build.build_report(results(values, (rate,))))
    assert "50.0 % more" in shown
    assert re.search(r"100\.0000 +100\.0000 +\+0\.0000 +0\.0 %\n", shown)


def test_graysky_percent_of_nothing() -> None:
    values = {("a", "w"): [{"elapsed_s": 0.0}] * 3, ("b", "w"): [{"elapsed_s": 1.0}] * 3}
    assert re.search(r"0\.0000 +1\.0000 +\+1\.0000 +-\n", graysky.render(build.build_report(results(values, (WALL,)))))


def published_counters() -> tuple[list[CountersRow], str]:
    rows = [row for row in find("counters-2009")[0].tables["counters"].rows if isinstance(row, CountersRow)]
    values = {}
    for row in rows:
        for arm, time, cost in (
            ("2.6.31", row.k2631_s, row.k2631_cost_s),
            ("2.6.31-bfs", row.bfs_s, row.bfs_cost_s),
            ("2.6.32-rc5", row.k2632_s, row.k2632_cost_s),
        ):
            found = {"time_s": float(time.value), "cost_s": float(cost.value)}
            values[arm, f"counters:n={row.processes}"] = [found] * 3
    return rows, counters.render(build.build_report(results(values, (TIME, COST))))


def test_counters_cells_come_out_as_printed() -> None:
    rows, text = published_counters()
    lines = text.splitlines()
    start = next(number for number, line in enumerate(lines) if line.lstrip().startswith("#n"))
    assert "2.6.31-bfs (Cost)" in lines[start]
    for row, line in zip(rows, lines[start + 1 :], strict=False):
        cells = row.cells
        expected = [
            cells["processes"],
            *(f"{cells[f'{key}_s']}( {cells[f'{key}_cost_s']})" for key in ("k2631", "bfs", "k2632")),
            f"{cells['impr_pct']}%",
        ]
        assert re.split(r"  +", line.strip())[:5] == expected


def test_counters_plot_has_every_arm_where_it_belongs() -> None:
    _, text = published_counters()
    plot = [line for line in text.splitlines() if re.match(r"[ .\d]{12} \|", line)]
    assert len(plot) == counters.PLOT_HEIGHT
    # One process: all three at the top left. Two: 2.6.31 alone is far above the others.
    assert plot[0][14] == "*"
    second = 14 + round(63 / 31)
    assert [line[second] for line in plot if len(line) > second and line[second] != " "] == ["a", "*"]
    assert plot[0].startswith("    0.156921")
    assert plot[-1].startswith("    0.075277")
    assert "a 2.6.31, b 2.6.31-bfs, c 2.6.32-rc5, * several" in text


def test_counters_of_a_compile_have_no_cost() -> None:
    values = {
        (arm, f"compile:jobs={jobs}"): around(mean / jobs) for arm, mean in (("a", 8), ("b", 6)) for jobs in (2, 1)
    }
    text = counters.render(build.build_report(results(values, (WALL,))))
    lines = text.splitlines()
    start = next(number for number, line in enumerate(lines) if line.startswith("#jobs"))
    assert lines[start].split() == ["#jobs", "a", "b", "Impr%"]
    assert [line.split() for line in lines[start + 1 : start + 3]] == [
        ["1", "8.000000", "6.000000", "25.00%"],
        ["2", "4.000000", "3.000000", "25.00%"],
    ]


def test_counters_cost_is_next_to_the_time_only() -> None:
    ratio = Metric("ideal_ratio", "", "lower", "time in multiples of the ideal", headline=True)
    found = {"time_s": 1.0, "cost_s": 0.5, "ideal_ratio": 1.25}
    values = {(arm, f"counters:n={n}"): [found] * 3 for n in (1, 2) for arm in "ab"}
    text = counters.render(build.build_report(results(values, (TIME, ratio, COST))))
    assert "1.000000( 0.500000)" in text
    assert re.search(r"^ 1  1\.250000  1\.250000  0\.00%$", text, re.MULTILINE)


def test_counters_without_a_series_are_refused() -> None:
    for sample in (examples.three_arms(), examples.two_arms()):
        with pytest.raises(UsageError, match="in several sizes"):
            counters.render(build.build_report(sample))


def test_counters_of_an_arm_that_is_void_and_of_equal_values() -> None:
    values = {("a", "w:n=1"): around(1, 0), ("b", "w:n=2"): around(1, 0), ("a", "w:n=2"): around(1, 0)}
    text = counters.render(build.build_report(results(values, (WALL,))))
    assert re.search(r"^ 1  1\.000000 +- +-$", text, re.MULTILINE)
    assert text.isascii()

"""The table of samples has every run, once for each of its metrics, with what it was."""

import csv
import io
from dataclasses import replace

import report_examples as examples

from runoff.analysis import build
from runoff.report.data import csv_table
from runoff.results import Conditions, Results

CONDITIONS = Conditions("2026-01-02T03:04:05.006+00:00", 0.25, 61.5, 2400000)


def warmed() -> Results:
    """A campaign whose first block is one for warming up; its second sample is void."""
    results = examples.two_arms()
    samples = [replace(sample, block=sample.block - 1, conditions=CONDITIONS) for sample in results.samples]
    samples[1] = replace(samples[1], valid=False, reason="ejected", metrics={})
    return replace(results, samples=tuple(samples))


def rows(results: Results) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(csv_table.render(build.build_report(results)))))


def test_the_table_has_all_runs_with_all_metrics() -> None:
    results = warmed()
    found = rows(results)
    assert list(dict.fromkeys(row["id"] for row in found)) == [sample.id for sample in results.samples]
    for sample in results.samples:
        mine = [row for row in found if row["id"] == sample.id]
        assert {row["metric"]: row["value"] for row in mine if row["metric"]} == {
            name: repr(float(value)) for name, value in sample.metrics.items()
        }
        assert {row["warmup"] for row in mine} == {"yes" if sample.block < 0 else "no"}
    assert [(row["valid"], row["reason"]) for row in found if row["id"] == results.samples[1].id] == [("no", "ejected")]


def test_the_table_says_when_a_run_began_and_in_what_state() -> None:
    names = ("started", "load1_before", "temperature_c", "frequency_khz")
    assert {tuple(row[name] for name in names) for row in rows(warmed())} == {
        (CONDITIONS.started, "0.25", "61.5", "2400000")
    }
    assert {tuple(row[name] for name in names) for row in rows(examples.two_arms())} == {("", "", "", "")}


def test_runs_for_warming_up_are_not_judged() -> None:
    results = warmed()
    report = build.build_report(results)
    judged = {sample.position for sample in results.samples if sample.block >= 0}
    for table in report.tables:
        assert {point.position for point in table.points} <= judged
    assert report.voids == ()

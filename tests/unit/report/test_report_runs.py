"""The log and the wide table hold every run, once, with what it was."""

import csv
import io
from dataclasses import replace

import report_examples as examples

from runoff.analysis import build
from runoff.report.data import runs
from runoff.results import Conditions, Results

CONDITIONS = Conditions("2026-01-02T03:04:05.006+00:00", 0.25, 61.5, 2400000)


def warmed() -> Results:
    """Its first block is one for warming up; its second sample is void."""
    results = examples.two_arms()
    samples = [replace(sample, block=sample.block - 1, conditions=CONDITIONS) for sample in results.samples]
    samples[1] = replace(samples[1], valid=False, reason="ejected", metrics={})
    parameters = {workload: {"jobs": "3"} for workload in results.workloads}
    return replace(results, samples=tuple(samples), parameters=parameters)


def rows(text: str, delimiter: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text), delimiter=delimiter))


def test_the_log_has_the_columns_of_the_specification_and_valid_runs_only() -> None:
    results = warmed()
    found = rows(runs.render_log(build.build_report(results)), "\t")
    assert list(found[0]) == list(runs.LOG_COLUMNS)
    assert len(found) == sum(sample.valid for sample in results.samples)
    first, sample = found[0], results.samples[0]
    assert (first["iso_time"], first["temp_C"], first["load1_before"]) == (CONDITIONS.started, "61.5", "0.25")
    assert (first["scheduler"], first["is_warmup"], first["run_index"], first["jobs"]) == (sample.arm, "1", "1", "3")
    name = "elapsed_s"
    assert first[name] == (repr(sample.metrics[name]) if name in sample.metrics else "")


def test_the_wide_table_has_all_runs_with_all_metrics() -> None:
    results = warmed()
    found = rows(runs.render_wide(build.build_report(results)), ",")
    assert len(found) == len(results.samples)
    for row, sample in zip(found, results.samples, strict=True):
        assert {name for name in sample.metrics if row[name] == repr(sample.metrics[name])} == set(sample.metrics)
        assert row["warmup"] == str(int(sample.block < 0))
    assert (found[1]["valid"], found[1]["reason"]) == ("0", "ejected")


def test_runs_for_warming_up_are_not_judged() -> None:
    results = warmed()
    report = build.build_report(results)
    judged = {sample.position for sample in results.samples if sample.block >= 0}
    for table in report.tables:
        assert {point.position for point in table.points} <= judged
    assert report.voids == ()

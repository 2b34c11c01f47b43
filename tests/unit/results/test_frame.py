"""Samples as a frame of pandas: a row each, numbers as they are, and runoff without pandas."""

import math
import subprocess
import sys
from dataclasses import replace

import pandas
import pytest
import report_examples as examples

from runoff import make_frame
from runoff.errors import MissingError
from runoff.results import Metric, Results


def test_a_row_is_a_sample() -> None:
    results = examples.three_arms()
    frame = make_frame(results)
    assert isinstance(frame, pandas.DataFrame)
    assert list(frame.index) == [sample.id for sample in results.samples]
    for sample, (_, row) in zip(results.samples, frame.iterrows(), strict=True):
        assert (row.block, row.position, row.arm, row.workload, row.load) == (
            sample.block, sample.position, sample.arm, sample.workload, sample.load,
        )  # fmt: skip
        assert (row.valid, row.reason) == (sample.valid, sample.reason or "")
        for name in {metric.name for each in results.metrics.values() for metric in each}:
            value = sample.metrics.get(name)
            assert math.isnan(row[name]) if value is None else row[name] == value
    assert frame.attrs["baseline"] == results.arms[0]
    metrics = [metric for each in results.metrics.values() for metric in each]
    assert frame.attrs["units"] == {metric.name: metric.unit for metric in metrics}
    assert frame.attrs["directions"] == {metric.name: metric.direction for metric in metrics}


def test_numbers_are_columns_of_numbers_even_without_a_sample() -> None:
    empty = replace(examples.three_arms(), samples=())
    frame = make_frame(empty)
    assert len(frame) == 0
    assert {str(frame[name].dtype) for name in frame.attrs["units"]} == {"float64"}


def test_a_metric_that_is_named_as_a_column_has_another_name() -> None:
    results = examples.three_arms()
    work = results.workloads[0]
    named = replace(results, metrics={**results.metrics, work: (Metric("block", "s", "lower", "block"),)})
    frame = make_frame(named)
    assert list(frame.block) == [sample.block for sample in results.samples]
    assert "metric.block" in frame.columns


def test_pandas_is_imported_by_nothing_else() -> None:
    modules = "sys, runoff, runoff.cli.main, runoff.cli.report, runoff.analysis.build, runoff.statistics.compare"
    program = f"import {modules}; print('pandas' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_who_has_no_pandas_is_told_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    results: Results = examples.three_arms()
    with pytest.raises(MissingError, match="a frame needs pandas: pip install pandas"):
        make_frame(results)

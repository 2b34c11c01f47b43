"""A first run that did other work than the later ones is found, and runs that are alike are not."""

import random

import pytest
from made_campaigns import made, noisy

from runoff.analysis.build import build_report
from runoff.analysis.first_run import UnlikeFirstRun
from runoff.campaign.directory import read_results
from runoff.report.words.wording import list_notes


def found(place, values, **settings):
    results = read_results(made(place, values, **{"on": "host", **settings}))
    report = build_report(results)
    return report, [warning for warning in report.warnings if isinstance(warning, UnlikeFirstRun)]


def building_once(cell):
    return {"time_s": 60.0 if cell.position == 0 else 0.02 * (1 + cell.position % 3 / 10)}


def test_a_build_that_only_the_first_run_made_is_told_with_the_way_out(tmp_path):
    report, [warning] = found(tmp_path / "c", building_once, blocks=5)
    assert warning.value == 60.0
    [note] = [note for note in list_notes(report) if "first run" in note]
    assert "the first run of hackbench is unlike all others" in note
    assert "make clean" in note
    assert "prepare = " in note
    assert "--warmup 1" in note


def test_a_first_run_that_found_nothing_yet_to_do_is_told_too(tmp_path):
    _, [_warning] = found(tmp_path / "c", lambda cell: {"time_s": 1 / building_once(cell)["time_s"]}, blocks=5)


def test_a_first_run_for_warming_up_is_not_judged_and_not_told(tmp_path):
    _, warnings = found(tmp_path / "c", building_once, blocks=5, warmup=1)
    assert not warnings


def test_a_later_run_that_is_slow_is_an_outlier_and_nothing_else(tmp_path):
    _, warnings = found(tmp_path / "c", lambda cell: {"time_s": 60.0 if cell.position == 3 else 0.02}, blocks=5)
    assert not warnings


@pytest.mark.parametrize("sd", [0.01, 0.5])
def test_runs_that_are_alike_have_no_such_first_run_but_by_chance(tmp_path, sd):
    told = 0
    for seed in range(40):
        draw = random.Random(seed)
        values = {position: draw.lognormvariate(0, sd) for position in range(10)}
        told += bool(found(tmp_path / f"{seed}", lambda cell, v=values: {"time_s": v[cell.position]}, blocks=5)[1])
    assert told <= 1


def test_an_arm_that_is_far_slower_is_no_first_run(tmp_path):
    _, warnings = found(tmp_path / "c", noisy(0, 9), blocks=5)
    assert not warnings


def test_runs_in_copies_of_a_guest_leave_nothing_behind(tmp_path):
    _, warnings = found(tmp_path / "c", building_once, blocks=5, on="lab")
    assert not warnings

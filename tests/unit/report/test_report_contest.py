"""contest's table: the published one comes out again from the seconds behind it."""

import itertools
import re

import pytest
import report_examples as examples
from checkout import ROOT

from runoff.analysis import build
from runoff.engines.questions import describe_metrics
from runoff.errors import UsageError
from runoff.report.historic import contest
from runoff.results import NO_LOAD, Results, Sample

PUBLISHED = (ROOT / "tests/published/contest-2003.txt").read_text()
"""C. Kolivas, "2.5.63-mm2 + i/o schedulers with contest", linux-kernel, 4 March 2003."""

ROW = re.compile(r"^(\S+) +(\d+) +(\d+) +([\d.]+) +([\d.]+) +([\d.]+) +([\d.]+)$")
WORKLOAD = "compile"


def load_of(title: str) -> str:
    return NO_LOAD if title == "no_load" else title.removesuffix("_load")


def whole_seconds(percent: str, of_s: int) -> int:
    """The whole number of CPU seconds that is this percentage; contest logged no fractions."""
    (found,) = (seconds for seconds in range(of_s + 1) if f"{100 * seconds / of_s:.1f}" == percent)
    return found


def load_seconds(percent: str, time_s: int) -> tuple[int, int]:
    """The load's CPU seconds and its own time, which ended with the compile or a second later."""
    for load_s in (time_s, time_s + 1):
        for seconds in range(load_s + 1):
            if f"{100 * seconds / load_s:.1f}" == percent:
                return seconds, load_s
    raise AssertionError(f"{percent} % of {time_s} s is not a whole number of seconds")


def published() -> Results:
    samples, loads, arms = [], [], []
    positions = itertools.count()
    for line in PUBLISHED.splitlines():
        if line.endswith(":"):
            loads.append(load_of(line[:-1]))
        elif found := ROW.match(line):
            arm, runs, time_s, cpu_pct, units, load_pct, _ratio = found.groups()
            cpu_s, time = whole_seconds(cpu_pct, int(time_s)), int(time_s)
            load_cpu_s, load_s = load_seconds(load_pct, time)
            metrics = {
                "elapsed_s": time, "user_s": cpu_s, "system_s": 0, "load_units": float(units),
                "load_reaped_cpu_s": load_cpu_s, "load_elapsed_s": load_s, "load_user_s": 1, "load_system_s": 1,
            }  # fmt: skip
            arms.append(arm)
            for run in range(int(runs)):
                place = next(positions)
                samples.append(Sample(f"{place}", run, place, arm, WORKLOAD, loads[-1], True, None, metrics))
    agent = describe_metrics()
    known = tuple(metric for metric in (*agent.workload, *agent.load) if metric.name in samples[0].metrics)
    return Results(
        engine="host", clock="real", seed=1, blocks=5, arms=tuple(dict.fromkeys(arms)), workloads=(WORKLOAD,),
        loads=tuple(loads), metrics={WORKLOAD: known}, samples=tuple(samples), planned=len(samples),
    )  # fmt: skip


@pytest.fixture(scope="module")
def report() -> build.Report:
    return build.build_report(published())


def test_the_published_tables_come_out_as_they_were_printed(report: build.Report) -> None:
    ours = contest.render(report, "reaped")
    assert len([line for line in ours.splitlines() if ROW.match(line)]) == 44
    assert ours == PUBLISHED


def test_all_cpu_time_of_a_load_is_counted_and_the_ratio_is_to_the_baseline(report: build.Report) -> None:
    lines = contest.render(report, "cgroup").splitlines()
    row = ROW.match(lines[lines.index("read_load:") + 4])
    assert row is not None
    arm, _, time, _, _, load_pct, ratio = row.groups()
    assert arm == "2.5.63-mm2"
    assert load_pct == f"{100 * 2 / int(time):.1f}"
    # 80 s of its own without a load had flattered it: 1.51.
    assert ratio == f"{int(time) / 79:.2f}" == "1.53"


def test_an_arm_without_a_valid_sample_has_no_numbers() -> None:
    text = contest.render(build.build_report(examples.loaded()), "reaped")
    assert re.search(r"mem_load:\n.*\ndefault .*\nbfs +0 +- +- +- +- +-\n", text)


def test_short_times_keep_their_fractions() -> None:
    text = contest.render(build.build_report(examples.loaded()), "reaped")
    assert re.search(r"io_load:\n.*\ndefault +4   1\.79 ", text)


def test_without_loads_there_is_no_such_table() -> None:
    plain = examples.campaign({"w": {"a": {"elapsed_s": (1, 0.1)}}}, {"w": (examples.WALL,)}, blocks=2, loads=("",))
    with pytest.raises(UsageError, match="compare with --load"):
        contest.render(build.build_report(plain), "reaped")

"""Names of workloads without the parameters that all of their kind share."""

import pytest

from runoff.analysis.labels import shorten_labels


@pytest.mark.parametrize(
    ("workloads", "names"),
    [
        (["hackbench"], ["hackbench"]),
        (["hackbench:groups=10,loops=50"], ["hackbench"]),
        (["counters:n=2,passes=3", "counters:n=3,passes=3"], ["counters:n=2", "counters:n=3"]),
        (["counters:n=2", "counters:n=2,passes=3"], ["counters", "counters:passes=3"]),
        (["counters", "counters:n=2"], ["counters", "counters:n=2"]),
        (["a:n=2", "b:n=2"], ["a", "b"]),
        (["command:gzip -9 file"], ["command:gzip -9 file"]),
        (["command:cc -DN=2,b=3 file", "command:true"], ["command:cc -DN=2,b=3 file", "command:true"]),
        (["command:a=1 true"], ["command:a=1 true"]),
    ],
)
def test_the_distinguishing_part_is_left(workloads, names):
    found = shorten_labels(workloads)
    assert [found[workload] for workload in workloads] == names


def test_names_stay_different():
    workloads = ["w", "w:a=1", "w:a=1,b=2", "w:a=2,b=2", "w:b=2,c=3", "v:a=1"]
    assert len(set(shorten_labels(workloads).values())) == len(workloads)

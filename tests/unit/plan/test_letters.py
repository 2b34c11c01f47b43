"""Options of programs that people know, as parameters of the workloads that have their names."""

import pytest

from runoff.errors import UsageError
from runoff.workloads.parse import parse_works


def label(text: str) -> str:
    (work,) = parse_works(text, 4)
    return work.label


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("hackbench -g 24 -l 10000 -T", "hackbench:groups=24,loops=10000,threads=on"),
        ("hackbench:-g 24 -l 10000", "hackbench:groups=24,loops=10000"),
        (
            "hackbench -s 512 -l200 --groups=15 -f 25 -P -p",
            "hackbench:groups=15,fds=25,loops=200,size=512,threads=off,transport=pipe",
        ),
        ("schbench -m 4 -t 64", "schbench:message_threads=4,workers=64"),
        (
            "schbench -F 32 -n 1 -r 5 -w 0 -s 10 -L",
            "schbench:sleep_us=10,operations=1,footprint_kb=32,locks=off,warm_up_s=0,seconds=5",
        ),
        ("pgbench -c 32 -j 4 -T 5 -S", "pgbench:script=select-only,clients=32,threads=4,seconds=5"),
        ("redis -t set -n 1000 -c 100 -P 16 -d 64", "redis:command=set,requests=1000,clients=100,pipeline=16,size=64"),
        ("fio --rw=randwrite --fsync=1", "fio:mode=randwrite,fsync=1"),
    ],
)
def test_options_are_parameters(text: str, found: str) -> None:
    assert label(text) == found


def test_an_option_may_have_several_values() -> None:
    assert [work.label for work in parse_works("hackbench -g 1..2 -T", 4)] == [
        "hackbench:groups=1,threads=on", "hackbench:groups=2,threads=on"
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("hackbench -g 24 -q", "'-q' is none of the options that are known here, which are -g, --groups, -f, "),
        ("hackbench -g", "-g needs a value; its parameters are written as hackbench:groups=2,"),
        ("hackbench -T=1", "-T takes no value"),
        ("hackbench -g 2 --groups=3", "groups is given twice"),
        ("hackbench -P -T", "threads is given twice"),
        ("hackbench -g 0", "groups=0 is out of its range 1..1000"),
        ("hackbench -g 'x", "No closing quotation"),
        ("schbench -R 100", "'-R' is none of the options that are known here"),
        ("counters -n 4", "counters has no options of a program, and '-n' is none of its parameters"),
    ],
)
def test_what_is_not_understood_is_named(text: str, words: str) -> None:
    with pytest.raises(UsageError) as error:
        parse_works(text, 4)
    assert words in str(error.value)

"""Ranges and lists of parameters: which arms they are, and what is refused."""

import pytest
from cli_runner import run

from runoff.engines.questions import AGENT_CATALOGUE
from runoff.errors import UsageError
from runoff.plan.make import make_plan
from runoff.plan.settings import parse_settings
from runoff.plan.sweep import MOST_ARMS, expand_sweep


def expand(text: str, *, large: bool = False) -> list[str]:
    return expand_sweep(text, AGENT_CATALOGUE, large=large)


@pytest.mark.parametrize(
    ("text", "arms"),
    [
        ("bfs:rr_interval_ms=5..7", ["bfs:rr_interval_ms=6", "bfs:rr_interval_ms=5", "bfs:rr_interval_ms=7"]),
        ("bfs:rr_interval_ms=10..30+10", ["bfs:rr_interval_ms=6", *(f"bfs:rr_interval_ms={n}" for n in (10, 20, 30))]),
        ("eevdf:slice_us=500..4000*2", ["eevdf:slice_us=0", *(f"eevdf:slice_us={n}" for n in (500, 1000, 2000, 4000))]),
        ("bfs:rr_interval_ms=1..3*1.5", [f"bfs:rr_interval_ms={n}" for n in (6, 1, 2, 3)]),
        ("bfs:rr_interval_ms=1|3..4|9", [f"bfs:rr_interval_ms={n}" for n in (6, 1, 3, 4, 9)]),
        ("o1:era=2.6.8|2.6.20@debian:7.2", ["o1:era=2.6.8@debian:7.2", "o1:era=2.6.20@debian:7.2"]),
        ("./my.bpf.o:depth=1|2", ["./my.bpf.o", "./my.bpf.o:depth=1", "./my.bpf.o:depth=2"]),
        (
            "default+io=cfq:slice_idle_ms=0|4",
            ["default+io=cfq:slice_idle_ms=8", "default+io=cfq:slice_idle_ms=0", "default+io=cfq:slice_idle_ms=4"],
        ),
        (
            "zaphod:mode=eb,time_slice=50..100+50",
            ["zaphod:mode=eb,time_slice=100", "zaphod:mode=eb,time_slice=50"],
        ),
    ],
)
def test_the_defaults_come_first_and_then_every_value_once(text: str, arms: list[str]):
    assert expand(text) == arms


def test_two_parameters_are_every_combination():
    arms = expand("zaphod:mode=pb|eb,time_slice=20|100")
    assert arms[0] == "zaphod:mode=pb,time_slice=100"
    assert sorted(arms) == sorted(f"zaphod:mode={m},time_slice={t}" for m in ("pb", "eb") for t in (20, 100))


def test_the_arms_make_a_plan():
    values = {"arms": expand("bfs:rr_interval_ms=1..20"), "workloads": ["hackbench"]}
    assert len(make_plan(parse_settings(values, "test"), AGENT_CATALOGUE).arms) == 20
    plan = run("sweep", "bfs:rr_interval_ms=1..3", "--work", "hackbench", "--clock", "virtual", "--plan-only").stdout
    assert plan.count("bfs:rr_interval_ms=") == 4


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("bfs", "nothing varies: give a parameter a range or a list"),
        ("bfs:rr_interval_ms=6", "nothing varies"),
        ("bfs:rr=1..5", "bfs has no parameter 'rr'"),
        ("bfs:rr_interval_ms=5..1", "ends before it begins"),
        ("bfs:rr_interval_ms=1..5x", "must be a range like 1..20, 0..100+10 or 1..1000*2, or a list"),
        ("bfs:rr_interval_ms=1..5+0", "the step must be a whole number of 1 or more"),
        ("bfs:rr_interval_ms=1..5+1.5", "the step must be a whole number of 1 or more"),
        ("bfs:rr_interval_ms=1..5*1", "multiplies by more than 1"),
        ("bfs:rr_interval_ms=0..5*2", "begins at 1 or more"),
        ("bfs:rr_interval_ms=1|", "must be a range"),
        ("bfs:rr_interval_ms=1|1..2", "has a value twice"),
        ("bfs:rr_interval_ms=1..999999999999999999", "has over 10000 values"),
        ("exec:scx_x -k 1..2", "the options of a program are not parameters"),
    ],
)
def test_what_is_not_a_sweep_is_refused(text: str, sentence: str):
    with pytest.raises(UsageError) as caught:
        expand(text)
    assert sentence in str(caught.value)
    assert str(caught.value).startswith(f"sweep {text!r}")


def test_many_arms_are_taken_only_if_that_is_wanted():
    text = f"bfs:rr_interval_ms=1..{MOST_ARMS + 1}"
    refused = run("sweep", text, "--work", "hackbench", "--plan-only", expect=64).stderr
    assert f"is {MOST_ARMS + 1} arms, and every one is taken in every block" in refused
    assert "add --yes" in refused
    assert run("sweep", text, "--work", "hackbench", "--plan-only", "--yes").stdout.count("bfs:") == MOST_ARMS + 1
    assert len(expand(f"bfs:rr_interval_ms=1..{MOST_ARMS}")) == MOST_ARMS


def test_values_out_of_range_are_named_as_those_of_an_arm():
    refused = run("sweep", "bfs:rr_interval_ms=0..3", "--work", "hackbench", "--plan-only", expect=64).stderr
    assert "rr_interval_ms=0 is out of its range 1..1000 ms" in refused

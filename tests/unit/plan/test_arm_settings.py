"""Settings of arms: which names there are, how values are spelled, and what such an arm is called."""

from typing import Any

import pytest

from runoff.engines.agent import describe_settings
from runoff.errors import UsageError
from runoff.plan.arm_settings import Setting, parse_settings
from runoff.plan.catalogue import Catalogue
from runoff.plan.make import make_plan
from runoff.plan.plan import Plan
from runoff.plan.settings import parse_settings as parse_plan
from runoff.plan.sweep import expand_sweep

SLICE = "sched.base_slice_ns"


def value(name: str, text: str) -> str:
    (found,) = parse_settings([(name, text)], describe_settings, "arm 'a'")
    return found.value


def plan(*arms: str, on: str = "lab", **more: Any) -> Plan:
    given = {"arms": list(arms), "workloads": ["counters"], "on": on, "clock": "virtual", "seed": 1, **more}
    return make_plan(parse_plan(given, "test"), Catalogue(settings=describe_settings))


@pytest.mark.parametrize(
    "text", ["20000000", "20_000_000", "2e7", "020000000", "+20000000", "20ms", "0.02s", "20000us"]
)
def test_one_number_has_many_spellings(text: str) -> None:
    assert value(SLICE, text) == "20000000"


@pytest.mark.parametrize(
    ("name", "text", "plain"),
    [
        ("smt", "0", "off"),
        ("boost", "Yes", "on"),
        ("thp", "never", "never"),
        ("sysctl.net.ipv4.tcp_rmem", "4096  131072 6291456", "4096 131072 6291456"),
        ("sched.features", "NO_RUN_TO_PARITY,PLACE_LAG", "NO_RUN_TO_PARITY,PLACE_LAG"),
        ("sysctl.kernel.sched_rr_timeslice_ms", "1s", "1000"),
        ("sysctl.vm.swappiness", "-1", "-1"),
        ("sysctl.kernel.hostname", "5x", "5x"),
    ],
)
def test_values_are_made_plain(name: str, text: str, plain: str) -> None:
    assert value(name, text) == plain


@pytest.mark.parametrize(
    ("pairs", "sentence"),
    [
        ([("hertz", "5")], "arm 'a': there is no setting 'hertz'; there are: boost, "),
        ([("bost", "on")], "did you mean 'boost'"),
        ([("sched_rr_timeslice_ms", "5")], "did you mean 'sysctl.kernel.sched_rr_timeslice_ms'"),
        ([("sched.", "5")], "there is no setting 'sched.'"),
        ([("smt", "maybe")], "smt is on or off, not 'maybe'"),
        ([("smt", "")], "a value must follow +smt="),
        ([(SLICE, "1.5")], "takes whole numbers, not '1.5'"),
        ([("sysctl.vm.swappiness", "20ms")], "does not say in which unit it is"),
        ([("thp", "never"), ("thp", "always")], "thp is given twice"),
    ],
)
def test_wrong_settings_are_named(pairs: list[tuple[str, str]], sentence: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_settings(pairs, describe_settings, "arm 'a'")
    assert sentence in str(caught.value)
    assert caught.value.exit_code == 64


def test_two_spellings_of_one_value_are_twins() -> None:
    arms = (f"default+{SLICE}=20ms", f"default+{SLICE}=20000000", f"default+{SLICE}=21000000")
    assert plan(*arms).twins == {f"default+{SLICE}=20000000": 1}
    assert plan("default+smt=off+thp=never", "default+thp=never+smt=0").twins == {"default+thp=never+smt=0": 1}


def test_a_real_cpu_is_needed_for_its_frequency() -> None:
    with pytest.raises(UsageError, match="governor needs --on host"):
        plan("default", "default+governor=performance")
    plan("default", "default+governor=performance", on="host", clock="real")


def test_a_setting_is_swept_against_what_the_machine_has() -> None:
    catalogue = Catalogue(settings=describe_settings)
    arms = expand_sweep(f"default+{SLICE}=1ms|20ms+thp=never@debian", catalogue)
    assert arms == [
        f"default+{each}thp=never@debian" for each in ("", f"{SLICE}=1ms+", f"{SLICE}=20ms+")
    ]  # fmt: skip


def test_a_setting_is_shown_as_an_arm_has_it() -> None:
    (arm,) = plan("default+thp=never+smt=0").arms
    assert arm.settings == (Setting("thp", "never"), Setting("smt", "off"))
    assert arm.about == "the kernel's own scheduler; with thp=never, smt=off"

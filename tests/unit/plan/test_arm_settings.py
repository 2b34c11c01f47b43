"""Settings of arms: which names there are, how values are spelled, and what such an arm is called."""

from typing import Any

import pytest

from runoff.engines.agent import make_sample_request
from runoff.engines.questions import describe_settings
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
        ("nice", "+5", "5"),
        ("weight", "1e2", "100"),
        ("quota", "0.5", "50%"),
        ("quota", "250%", "250%"),
        ("quota", "max", "max"),
        ("policy", "FIFO", "fifo:1"),
        ("policy", "rr:50", "rr:50"),
        ("policy", "other", "normal"),
        ("cpuset", "3,0-1,2,8", "0-3,8"),
        ("cmdline", " preempt=lazy  threadirqs ", "preempt=lazy threadirqs"),
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
        ([("nice", "20")], "nice is -20 to 19, not '20'"),
        ([("weight", "0")], "weight is 1 to 10000, not '0'"),
        ([("weight", "idle")], "weight is 1 to 10000, not 'idle'"),
        ([("quota", "0.001")], "quota is a share of one CPU in whole percent"),
        ([("quota", "lots")], "quota is a share of one CPU in whole percent"),
        ([("policy", "batch:3")], "policy is normal, batch, idle, fifo or rr"),
        ([("policy", "fifo:100")], "policy is normal, batch, idle, fifo or rr"),
        ([("cmdline", "quiet x")], "quiet is what runoff itself boots a guest with or without"),
        ([("cmdline", "a=\N{SNOWMAN}")], "cmdline is up to 512 letters of ASCII without quotes"),
        ([("cpuset", "3-1")], "cpuset is a list of CPUs such as 0-3,8, not '3-1'"),
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
    with pytest.raises(UsageError, match="cmdline needs --on lab"):
        plan("default", "default+cmdline=a=1", on="host", clock="real")
    assert [arm.command_line for arm in plan("default", "bfs+thp=never+cmdline=a=1").arms] == ["", "a=1"]


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


def test_a_load_has_settings_of_its_own() -> None:
    made = plan("default", "bfs", loads=["none", "burn+weight=20", "io:size_mb=64+nice=5+cpuset=1,0"])
    _, burn, io = made.loads
    assert burn is not None
    assert io is not None
    assert made.load_labels == ("none", "burn+weight=20", "io:size_mb=64+nice=5+cpuset=1,0")
    assert (burn.settings, io.settings) == ((("weight", "20"),), (("nice", "5"), ("cpuset", "0-1")))
    assert io.values["size_mb"] == "64"
    assert made.controllers == ("cpu", "cpuset")
    message = burn.load_message(None)["work"]
    assert message["settings"] == [{"name": "weight", "value": "20"}]
    assert plan("default", loads=["burn+nice=5"]).controllers == ()


@pytest.mark.parametrize(
    ("load", "sentence"),
    [
        ("burn+thp=never", "thp is a setting of the whole machine: give it to the arms"),
        ("burn+weight=0", "weight is 1 to 10000"),
        ("burn+io=cfq", "an elevator or a kernel is a part of an arm, not of a load"),
        ("burn+nice=5@debian", "an elevator or a kernel is a part of an arm"),
        ("none+weight=5", "nothing runs that could have settings"),
    ],
)
def test_what_a_load_cannot_have_is_refused(load: str, sentence: str) -> None:
    with pytest.raises(UsageError) as caught:
        plan("default", loads=[load])
    assert sentence in str(caught.value)


def test_a_request_has_settings_where_the_agent_makes_them() -> None:
    made = plan("default+thp=never+weight=20+nice=5", "default", loads=["burn+quota=30%"])
    (load,) = made.loads
    request = make_sample_request(
        "a", {"kind": "default"}, made.works[0], load, settings=made.arms[0].settings, controllers=made.controllers
    )
    names = [
        [each["name"] for each in part["settings"]] for part in (request, request["workload"], request["load"]["work"])
    ]
    assert names == [["thp"], ["weight", "nice"], ["quota"]]
    assert request["workload"]["controllers"] == ["cpu"]
    assert made.has_settings(made.arms[1])
    assert made.list_work_settings(made.arms[1]) == [[], [("quota", "30%")]]

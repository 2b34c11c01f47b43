"""Programs as arms: by their command line, or by the names and modes of the scx project."""

import tomllib
from collections.abc import Mapping
from typing import Any

import pytest

from runoff.errors import UsageError
from runoff.plan.arms import parse_arm
from runoff.plan.catalogue import Catalogue
from runoff.plan.make import make_plan
from runoff.plan.plan import Plan
from runoff.plan.rerun import render_command, render_plan
from runoff.plan.settings import parse_settings
from runoff.plan.sweep import expand_sweep

POWERSAVE = "-m powersave -I 100"


def describe(program: str) -> Mapping[str, str]:
    return {"auto": "", "powersave": POWERSAVE} if program == "scx_bpfland" else {}


def plan(*arms: str, **more: Any) -> Plan:
    given = {"arms": list(arms), "workloads": ["counters"], "clock": "virtual", "seed": 1, **more}
    return make_plan(parse_settings(given, "test"), Catalogue(modes=describe))


@pytest.mark.parametrize(
    ("text", "argv"),
    [
        ("scx_lavd", ["scx_lavd"]),
        ("scx:lavd", ["scx_lavd"]),
        ("scx:scx_lavd", ["scx_lavd"]),
        ("scx_lavd-1.1.4", ["scx_lavd-1.1.4"]),
        ("scx_p2dq", ["scx_p2dq"]),
        ("exec:scx_bpfland -m powersave -I 100", ["scx_bpfland", "-m", "powersave", "-I", "100"]),
        ("scx_bpfland:powersave", ["scx_bpfland", "-m", "powersave", "-I", "100"]),
        ("scx:bpfland:powersave", ["scx_bpfland", "-m", "powersave", "-I", "100"]),
        ("scx_bpfland-1.1.3:powersave", ["scx_bpfland-1.1.3", "-m", "powersave", "-I", "100"]),
        ("scx_bpfland:auto", ["scx_bpfland"]),
    ],
)
def test_a_name_is_a_command_line(text: str, argv: list[str]) -> None:
    (arm,) = plan(text).arms
    assert dict(arm.scheduler) == {"kind": "program", "argv": argv}
    assert arm.label == text
    assert arm.needs_sched_ext
    assert arm.can_be_ready


def test_an_arm_of_a_program_has_settings_an_elevator_and_a_kernel() -> None:
    (arm,) = plan("scx_bpfland:powersave+thp=never+io=cfq@debian").arms
    assert arm.scheduler["argv"][0] == "scx_bpfland"
    assert [str(each) for each in arm.settings] == ["thp=never"]
    assert arm.elevator is not None
    assert (arm.elevator.name, arm.kernel) == ("cfq", "debian")
    # What the machine has is made before the program starts, so no kept guest has it running.
    assert not arm.can_be_ready
    assert arm.about.startswith(f"the scheduler that scx_bpfland attaches with {POWERSAVE}; with thp=never")


def test_the_plan_keeps_the_options_whatever_the_configuration_says_later() -> None:
    first = plan("default", "scx_bpfland:powersave", "scx_bpfland")
    assert dict(first.settings.modes) == {"scx_bpfland:powersave": POWERSAVE}
    again = make_plan(first.settings, Catalogue(modes=lambda _: {"powersave": "--another"}))
    assert again.arms[1].scheduler["argv"] == ["scx_bpfland", *POWERSAVE.split()]
    assert again == first
    unchecked = make_plan(first.settings, Catalogue())
    assert unchecked.arms == first.arms
    read = parse_settings(tomllib.loads(render_plan(first.settings)), "test")
    assert read.modes == first.settings.modes
    assert "--mode 'scx_bpfland:powersave=-m powersave -I 100'" in render_command(first.settings)


def test_a_mode_of_ones_own_is_given_with_its_options() -> None:
    made = plan("scx_bpfland:mine", "scx_bpfland:auto", modes={"scx_bpfland:mine": "  -s  5000 '-x y'"})
    assert made.arms[0].scheduler["argv"] == ["scx_bpfland", "-s", "5000", "-x y"]
    assert dict(made.settings.modes) == {"scx_bpfland:mine": "-s 5000 '-x y'", "scx_bpfland:auto": ""}
    assert plan("scx_bpfland:auto", modes={"scx_bpfland:auto": "-k"}).arms[0].scheduler["argv"] == ["scx_bpfland", "-k"]


def test_one_command_line_is_one_arm_however_it_is_named() -> None:
    names = ("scx_bpfland:powersave", "scx:bpfland:powersave", f"exec:scx_bpfland {POWERSAVE}", "scx_bpfland")
    assert dict(plan(*names).twins) == {names[1]: 1, names[2]: 2}


def test_a_short_name_may_stand_for_a_mode() -> None:
    made = plan("default", "quiet", names={"quiet": "scx:bpfland:powersave"})
    assert made.arms[1].scheduler["argv"][1:] == POWERSAVE.split()
    assert made.arms[1].label == "quiet"


@pytest.mark.parametrize(
    ("arm", "more", "words"),
    [
        ("scx_bpfland:power", {}, "scx_bpfland has no mode 'power'; did you mean 'powersave'?"),
        ("scx_bpfland:power", {}, "options of your own are an arm as 'exec:scx_bpfland --options'"),
        ("scx_new:auto", {}, "scx_new has no mode 'auto'"),
        ("scx_bpfland:slice=3", {}, "a mode such as gaming must follow scx_bpfland: and not parameters"),
        ("scx_bpfland:", {}, "a mode such as gaming must follow scx_bpfland:"),
        ("scx:", {}, "a program of the scx project is named as in scx_lavd or scx_lavd:gaming"),
        ("scx_LAVD", {}, "a program of the scx project is named as in scx_lavd or scx_lavd:gaming"),
        ("default", {"modes": {"scx_bpfland:auto": "-k"}}, "no arm has the mode 'scx_bpfland:auto': leave it out"),
        ("scx_bpfland:mine", {"modes": {"scx_bpfland:mine": "'"}}, "mode 'scx_bpfland:mine': No closing quotation"),
    ],
)
def test_what_is_no_mode_is_named(arm: str, more: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError) as error:
        plan(arm, **more)
    assert words in str(error.value)


def test_a_program_is_named_without_a_plan_too() -> None:
    assert parse_arm("scx_lavd", None).scheduler == {"kind": "program", "argv": ["scx_lavd"]}


def test_settings_of_a_program_can_be_swept() -> None:
    arms = expand_sweep("scx_bpfland:powersave+nice=0|5", Catalogue())
    assert arms == ["scx_bpfland:powersave", "scx_bpfland:powersave+nice=0", "scx_bpfland:powersave+nice=5"]

"""An arm that differs from the baseline in one setting alone has that setting's name in reports."""

from dataclasses import replace

import pytest
import report_examples as examples

from runoff.analysis.arm_names import find_names, name_by_setting
from runoff.analysis.build import build_report
from runoff.results import IMPORTED, Descriptions

SLICE = "sched.base_slice_ns"


@pytest.mark.parametrize(
    ("arms", "names"),
    [
        (("default", f"default+{SLICE}=20ms", "bfs", "bfs+thp=never"), {f"default+{SLICE}=20ms": f"{SLICE}=20ms"}),
        (("default", "default+thp=never+smt=off"), {}),
        (("bfs+thp=never", "bfs+thp=always", "bfs"), {"bfs+thp=always": "thp=always"}),
        (("bfs+thp=never", "bfs+thp=never+smt=off"), {"bfs+thp=never+smt=off": "smt=off"}),
        (("bfs:rr=3", "bfs:rr=4+thp=never", "bfs:rr=3+thp=never"), {"bfs:rr=3+thp=never": "thp=never"}),
        (("default", "default+thp=never@debian", "default+thp=never+io=cfq", "default+io=cfq"), {}),
        (("default@debian", "default+thp=never@debian"), {"default+thp=never@debian": "thp=never"}),
        # One is the label of another arm, and two would have one name.
        (("default", "default+thp=never", "thp=never"), {}),
        (("default", "default+thp=never", "default+thp=never"), {}),
        (("exec:scx_x", "exec:scx_x +thp=never"), {}),
        (("default", 'default+thp="never'), {}),
        ((), {}),
    ],
)
def test_names_are_of_one_setting_and_tell_arms_apart(arms: tuple[str, ...], names: dict[str, str]) -> None:
    assert find_names(tuple(dict.fromkeys(arms))) == names if len(set(arms)) == len(arms) else not names


def test_an_arm_has_its_name_wherever_it_is_told() -> None:
    long, short = f"default+{SLICE}=20ms", f"{SLICE}=20ms"
    cells = {"w": {"default": {"elapsed_s": (10, 0.1)}, long: {"elapsed_s": (12, 0.1)}}}
    results = replace(
        examples.campaign(cells, {"w": (examples.WALL,)}, blocks=6),
        twins={long: 1}, descriptions=Descriptions(arms={long: "about"}), fingerprint={"arms": {long: {"a": "b"}}},
    )  # fmt: skip
    named = name_by_setting(results)
    assert named.arms == ("default", short)
    assert {sample.arm for sample in named.samples} == {"default", short}
    assert (named.twins, named.descriptions.arms) == ({short: 1}, {short: "about"})
    assert named.fingerprint == {"arms": {short: {"a": "b"}}}
    assert long not in str(replace(named, rerun=""))
    assert name_by_setting(replace(results, engine=IMPORTED)).arms == ("default", long)
    report = build_report(results)
    assert report.results == named
    assert report.tables[0].analysis.comparisons[short].percent == pytest.approx(20, abs=2)
    plain = examples.campaign({"w": {"a": {"elapsed_s": (1, 0.1)}}}, {"w": (examples.WALL,)}, blocks=3)
    assert name_by_setting(plain) is plain


def test_a_sweep_keeps_the_names_that_its_axis_is_read_from() -> None:
    arms = [f"bfs+{SLICE}={ms}ms" for ms in (1, 2, 4)]
    cells = {"w": {arm: {"elapsed_s": (10, 0.1)} for arm in arms}}
    report = build_report(examples.campaign(cells, {"w": (examples.WALL,)}, blocks=4))
    assert report.results.arms == tuple(arms)
    assert report.sweep is not None
    assert report.sweep.parameters == (SLICE,)
    assert report.sweep.describe(arms[1]) == "2ms"

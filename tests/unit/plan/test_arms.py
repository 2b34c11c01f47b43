"""The arm grammar and what it refuses."""

from dataclasses import replace
from typing import Any

import pytest

from runoff.errors import UsageError
from runoff.plan.arms import find_twins, parse_arm
from runoff.plan.parameters import describe_allowed

KNOWN = {
    "bfs": {"parameters": [{"name": "rr_interval_ms", "min": 1, "max": 1000, "unit": "ms", "default": 6}]},
    "hydra": {
        "parameters": [
            {"name": "mode", "choices": ["sc", "pb", "eb"], "default": "sc"},
            {"name": "era", "choices": ["2.6.8", "2.6.31"], "default": "2.6.31"},
            {"name": "compute", "min": 0, "max": 1, "unit": "1", "default": 0},
        ]
    },
}


def known() -> dict[str, Any]:
    return KNOWN


def test_default_has_no_parameters_and_needs_no_sched_ext() -> None:
    arm = parse_arm("default", known)
    assert arm.scheduler == {"kind": "default"}
    assert not arm.needs_sched_ext


def test_builtin_with_parameter_and_kernel() -> None:
    arm = parse_arm("bfs:rr_interval_ms=3@debian:6.19", known)
    assert arm.scheduler == {"kind": "builtin", "name": "bfs", "parameters": {"rr_interval_ms": "3"}}
    assert arm.kernel == "debian:6.19"
    assert arm.label == "bfs:rr_interval_ms=3@debian:6.19"


def test_a_choice_is_taken_by_its_name() -> None:
    arm = parse_arm("hydra:mode=eb,era=2.6.31,compute=1@debian:6.19", known)
    assert arm.scheduler["parameters"] == {"mode": "eb", "era": "2.6.31", "compute": "1"}
    assert arm.kernel == "debian:6.19"


def test_what_a_parameter_may_be_is_said_in_words() -> None:
    (interval,) = KNOWN["bfs"]["parameters"]
    mode, era, compute = KNOWN["hydra"]["parameters"]
    assert [describe_allowed(each) for each in (interval, mode, era, compute)] == [
        "1..1000 ms",
        "sc or pb or eb",
        "2.6.8 or 2.6.31",
        "0..1",
    ]


def test_program_keeps_its_arguments_and_takes_a_kernel_at_the_end() -> None:
    arm = parse_arm("exec:/usr/bin/scx_bpfland -k --slice-us 1000 @debian", known)
    assert arm.scheduler == {"kind": "program", "argv": ["/usr/bin/scx_bpfland", "-k", "--slice-us", "1000"]}
    assert arm.kernel == "debian"


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("default", "default", True),
        ("bfs", "bfs:rr_interval_ms=6", True),
        ("bfs:rr_interval_ms=06", "bfs", True),
        ("hydra", "hydra:mode=sc,compute=0", True),
        ("hydra", "hydra:mode=pb", False),
        ("bfs", "bfs:rr_interval_ms=7", False),
        ("bfs", "bfs@debian:6.19", False),
        ("default", "bfs", False),
        ("default+io=bfq", "default+io=bfq", True),
        ("default+io=bfq", "default+io=kyber", False),
        ("exec:scx_bpfland -k", "exec:scx_bpfland  -k", True),
        ("exec:scx_bpfland -k", "exec:scx_bpfland", False),
    ],
)
def test_an_arm_is_another_again_if_nothing_of_it_differs(one: str, other: str, same: bool) -> None:
    arms = [replace(parse_arm(text, known), label=label) for label, text in (("a", one), ("b", other))]
    assert find_twins(arms, known) == ({"b": 1} if same else {})


def test_objects_with_the_same_content_are_equal(tmp_path: Any) -> None:
    for name, content in (("base", b"one"), ("copy", b"one"), ("changed", b"other")):
        (tmp_path / f"{name}.bpf.o").write_bytes(content)
    arms = [parse_arm(f"{tmp_path}/{name}.bpf.o", known) for name in ("base", "changed", "copy")]
    third = replace(arms[0], label="again")
    assert find_twins([*arms, third], known) == {arms[2].label: 1, "again": 2}


def test_object_file_must_exist(tmp_path: Any) -> None:
    path = tmp_path / "my.bpf.o"
    path.write_bytes(b"")
    assert parse_arm(str(path), known).scheduler["path"] == str(path)
    with pytest.raises(UsageError, match=r"there is no object file \./no\.bpf\.o"):
        parse_arm("./no.bpf.o", known)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "an arm is empty"),
        ("bsf", "unknown scheduler 'bsf'; did you mean 'bfs'?"),
        ("xyz", "there are: bfs, default, hydra"),
        ("bfs:rr=3", "bfs has no parameter 'rr'"),
        ("bfs:rr_interval_ms=0", "rr_interval_ms=0 is out of its range 1..1000 ms"),
        ("bfs:rr_interval_ms=1001", "out of its range"),
        ("bfs:rr_interval_ms=six", "must be a whole number, not 'six'"),
        ("bfs:rr_interval_ms=nan", "must be a whole number, not 'nan'"),
        ("bfs:rr_interval_ms=6.0", "must be a whole number, not '6.0'"),
        ("bfs:rr_interval_ms=1_0", "must be a whole number, not '1_0'"),
        ("bfs:rr_interval_ms=\N{ARABIC-INDIC DIGIT SIX}", "must be a whole number, not "),
        ("hydra:mode=xx", 'mode="xx" is none of sc, pb, eb'),
        ("hydra:mode=1", 'mode="1" is none of sc, pb, eb'),
        ("hydra:era=2.6", 'era="2.6" is none of 2.6.8, 2.6.31'),
        ("hydra:compute=2", "compute=2 is out of its range 0..1"),
        ("bfs:rr_interval_ms", "'rr_interval_ms' is not key=value"),
        ("bfs:rr_interval_ms=1,rr_interval_ms=2", "is given twice"),
        ("default:x=1", "has no parameters; a setting"),
        ("default@", "a kernel must follow the @"),
        ("exec:", "a program must follow"),
        ("exec:'a", "No closing quotation"),
    ],
)
def test_wrong_arms_are_named(text: str, sentence: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_arm(text, known)
    assert sentence in str(caught.value)
    assert caught.value.exit_code == 64

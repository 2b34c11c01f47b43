"""A gate over whole campaigns: exit codes, what it prints, and what it refuses."""

import json
import math
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner, Result
from made_campaigns import Values, made, noisy

from runoff.cli.gate import command
from runoff.cli.report import command as report
from runoff.errors import UsageError
from runoff.plan.order import Cell
from runoff.statistics.gate_risk import correlation
from runoff.text import escape_line


def gate(place: Path, *options: str, expect: int | None = None) -> Result:
    answer = CliRunner().invoke(command, [str(place), *options], standalone_mode=False, env={"COLUMNS": "80"})
    if answer.exception is not None:
        raise answer.exception
    assert expect is None or answer.return_value == expect, answer.output
    return answer


@pytest.mark.parametrize(
    ("change", "sd", "code", "first"),
    [
        (0.0, 0.005, 0, "Fine: no headline metric is worse than with default by more than 2 %."),
        (-0.3, 0.005, 0, "Fine"),
        (0.05, 0.005, 1, "Regressed: worse than default by more than 2 %: bfs on hackbench"),
        (0.03, 0.015, 1, "Worse than default, perhaps by more than 2 %: bfs on hackbench"),
        (0.02, 0.06, 2, "Cannot tell whether bfs is worse than default by more than 2 %."),
        (0.0, 0.2, 2, "Cannot tell"),
    ],
)
def test_the_exit_code_agrees_with_the_first_line(tmp_path, change, sd, code, first):
    answer = gate(made(tmp_path / "c", noisy(0.0, change, sd=sd)), expect=code)
    assert answer.output.replace("\n", " ").startswith(first)


def test_a_metric_of_which_more_is_better_regresses_downwards(tmp_path):
    def slower(cell: Cell) -> dict[str, float]:
        noise = noisy(0.0, 0.0)(cell)["time_s"] / 10
        met = 90 * noise * (0.95 if cell.arm else 1)
        return {"latency_mean_us": 5 * noise, "desired_cpu_pct": met, "deadlines_met_pct": met}

    answer = gate(made(tmp_path / "c", slower, workloads=("periodic:task=audio",)), "--json", expect=1)
    found = {line["metric"]: line["outcome"] for line in json.loads(answer.output)["comparisons"]}
    assert found["deadlines_met_pct"] == "regressed"
    assert found["latency_mean_us"] == "fine"
    faster = gate(
        made(
            tmp_path / "d",
            lambda cell: slower(replace(cell, arm=1 - cell.arm)),
            workloads=("periodic:task=audio",),
        ),
        "--json",
    )
    assert {line["outcome"] for line in json.loads(faster.output)["comparisons"]} == {"fine"}


def test_what_correlates_are_logarithms_that_are_above_zero_where_worse(tmp_path, monkeypatch):
    def values(cell: Cell) -> dict[str, float]:
        by = 0.01 * (cell.block + 1) * cell.arm
        met = 90 * math.exp(-2 * by)
        return {"latency_mean_us": 5 * math.exp(by), "desired_cpu_pct": met, "deadlines_met_pct": met}

    seen = []
    monkeypatch.setattr(
        "runoff.decide.gate.judge.correlation", lambda series: seen.append(series) or correlation(series)
    )
    gate(made(tmp_path / "c", values, workloads=("periodic:task=audio",)))
    rises = sorted(round(differences[9] / 0.1, 9) for differences in seen[0])
    assert rises == [1, 2, 2]
    assert seen[0][0] == pytest.approx({block: seen[0][0][0] * (block + 1) for block in range(10)})


def test_the_limit_is_the_users_or_the_plans_or_two_percent(tmp_path):
    place = made(tmp_path / "c", noisy(0.0, 0.03, sd=0.002))
    gate(place, expect=1)
    gate(place, "--max-regression", "5%", expect=0)
    gate(made(tmp_path / "d", noisy(0.0, 0.03, sd=0.002), margin=0.05), expect=0)


@pytest.mark.parametrize("limit", ["0", "0%", "100%", "1"])
def test_a_limit_that_is_none_is_refused(tmp_path, limit):
    with pytest.raises(UsageError, match="is not a limit"):
        gate(made(tmp_path / "c", noisy(0.0, 0.0)), "--max-regression", limit)


def gate_of(*words: Path | str, expect: int) -> str:
    told = [*map(str, words), "--max-regression", "2%"]
    answer = CliRunner().invoke(command, told, standalone_mode=False, env={"COLUMNS": "100"})
    if answer.exception is not None:
        raise answer.exception
    assert answer.return_value == expect, answer.output
    return " ".join(answer.output.split())


def taken(place: Path, change: float, seed: int, *, speed: float = 1.0, **settings) -> Path:
    """A campaign of one job: its control and one arm, on a machine of this speed."""
    return made(place, noisy(0.0, change, sd=0.005, mean=10 / speed, seed=seed), **settings)


def test_campaigns_of_two_jobs_are_held_against_each_other_by_their_control(tmp_path):
    """The second machine is three times as fast, which does not count as an improvement."""
    base, alike = taken(tmp_path / "base", 0.1, 1), taken(tmp_path / "alike", 0.1, 2, speed=3)
    worse = taken(tmp_path / "worse", 0.2, 3, speed=3)
    assert gate_of(base, alike, expect=0).startswith("Fine: no headline metric is worse than with base by more than 2")
    assert "worse" in gate_of(base, worse, expect=1)
    assert "worse than with before" in gate_of(f"before={base}", f"after={alike}", expect=0)
    assert "Fine" in gate_of(base, worse, "--control=none", expect=0)


def test_a_control_needs_several_campaigns(tmp_path):
    with pytest.raises(UsageError, match="--control is for several campaigns"):
        gate_of(taken(tmp_path / "c", 0.0, 1), "--control=default", expect=64)


@pytest.mark.parametrize("is_first", [True, False])
def test_a_job_that_did_not_end_tells_nothing_beside_another(tmp_path, is_first):
    whole, part = taken(tmp_path / "whole", 0.0, 1), taken(tmp_path / "part", 0.0, 2, stop_after=16)
    said = gate_of(*((part, whole) if is_first else (whole, part)), expect=2)
    assert "planned samples are taken, so nothing can be told yet" in said


def test_a_job_that_lost_samples_cannot_pass_beside_another(tmp_path):
    def losing(cell: Cell) -> dict[str, float] | None:
        return None if cell.arm and cell.block < 3 else noisy(0.0, 0.0, seed=2)(cell)

    base, lost = taken(tmp_path / "base", 0.0, 1), made(tmp_path / "lost", losing)
    assert "void" in gate_of(base, lost, expect=2)


def test_one_arm_is_refused(tmp_path):
    with pytest.raises(UsageError, match="only arm"):
        gate(made(tmp_path / "c", noisy(0.0), arms=("default",)))


def test_an_incomplete_campaign_cannot_tell_even_of_a_regression(tmp_path):
    answer = gate(made(tmp_path / "c", noisy(0.0, 0.5), stop_after=16), "--json", expect=2)
    document = json.loads(answer.output)
    assert document["outcome"] == "cannot tell"
    assert document["comparisons"][0]["outcome"] == "regressed"
    assert any("only 16 of 20" in note for note in document["notes"])


def test_a_regression_of_one_arm_counts_though_another_is_void(tmp_path):
    def values(cell: Cell) -> Mapping[str, float] | None:
        return None if cell.arm == 2 else noisy(0.0, 0.2)(cell)

    answer = gate(made(tmp_path / "c", values, arms=("default", "bfs", "o1")), "--json", expect=1)
    bfs, o1 = json.loads(answer.output)["comparisons"]
    assert (bfs["outcome"], o1["outcome"]) == ("regressed", "cannot tell")
    assert "o1 has no valid sample" in o1["reason"]


@pytest.mark.parametrize("void", [0, 1])
def test_a_void_arm_is_unclear(tmp_path, void):
    def values(cell: Cell) -> Mapping[str, float] | None:
        return None if cell.arm == void else noisy(0.0, 0.0)(cell)

    answer = gate(made(tmp_path / "c", values), expect=2)
    assert "no valid sample" in " ".join(answer.output.split())
    assert "cannot be computed" in " ".join(answer.output.split())


def ejected(*blocks: int, arm: int = 1) -> Values:
    """Equal arms, one of which the kernel ejects in these blocks."""

    def values(cell: Cell) -> Mapping[str, float] | None:
        return None if cell.arm == arm and cell.block in blocks else noisy(0.0, 0.0, sd=0.001)(cell)

    return values


@pytest.mark.parametrize(("void", "blocks"), [(14, 20), (17, 20), (7, 10), (3, 10), (95, 100), (1, 10), (2, 20)])
@pytest.mark.parametrize("arm", [0, 1])
def test_what_is_left_of_an_arm_that_lost_samples_is_not_fine(tmp_path, void, blocks, arm):
    place = made(tmp_path / "c", ejected(*range(void), arm=arm), blocks=blocks)
    told = " ".join(gate(place, expect=2).output.split())
    assert f"lost {void} of {blocks} samples as void here" in told


@pytest.mark.parametrize("arm", [0, 1])
def test_valid_samples_without_the_metric_are_lost_like_void_ones(tmp_path, arm):
    def values(cell: Cell) -> Mapping[str, float]:
        found = noisy(0.0, 0.0, sd=0.001)(cell)
        return {"elapsed_s": 1.0, **(found if cell.arm != arm or cell.block >= 28 else {})}

    place = made(tmp_path / "c", values, blocks=40)
    name = ("default", "bfs")[arm]
    assert f"{name} lost 28 of 40 without a value here, more than 5 %" in " ".join(gate(place, expect=2).output.split())
    told = " ".join(CliRunner().invoke(report, [str(place)]).output.split())
    assert f"{name} lost 28 of 40 without a value on hackbench" in told
    assert re.search(rf"{name} +12!", told)
    assert "n! = some samples are void or have no value." in told


def test_what_lost_samples_did_is_unseen(tmp_path):
    """In 100 runs 2.3 % would be unseen, and 5 more were ejected."""
    place = made(tmp_path / "c", ejected(3, 30, 50, 70, 90), blocks=100)
    assert "what happens in fewer than 7 % of runs may have gone unseen" in " ".join(gate(place).output.split())


def test_a_void_that_does_not_matter_is_reported_in_every_form(tmp_path):
    place, file = made(tmp_path / "c", ejected(3), blocks=20), tmp_path / "gate.xml"
    told = "void: bfs, hackbench, block 4: ejected"
    for form in ((), ("--markdown",), ("--json",)):
        assert told in " ".join(gate(place, *form, "--junit", str(file), expect=0).output.replace("\\", "").split())
        assert told in file.read_text()


def test_arms_that_share_no_block_are_unclear(tmp_path):
    def values(cell: Cell) -> Mapping[str, float] | None:
        return None if cell.block % 2 == cell.arm else noisy(0.0, 0.0)(cell)

    assert "no block" in gate(made(tmp_path / "c", values), expect=2).output


@pytest.mark.parametrize("blocks", [1, 2])
def test_hardly_any_blocks_cannot_tell(tmp_path, blocks):
    answer = gate(made(tmp_path / "c", noisy(0.0, 0.0, sd=0.01), blocks=blocks), expect=2)
    assert "take more blocks" in " ".join(answer.output.split())


@pytest.mark.parametrize("value", [0.0, -3.0])
def test_percent_of_zero_or_less_is_refused_in_a_sentence(tmp_path, value):
    def values(cell: Cell) -> dict[str, float]:
        return {"time_s": value if cell.block == 3 else 10.0 + cell.position % 3}

    answer = gate(made(tmp_path / "c", values), expect=2)
    assert "a limit in percent means nothing" in " ".join(answer.output.split())


def test_equal_values_that_vary_from_block_to_block_are_fine(tmp_path):
    answer = gate(made(tmp_path / "c", lambda cell: {"time_s": 10.0 + cell.block / 100}), expect=0)
    assert "cannot be computed" in " ".join(answer.output.split())


def test_a_difference_hidden_by_the_digits_is_unclear(tmp_path):
    answer = gate(made(tmp_path / "c", lambda cell: {"time_s": 10.0}), expect=2)
    assert "all values are one number, so how far bfs may be from default is not known" in " ".join(
        answer.output.split()
    )
    coarse = made(tmp_path / "d", lambda cell: {"time_s": 0.009 if cell.block == 3 else 0.008})
    assert "values come in steps of 12 %, too coarse for the limit of 2 %" in " ".join(
        gate(coarse, expect=2).output.split()
    )


def test_a_regression_and_a_possible_one_are_distinguished(tmp_path):
    def values(cell: Cell) -> dict[str, float]:
        certain, perhaps = noisy(0.0, 0.1)(cell), noisy(0.0, 0.03, sd=0.015, seed=1)(cell)
        return {"wakeup_p99_us": certain["time_s"], "request_p99_us": perhaps["time_s"]}

    place = made(tmp_path / "c", values, workloads=("schbench",))
    told = " ".join(gate(place, expect=1).output.split())
    assert told.startswith("Regressed: worse than default by more than 2 %: bfs on schbench, wake-up latency")
    assert "Worse, perhaps by more than 2 %: bfs on schbench, request latency" in told
    file = tmp_path / "gate.xml"
    document = json.loads(gate(place, "--json", "--junit", str(file), expect=1).output)
    assert {line["outcome"] for line in document["comparisons"]} == {"regressed", "worse"}
    assert ElementTree.parse(file).getroot()[0].get("failures") == "2"


def test_a_difference_must_stand_among_all_headline_tables(tmp_path):
    """p is 0.018 in its own table and 0.1 among six; the interval reaches from +0.6 to +5.6 %, the limit is 2 %."""

    def values(cell: Cell) -> dict[str, float]:
        slower = math.exp(0.03 + 0.0436 * (-1) ** cell.block) if cell.arm else 1.0
        others = ("wakeup_p99_us", "request_p99_us", "latency_mean_us", "desired_cpu_pct", "deadlines_met_pct")
        return {"time_s": 10 * slower, **dict.fromkeys(others, 5.0 + cell.block / 100)}

    alone = made(tmp_path / "c", values, blocks=16)
    gate(alone, expect=1)
    among = made(tmp_path / "d", values, blocks=16, workloads=("hackbench", "schbench", "periodic:task=audio"))
    document = json.loads(gate(among, "--json", expect=2).output)
    outcomes = {line["metric"]: line["outcome"] for line in document["comparisons"]}
    assert (len(outcomes), outcomes.pop("time_s"), set(outcomes.values())) == (6, "cannot tell", {"fine"})


def test_a_difference_that_may_be_drift_is_unclear(tmp_path):
    """The remaining samples of bfs came after the baseline's."""

    def values(cell: Cell) -> Mapping[str, float] | None:
        return None if cell.arm and cell.position % 2 == 0 else {"time_s": 10.0 + cell.position}

    place = made(tmp_path / "c", values, blocks=8)
    assert "values drift, and bfs was on the same side of default" in " ".join(gate(place, expect=2).output.split())


def test_copies_of_one_run_cannot_tell(tmp_path):
    place = made(tmp_path / "c", lambda cell: {"time_s": 10.0 + cell.arm}, clock="virtual")
    assert "repeated the same run" in " ".join(gate(place, expect=2).output.split())


def test_the_chances_are_printed_for_the_noise_there_is(tmp_path):
    answer = gate(made(tmp_path / "c", noisy(0.0, 0.0, sd=0.01)), "--json", expect=0)
    risk = json.loads(answer.output)["risk"]
    assert risk["unchanged"]["regressed"] < 0.01
    assert 0.01 < risk["at_limit"]["fine"] < 0.04
    assert risk["at_twice"]["fine"] < 0.001 < 0.9 < risk["at_twice"]["regressed"]
    text = gate(made(tmp_path / "d", noisy(0.0, 0.0, sd=0.01))).output
    for truth in ("nothing changed", "one is 1 % worse", "one is 2 % worse", "one is 4 % worse"):
        assert re.search(rf"^  {truth} .* %", text, re.MULTILINE)


def test_noise_that_hides_all_is_said_to(tmp_path):
    risk = json.loads(gate(made(tmp_path / "c", noisy(0.0, 0.0, sd=0.2)), "--json").output)["risk"]
    assert risk["unchanged"]["unclear"] > 0.9


def noisy_everywhere(cell: Cell) -> dict[str, float]:
    return {
        "wakeup_p99_us": 50 * noisy(0.0, 0.2)(cell)["time_s"],
        "request_p99_us": noisy(0.0, 0.0, seed=2)(cell)["time_s"],
    }


def test_junit_has_a_test_for_each_comparison(tmp_path):
    file = tmp_path / "gate.xml"
    gate(made(tmp_path / "c", noisy_everywhere, workloads=("schbench",)), "--junit", str(file), expect=1)
    root = ElementTree.parse(file).getroot()
    (suite,) = root
    cases = suite.findall("testcase")
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("2", "1", "0")
    assert [[child.tag for child in case] for case in cases] == [["failure"], []]
    assert "+20" in (cases[0][0].get("message") or "")


def test_junit_has_an_error_if_nothing_is_clear(tmp_path):
    file = tmp_path / "gate.xml"
    gate(made(tmp_path / "c", noisy(0.0, 0.0), stop_after=12), "--junit", str(file), expect=2)
    suite = ElementTree.parse(file).getroot()[0]
    assert int(suite.get("errors") or 0) >= 1
    assert suite.get("failures") == "0"
    assert [child.tag for case in suite.findall("testcase") for child in case].count("error") == int(
        suite.get("errors") or 0
    )


ODD = 'bfs|<b>&"\x01é名'


def test_any_name_survives_every_view(tmp_path):
    place = made(tmp_path / "c", noisy(0.0, 0.1), arms=("default", ODD), names={ODD: "bfs"})
    file = tmp_path / "gate.xml"
    document = json.loads(gate(place, "--json", "--junit", str(file)).output)
    assert document["comparisons"][0]["arm"] == escape_line(ODD)
    assert escape_line(ODD) in (ElementTree.parse(file).getroot()[0][0].get("name") or "")
    (row,) = [line for line in gate(place, "--markdown").output.splitlines() if line.startswith("|") and "bfs" in line]
    assert "bfs\\|\\<b\\>&" in row


def test_the_summary_goes_where_it_is_wanted(tmp_path, monkeypatch):
    place = made(tmp_path / "c", noisy(0.0, 0.0))
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    with pytest.raises(UsageError, match="is not set"):
        gate(place, "--github-summary")
    file = tmp_path / "summary.md"
    gate(place, "--github-summary", str(file), expect=0)
    written = file.read_text()
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(file))
    gate(place, "--github-summary", expect=0)
    assert file.read_text() == 2 * written
    assert written == gate(place, "--markdown").output


def test_two_forms_exclude_each_other(tmp_path):
    with pytest.raises(UsageError, match="choose one"):
        gate(made(tmp_path / "c", noisy(0.0, 0.0)), "--json", "--markdown")


def test_the_same_campaign_gives_the_same_bytes(tmp_path):
    place = made(tmp_path / "c", noisy(0.0, 0.01, sd=0.01))
    for form in ((), ("--json",), ("--markdown",)):
        assert gate(place, *form).output == gate(place, *form).output


def test_no_line_is_wider_than_the_terminal(tmp_path):
    place = made(tmp_path / "c", noisy(0.0, 0.01, sd=0.01), arms=("default", "bfs:rr_interval_ms=3,iso_cpu=50"))
    assert max(map(len, gate(place).output.splitlines())) <= 80

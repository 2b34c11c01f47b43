"""The least that must work in a guest under the virtual clock, from as few boots as can be."""

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import hogs
import pytest
import test_bfs_properties
import test_fair_properties
import test_level_properties
from command import run, samples
from copies import Copies, MakeCopies
from hogs import Hogs

pytestmark = [pytest.mark.lab, pytest.mark.core, pytest.mark.usefixtures("lab_kernel", "lab_image", "own_qemu")]

TOLERANCE_POINTS = 3.0
SECONDS = 6


@dataclass(frozen=True)
class Share:
    """The shares of two hogs of a CPU, in percent."""

    scheduler: str
    nice: tuple[int, int]
    percent: tuple[float, ...]
    parameters: dict[str, str] = field(default_factory=dict)


def by_weight(scheduler: str, *nice: int) -> Share:
    weights = [test_fair_properties.WEIGHTS[level] for level in nice]
    return Share(scheduler, (nice[0], nice[1]), tuple(100 * weight / sum(weights) for weight in weights))


def by_level(scheduler: str, *nice: int, **parameters: str) -> Share:
    """The share from the table of the specification."""
    tables = (
        *test_level_properties.O1,
        *test_level_properties.ZAPHOD,
        *test_level_properties.STAIRCASE,
        *test_level_properties.HYDRA,
    )
    (found,) = (
        case for case in tables if (case.scheduler, case.nice, case.parameters) == (scheduler, nice, parameters)
    )
    return Share(scheduler, (nice[0], nice[1]), found.shares, parameters)


SHARES = (
    by_weight("default", 0, 5),
    by_weight("cfs", 0, 5),
    by_weight("eevdf", 0, 5),
    Share("bfs", (0, 5), test_bfs_properties.NICE_PAIRS[0, 5]),
    by_level("o1", 0, 19),
    by_level("zaphod", 0, 10),
    by_level("staircase", 0, 10),
    by_level("hydra", 0, 10, mode="sc"),
)


@pytest.fixture(scope="module")
def slow_cpu(copies: MakeCopies) -> Copies:
    return copies(instruction_shift=hogs.SLOW_CPU)


def test_every_scheduler_is_here() -> None:
    from runoff.engines.questions import describe_schedulers

    assert {share.scheduler for share in SHARES} == {"default", *describe_schedulers()}


@pytest.mark.parametrize("share", SHARES, ids=lambda share: share.scheduler)
def test_a_scheduler_attaches_is_proved_and_keeps_its_shares(share: Share, slow_cpu: Copies) -> None:
    got = hogs.measure(slow_cpu, Hogs(share.scheduler, share.nice, share.parameters, SECONDS)).shares_pct
    # What the command needs to start and end is not theirs.
    assert [100 * part / sum(got) for part in got] == pytest.approx(list(share.percent), abs=TOLERANCE_POINTS)


MACHINE = ("--clock", "virtual", "--cpus", "1", "--memory", "512", "--seed", "1", "--blocks", "1")


def taken(folder: Path, *words: str) -> dict[str, dict[str, Any]]:
    return samples(run("compare", *words, *MACHINE, "--out", folder, "--json").stdout)


def test_two_campaigns_are_equal_to_the_last_digit(tmp_path: Path) -> None:
    """Whatever is measured beside it."""
    works = ("--work", "hackbench:groups=1,loops=5", "--work", "counters:n=3,count=300000,passes=1")
    words = ("default", "bfs", *works, "--probe", "turns")
    first = taken(tmp_path / "1", *words)
    second = taken(tmp_path / "2", *words, "-j", "2")
    assert len(first) == 2 * 2
    for cell, sample in first.items():
        assert sample["valid"], sample["reason"]
        assert sample["metrics"] == second[cell]["metrics"], cell
        assert sample["metrics"]["time_s"] > 0
        assert sample["metrics"]["turns"] > 0


def test_one_arm_against_itself_has_noise(tmp_path: Path) -> None:
    """Samples that share a perturbation would be copies, and differ by nothing in every block."""
    words = (
        "-n",
        "a=default",
        "-n",
        "b=default",
        "--work",
        "hackbench:groups=1,loops=5",
        *MACHINE[:-1],
        "3",
        "-j",
        "2",
    )
    found = samples(run("compare", *words, "--out", tmp_path / "c", "--json").stdout)
    assert all(sample["valid"] for sample in found.values())
    pairs = [[found[f"b{block}.w0.a{arm}"]["metrics"]["elapsed_s"] for arm in (0, 1)] for block in range(3)]
    assert all(one != other for one, other in pairs)
    assert len({value for pair in pairs for value in pair}) > 3


ROW = re.compile(r"^default +1 +[0-9.]+ +[0-9.]+ +([0-9.]+) +[0-9.]+ +([0-9.]+)$", re.MULTILINE)


def test_a_contest_cell_has_contests_tables(tmp_path: Path) -> None:
    loads = ("--load", "none", "--load", "process:processes=4")
    words = ("default", "--work", "hackbench:groups=1,loops=5", *loads, *MACHINE)
    text = run("contest", *words, "--out", tmp_path / "c").stdout
    reaped, _, all_time = text.partition("With all the CPU time")
    for tables in (reaped, all_time):
        assert re.findall(r"^(\S+):$", tables, re.MULTILINE) == ["no_load", "process_load:processes=4"]
        alone, beside = (tuple(map(float, row)) for row in ROW.findall(tables))
        assert alone == (0, 1)
        assert min(beside) > 0
        assert beside[1] > 1

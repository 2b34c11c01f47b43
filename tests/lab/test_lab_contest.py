"""runoff contest in a guest: cold and warm caches, a load, and the tables."""

import csv
import re
from pathlib import Path

import pytest
from command import run, samples

from runoff.engines.lab import image
from runoff.workloads import WORKLOADS

pytestmark = [pytest.mark.lab]

ROW = re.compile(r"default +1 +([0-9.]+) +([0-9.]+) +([0-9.]+) +([0-9.]+) +([0-9.]+)")


@pytest.fixture(scope="module")
def contested(tmp_path_factory: pytest.TempPathFactory, lab_kernel, absent) -> tuple[str, Path]:
    """The output, and the campaign's directory."""
    if image.find_cached(image.derive_recipe([WORKLOADS.find("compile")])) is None:
        absent("the image for compile is not in the cache: runoff image build --work compile")
    place = tmp_path_factory.mktemp("contest") / "c"
    loads = ("--load", "none", "--load", "cacherun", "--load", "process")
    done = run("contest", "--seed", "1", "default", "--quick", *loads, "--out", place)
    return done.stdout, place


def test_memory_is_flushed_except_before_a_cacherun(contested: tuple[str, Path]) -> None:
    """What is read from the disk shows it on any host, the time only on an idle one."""
    taken = samples(run("report", contested[1], "--json").stdout)
    read_kb = {sample["load"]: sample["metrics"]["pgpgin_kb"] for sample in taken.values()}
    assert read_kb["none"] > 10_000
    assert read_kb["process"] > 10_000
    assert read_kb["cacherun"] < 1000


def test_the_tables_are_those_of_contest(contested: tuple[str, Path]) -> None:
    text, _ = contested
    reaped, _, all_time = text.partition("With all the CPU time")
    for tables in (reaped, all_time):
        assert re.findall(r"^(\w+):$", tables, re.MULTILINE) == ["no_load", "cacherun", "process_load"]
        alone, warm, beside = (tuple(map(float, row)) for row in ROW.findall(tables))
        assert alone[4] == 1
        assert alone[2:4] == warm[2:4] == (0, 0)
        assert beside[2] > 0
        assert beside[3] > 5
        assert beside[4] > 1


def test_without_a_load_a_compile_has_the_cpu_for_itself(contested: tuple[str, Path]) -> None:
    """It had 92 to 95 % of it in tests/published/contest-2003.txt."""
    (alone, *_rest) = ROW.findall(contested[0])
    assert float(alone[1]) >= 90


def test_every_run_is_in_the_table(contested: tuple[str, Path]) -> None:
    rows = list(csv.DictReader((contested[1] / "runs.csv").open()))
    assert {(row["workload"], row["load"]) for row in rows} >= {("compile:jobs=4,part=et", "cacherun")}
    assert len({row["id"] for row in rows}) == 3

"""A comparison over the number of CPUs: each size by itself, in every view; what cannot be is refused first."""

import csv
import io
import json
import re
from pathlib import Path
from xml.etree import ElementTree

import made_campaigns
import pytest
from cli_runner import run
from made_campaigns import noisy

from runoff.analysis.build import build_report
from runoff.campaign.directory import read_results
from runoff.matrix.sizes import views
from runoff.matrix.sizes.values import SizeSweep
from runoff.plan.sweep import expand_sizes

CHANGES = {1: (0.0, 0.05), 2: (-0.05, 0.05), 8: (-0.1, None)}
"""Changes of bfs and o1 by number of CPUs; None is always void."""


def make(place: Path, cpus: int, **settings: object) -> Path:
    changes = CHANGES[cpus]
    drawn = noisy(0, *(change or 0.0 for change in changes), sd=0.005, mean=32 / cpus, seed=cpus)

    def values(cell: made_campaigns.Cell) -> dict[str, float] | None:
        return None if cell.arm and changes[cell.arm - 1] is None else dict(drawn(cell) or {})

    usual = {"arms": ("default", "bfs", "o1"), "blocks": 6}
    return made_campaigns.made(place / f"cpus-{cpus}", values, cpus=cpus, seed=cpus, **{**usual, **settings})


@pytest.fixture
def sweep(tmp_path: Path) -> SizeSweep:
    return SizeSweep(tuple(CHANGES), {cpus: build_report(read_results(make(tmp_path, cpus))) for cpus in CHANGES})


def flat(text: str) -> str:
    return " ".join(text.split())


def test_the_verdict_names_the_sizes(sweep: SizeSweep):
    text = flat(views.render_text(sweep, 80))
    sizes = r"with 2 and 8 CPUs \(-[45]\.\d %, -(9|10)\.\d %\)"
    assert re.search(rf"bfs is better than default {sizes}, and within the margin of it with 1 CPU \(", text)
    assert "o1 is worse than default with 1 and 2 CPUs" in text
    assert "and without a valid sample with 8 CPUs" in text
    assert "8 CPUs: void: o1, hackbench, all 6 blocks: ejected" in text
    assert sweep.exit_code == 2


def test_each_size_has_the_numbers_of_its_own_campaign(sweep: SizeSweep):
    found = json.loads(views.render_json(sweep))["comparisons"]
    assert [(each["arm"], each["cpus"]) for each in found] == [(a, c) for a in ("bfs", "o1") for c in CHANGES]
    for each in found:
        own = sweep.reports[each["cpus"]].headline[0].analysis
        comparison = own.comparisons[each["arm"]]
        assert each["verdict"] == comparison.verdict.word
        if comparison.percent is not None:
            assert each["change_percent"] == pytest.approx(comparison.percent, rel=1e-6)
            assert each["baseline_mean"] == pytest.approx(own.summaries["default"].mean, rel=1e-6)
    rows = list(csv.DictReader(io.StringIO(views.render_csv(sweep))))
    assert [row["cpus"] for row in rows] == ["1", "2", "8"] * 2
    assert float(rows[1]["change_percent"]) == pytest.approx(found[1]["change_percent"])


@pytest.mark.parametrize("width", [40, 60, 80, 120])
def test_no_line_is_wider_than_the_terminal(sweep: SizeSweep, width: int):
    assert max(map(len, views.render_text(sweep, width).splitlines())) <= width


def test_the_page_draws_a_curve_for_each_arm(sweep: SizeSweep, tmp_path: Path):
    views.write_views(sweep, tmp_path)
    page = (tmp_path / "sweep.html").read_text()
    picture = page.split("<figure>")[1].split("</figure>")[0]
    assert (picture.count("steps s"), picture.count("<title>o1, "), picture.count("<title>bfs, ")) == (2, 2, 3)
    assert page.count("<td>+</td>") == 2
    assert 'href="cpus-8/report.html"' in page
    ElementTree.parse(tmp_path / "sweep-1.svg")
    assert (tmp_path / "sweep.csv").read_text() == views.render_csv(sweep)


def test_a_workload_that_depends_on_the_number_of_cpus_is_one_table(tmp_path: Path):
    reports = {}
    for cpus in (1, 2):
        drawn = noisy(0, 0.1, sd=0.005, seed=cpus, metric="elapsed_s")
        settings = {"workloads": ("command:make -j{cpus}",), "arms": ("default", "bfs"), "cpus": cpus}
        reports[cpus] = build_report(read_results(made_campaigns.made(tmp_path / f"{cpus}", drawn, **settings)))
    groups = list(SizeSweep((1, 2), reports).list_groups())
    assert [[cpus for cpus, _ in group.tables] for group in groups] == [[1, 2]]


def test_sizes_that_are_missing_are_told(sweep: SizeSweep):
    part = SizeSweep(sweep.sizes, {1: sweep.reports[1]}, is_stopped=True)
    assert "Provisional: nothing is taken yet with 2 and 8 CPUs." in flat(views.render_text(part, 80))
    assert part.exit_code == 130


def test_sizes_are_a_list_or_ranges():
    assert expand_sizes("4") == [4]
    assert expand_sizes("1,2,4,8") == expand_sizes("1..8*2") == [1, 2, 4, 8]
    assert expand_sizes("1..3,16") == [1, 2, 3, 16]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("bfs", "--cpus", "1,2,x"), "'x' is not a number of CPUs"),
        (("bfs", "--cpus", "1,1"), "a size is given twice"),
        (("bfs", "--cpus", "0,2"), "is not at least 1"),
        (("bfs", "--cpus", "1,2,65"), "is not at most 64"),
        (("bfs", "--cpus", "1,32", "--clock", "virtual"), "the virtual clock is for 16 CPUs at most"),
        (("bfs", "--cpus", "1,"), "must be a range like"),
        (("default", "--cpus", "1,2"), "default is the only arm"),
        (("bfs", "o1"), "a sweep is of one scheduler"),
        (("bfs:rr_interval_ms=1|3", "o1", "--cpus", "1,2"), "give it alone"),
        (("bfs", "--cpus", "1,2", "--on", "host"), "needs an engine that makes machines"),
        (("bfs", "--cpus", "1,2", "--plan-only"), "prints one plan"),
        (("bfs", "--cpus", "1,2", "--topology", "sockets=2"), "topology 'sockets=2' has 2 CPUs"),
        (("nosuch", "--cpus", "1,2"), "unknown scheduler 'nosuch'"),
        (("bfs",), "nothing varies"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_is_taken(words: tuple[str, ...], sentence: str, tmp_path: Path):
    told = run("sweep", *words, "--work", "hackbench", "--out", tmp_path / "out", expect=64).stderr
    assert sentence in told
    assert told.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_another_question_in_the_same_directory_is_refused(tmp_path: Path):
    (tmp_path / "sweep.json").write_text("{}\n")
    words = ("sweep", "bfs", "--cpus", "1,2", "--work", "hackbench", "--clock", "virtual", "--out", tmp_path)
    assert f"{tmp_path} is of another sweep (see {tmp_path / 'sweep.json'})" in run(*words, expect=64).stderr

"""A sweep in reports: recognised by its arms, drawn in the order of values, and judged against the defaults."""

import json
import re
from pathlib import Path

import made_campaigns
import pytest
from cli_runner import run

from runoff.analysis.sweep import find_sweep

CURVE = ["bfs:rr_interval_ms=6", *(f"bfs:rr_interval_ms={n}" for n in (1, 2, 20, 100))]
MAP = ["z:m=pb,t=100", "z:m=pb,t=20", "z:m=eb,t=100", "z:m=eb,t=20"]


def make(place: Path, arms: list[str], *changes: float) -> Path:
    return made_campaigns.made(place, made_campaigns.noisy(0, *changes, sd=0.003), arms=tuple(arms), blocks=8)


def tell(place: Path) -> str:
    return " ".join(run("report", place).stdout.split())


@pytest.mark.parametrize(
    ("arms", "parameters"),
    [
        (CURVE, ("rr_interval_ms",)),
        (MAP, ("m", "t")),
        (["default+io=cfq:q=1@debian", "default+io=cfq:q=2@debian", "default+io=cfq:q=3@debian"], ("q",)),
        (["bfs:a=1", "bfs:a=2"], None),
        (["default", "bfs:a=1", "bfs:a=2"], None),
        (["bfs", "bfs:a=1", "bfs:a=2"], None),
        (["bfs:a=1", "bfs:a=2", "bfs:a=3@debian"], None),
        (["bfs:a=1,b=1", "bfs:a=2,b=1", "bfs:a=3"], None),
        (["exec:x -a 1", "exec:x -a 2", "exec:x -a 3"], None),
        (["one", "two", "three"], None),
    ],
)
def test_a_sweep_is_arms_that_differ_in_values_alone(arms: list[str], parameters: tuple[str, ...] | None):
    found = find_sweep(arms)
    assert (found.parameters if found else None) == parameters


def test_values_are_in_their_order_and_not_in_that_of_letters():
    found = find_sweep(CURVE)
    assert [found.describe(arm) for arm in found.order] == ["1", "2", "6", "20", "100"]
    assert find_sweep(["a:m=x", "a:m=b", "a:m=k"]).list_values(0) == ("b", "k", "x")


def test_it_says_which_values_help_and_which_is_best(tmp_path: Path):
    said = tell(make(tmp_path / "c", CURVE, 0.05, -0.04, -0.10, 0.0))
    assert "better than the baseline 6: 2, 20; the best as measured is 20 (-9.9 %); worse: 1." in said


def test_the_best_of_many_is_told_with_what_is_left_of_it(tmp_path: Path):
    """All nine are equally better, and noise alone makes one of them the best."""
    arms = ["bfs:rr_interval_ms=6", *(f"bfs:rr_interval_ms={n}" for n in range(10, 19))]
    changes = made_campaigns.noisy(0, *([-0.05] * 9), sd=0.03)
    said = tell(made_campaigns.made(tmp_path / "c", changes, arms=tuple(arms), blocks=20))
    found = re.search(r"the best as measured is 1\d \(-(\S+) %, and about -(\S+) % if it is measured again\)", said)
    assert found is not None, said
    measured, expected = map(float, found.groups())
    assert measured - expected > 0.5
    assert expected == pytest.approx(5, abs=1.5)


def test_it_says_when_no_parameter_helps(tmp_path: Path):
    assert "no value of rr_interval_ms is better than the baseline 6; worse: 1." in tell(
        make(tmp_path / "c", CURVE, 0.05, 0.0, 0.0, 0.0)
    )
    flat = made_campaigns.made(
        tmp_path / "flat", made_campaigns.noisy(0, 0, 0, 0, 0, sd=0.001), arms=tuple(CURVE), blocks=50
    )
    assert "rr_interval_ms makes no difference, all 4 values are the same as the baseline 6." in tell(flat)


def test_what_is_not_known_is_not_called_no_better(tmp_path: Path):
    """Intervals of +-15 % exclude no gain that matters."""
    values = made_campaigns.noisy(0.0, 0.02, -0.03, sd=0.2)
    place = made_campaigns.made(tmp_path / "c", values, arms=tuple(CURVE[:3]), blocks=4)
    said = tell(place)
    assert "no value of rr_interval_ms is shown to be better than the baseline 6; 2 of 2 cannot be told apart" in said
    assert "no value of rr_interval_ms is better" not in said


def test_the_first_arm_is_not_called_the_default(tmp_path: Path):
    arms = [f"cfs:era={era}" for era in ("2.6.31", "2.6.32", "3.6")]
    said = tell(make(tmp_path / "c", arms, 0.05, 0.0))
    assert "no value of era is better than the baseline 2.6.31; worse: 2.6.32." in said


def test_the_forest_has_values_in_their_order(tmp_path: Path):
    lines = run("report", make(tmp_path / "c", CURVE, 0.05, -0.04, -0.10, 0.0)).stdout.splitlines()
    first = next(number for number, line in enumerate(lines) if line.startswith("% against baseline"))
    assert [line.split()[0] for line in lines[first + 2 : first + 6]] == ["1", "2", "20", "100"]


def test_the_page_draws_a_curve_with_the_default_marked(tmp_path: Path):
    place = make(tmp_path / "c", CURVE, 0.05, -0.04, -0.10, 0.0)
    run("report", place, "--html", tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    (picture,) = re.findall(r'<figure class="response">.*?</figure>', page, re.DOTALL)
    assert picture.count("<title>") == 5
    assert "6: the baseline" in picture
    assert re.search(r"rr_interval_ms=20: -9\.\d+ %, 95 % CI \[-\d+\.\d+, -\d+\.\d+\], better", picture)
    assert "NaN" not in picture


def test_the_page_draws_a_map_for_two_parameters(tmp_path: Path):
    place = make(tmp_path / "m", MAP, 0.05, -0.05, 0.0)
    run("report", place, "--html", tmp_path / "page.html")
    (picture,) = re.findall(r'<figure class="response">.*?</figure>', (tmp_path / "page.html").read_text(), re.DOTALL)
    assert picture.count("<rect") == 4
    tips = re.findall(r"<title>([^<]*)</title>", picture)
    assert [re.sub(r"[0-9]\.[0-9]", "N", tip) for tip in tips] == [
        "m=pb, t=20: +N % -", "m=eb, t=20: +N % ~", "m=pb, t=100: the baseline", "m=eb, t=100: -N % +",
    ]  # fmt: skip


def test_arms_without_percent_or_samples_are_left_out(tmp_path: Path):
    place = made_campaigns.made(
        tmp_path / "c",
        lambda cell: None if cell.arm == 2 else {"time_s": 10.0 + cell.arm + cell.block / 100},
        arms=tuple(CURVE),
        blocks=4,
    )
    run("report", place, "--html", tmp_path / "page.html", expect=2)
    document = json.loads(run("report", place, "--json", expect=2).stdout)
    assert "no value of rr_interval_ms is better" in document["verdict"][0]

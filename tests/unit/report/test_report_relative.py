"""The relative table: the layout of ZAPHOD's announcement, and whether its numbers agree with each other."""

import math
import re

import pytest
from report_examples import WALL

from runoff.analysis import build
from runoff.report.historic import relative
from runoff.report.historic.relative import Label
from runoff.results import Results, Sample

PUBLISHED = """
vanilla              1.583(100.0%, 2.2%) 16.740(100.0%, 1.5%)
zaphod  "eb" 10   5  1.612(101.8%, 1.0%) 16.422( 98.1%, 1.4%)
zaphod  "pb" 10   5  1.570( 99.1%, 0.8%) 16.100( 96.1%, 0.7%)
zaphod  "eb"  0   0  1.575( 99.5%, 0.1%) 15.992( 95.5%, 1.0%)
zaphod  "pb"  0   0  1.602(101.2%, 5.0%) 15.983( 95.4%, 0.1%)
zaphod  "eb" 10   0  1.612(101.8%, 0.1%) 16.142( 96.4%, 0.3%)
zaphod  "pb" 10   0  1.584(100.0%, 0.1%) 16.014( 95.6%, 0.01%)
zaphod  "eb"  0   5  1.609(101.6%, 0.4%) 16.487( 98.4%, 0.9%)
zaphod  "pb"  0   5  1.606(101.4%, 0.5%) 16.367( 97.7%, 1.3%)
""".strip().splitlines()
"""P. Williams, "V-4.0 Single Priority Array O(1) CPU Scheduler Evaluation", linux-kernel, 9 August 2004."""

CELL = re.compile(r"[\d.]+\( *[\d.]+%, [\d.]+%\)")
NUMBERS = re.compile(r"[\d.]+")
WORKLOADS = ("hackbench:groups=10", "hackbench:groups=100")
RUNS = 10


def arm(line: str) -> str:
    if line.startswith("vanilla"):
        return "o1"
    mode, interactive, throughput = re.findall(r'"(..)" +(\d+) +(\d+)', line)[0]
    return f"zaphod:mode={mode},max_ia_bonus={interactive},max_tpt_bonus={throughput}"


def values(mean: float, sd_pct: float) -> list[float]:
    """Ten values with exactly this mean and sample standard deviation."""
    distance = mean * sd_pct / 100 * math.sqrt((RUNS - 1) / RUNS)
    return [mean - distance, mean + distance] * (RUNS // 2)


def results(samples: dict[tuple[str, str], list[float]], workloads: tuple[str, ...] = WORKLOADS) -> Results:
    arms = tuple(dict.fromkeys(arm for arm, _ in samples))
    taken = [
        Sample(f"{a}.{w}.{block}", block, 0, a, w, "none", True, None, {"elapsed_s": value})
        for (a, w), many in samples.items()
        for block, value in enumerate(many)
    ]
    blocks = max(map(len, samples.values()))
    return Results(
        engine="lab", clock="virtual", seed=1, blocks=blocks, arms=arms, workloads=workloads, loads=("none",),
        metrics=dict.fromkeys(workloads, (WALL,)), samples=tuple(taken), planned=len(taken),
    )  # fmt: skip


@pytest.fixture(scope="module")
def replicated() -> list[str]:
    """The rows of our table for samples that have the published means and deviations."""
    samples = {}
    for line in PUBLISHED:
        for workload, cell in zip(WORKLOADS, CELL.findall(line), strict=True):
            mean, _, sd_pct = map(float, NUMBERS.findall(cell))
            samples[arm(line), workload] = values(mean, sd_pct)
    lines = relative.render(build.build_report(results(samples))).splitlines()
    start = next(number for number, line in enumerate(lines) if line.startswith("---")) + 1
    return lines[start : start + len(PUBLISHED)]


@pytest.mark.parametrize("row", range(len(PUBLISHED)))
def test_a_published_row_comes_out_as_it_was_printed(row: int, replicated: list[str]) -> None:
    for ours, theirs in zip(CELL.findall(replicated[row]), CELL.findall(PUBLISHED[row]), strict=True):
        # The published percentages are cut after their first decimal, ours are rounded.
        assert re.sub(r"\(.*?%", "(", ours) == re.sub(r"\(.*?%", "(", theirs)
        assert ours.index("%") == theirs.index("%")
        our_pct, their_pct = (float(NUMBERS.findall(cell)[1]) for cell in (ours, theirs))
        assert round(our_pct - their_pct, 1) in (0.0, 0.1)


def test_published_percentages_are_cut_not_rounded() -> None:
    """Five of sixteen cannot come from rounding any means that were printed so; all can come from cutting."""
    base = [float(NUMBERS.findall(cell)[0]) for cell in CELL.findall(PUBLISHED[0])]
    not_rounded = 0
    for line in PUBLISHED[1:]:
        for baseline, cell in zip(base, CELL.findall(line), strict=True):
            mean, pct, _ = map(float, NUMBERS.findall(cell))
            low, high = 100 * (mean - 0.0005) / (baseline + 0.0005), 100 * (mean + 0.0005) / (baseline - 0.0005)
            assert low < pct + 0.1, cell
            assert high >= pct, cell
            not_rounded += not (low <= pct + 0.05 and high >= pct - 0.05)
    assert not_rounded == 5


def test_the_parameters_are_columns(replicated: list[str]) -> None:
    assert replicated[0].split()[0] == "o1"
    assert [row.split()[:4] for row in replicated[1:3]] == [["zaphod", "eb", "10", "5"], ["zaphod", "pb", "10", "5"]]


@pytest.mark.parametrize(
    ("text", "name", "parameters"),
    [
        ("default", "default", {}),
        ("zaphod:mode=eb,soft_cap=5", "zaphod", {"mode": "eb", "soft_cap": "5"}),
        ("default@debian:6.18", "default", {"kernel": "debian:6.18"}),
        ("bfs:rr_interval_ms=3@debian", "bfs", {"rr_interval_ms": "3", "kernel": "debian"}),
        ("exec:scx_x a=b,c=d @debian", "exec:scx_x a=b,c=d @debian", {}),
        ("command:env A=1 make", "command:env A=1 make", {}),
        ("./my.bpf.o:slice_ns=2", "./my.bpf.o", {"slice_ns": "2"}),
        ("a:b", "a:b", {}),
    ],
)
def test_labels_are_taken_apart(text: str, name: str, parameters: dict[str, str]) -> None:
    assert Label.from_text(text) == Label(name, parameters)


def table(samples: dict[str, list[float]]) -> str:
    return relative.render(build.build_report(results({(arm, "w"): many for arm, many in samples.items()}, ("w",))))


def test_one_sample_has_no_deviation() -> None:
    assert "2.000(200.0%, -)" in table({"a": [1.0], "b": [2.0]})


def test_small_deviations_do_not_read_as_none() -> None:
    shown = table({"a": values(1.0, 0.02), "b": values(1.0, 0.0)})
    assert "(100.0%, 0.02%)" in shown
    assert "(100.0%, 0.0%)" in shown


def test_nothing_is_a_percentage_of_nothing() -> None:
    assert "(-, " in table({"a": values(0.0, 0.0), "b": values(1.0, 1.0)}).splitlines()[-4]

"""The audit's findings in the five reports, and that it would find other things in others."""

import re
import shutil
from fractions import Fraction
from pathlib import Path
from typing import get_args

import numpy as np
import pytest

from runoff.errors import UsageError
from runoff.published import catalogue, claims
from runoff.published.audit import Finding, Status, audit, feasible, text
from runoff.published.audit.relations import RELATIONS
from runoff.published.rows import QuantileRow

_FOUND: dict[str, tuple[Finding, ...]] = {}


def findings(name: str) -> tuple[Finding, ...]:
    if name not in _FOUND:
        _FOUND[name] = audit(catalogue.find(name)[0])
    return _FOUND[name]


def totals(name: str) -> tuple[int, ...]:
    found = text.count_statuses(findings(name))
    return tuple(found[status.value] for status in Status)


def where(name: str, rule: str, status: Status) -> dict[str, str]:
    """Places and texts of the findings whose rule begins so."""
    return {f.place: f.text for f in findings(name) if f.rule.lstrip('"').startswith(rule) and f.status is status}


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("contest-iosched-2003", (4, 2, 4, 234)),
        ("zaphod-2004", (1, 7, 1, 15)),
        ("counters-2009", (7, 0, 1, 144)),
        ("render-2012", (0, 1, 3, 0)),
        ("graysky-2012", (16, 5, 4, 240)),
    ],
)
def test_how_many_findings_of_each_kind(name: str, expected: tuple[int, ...]) -> None:
    assert totals(name) == expected


def test_graysky_differences() -> None:
    wrong = where("graysky-2012", "Difference is", Status.FAILS)
    assert set(wrong) == {"compression, AMD Athlon XP", "make, AMD Athlon XP", "video, Intel X3360"}
    assert "547.7577 - 558.3320 = -10.5743" in wrong["compression, AMD Athlon XP"]
    assert "Both means end in .6486" in wrong["make, AMD Athlon XP"]
    assert "CK-Patched would be 1,095.1815, all else agrees" in wrong["make, AMD Athlon XP"]
    assert "Vanilla would be 1,121.1157, the quantiles of ck speak against it" in wrong["make, AMD Athlon XP"]
    assert "Vanilla would be 39.3956, all else agrees" in wrong["video, Intel X3360"]
    assert "CK-Patched would be 37.6424, the quantiles of vanilla speak" in wrong["video, Intel X3360"]


def test_graysky_percentages() -> None:
    wrong = where("graysky-2012", "Result is", Status.FAILS)
    assert set(wrong) == {"make, AMD Athlon XP", "make, Intel i7-2620M", "video, Intel X3360"}
    assert "printed 1.4; 100 x |190.6712 - 192.5477| / 192.5477 = 0.975" in wrong["make, Intel i7-2620M"]
    assert "does not agree with it either" in wrong["make, Intel i7-2620M"]
    assert "2.231; the printed difference of -25.4671 gives 2.273, which agrees" in wrong["make, AMD Athlon XP"]


def test_graysky_percentages_are_time_saved() -> None:
    right = where("graysky-2012", "faster by 10 %", Status.FOLLOWS)
    assert [re.findall(r"(\d+) (?:are|speed)", one) for one in right.values()] == [["7", "4"], ["5", "4"], ["6", "2"]]


def test_graysky_means_against_quantiles() -> None:
    wrong = where("graysky-2012", "the printed mean is one", Status.FAILS)
    assert set(wrong) == {"athlon-xp-make, 3.6.2-ck", "x3360-video, 3.6.2-vanilla"}
    assert "with 2 to 9 runs the mean is between 1,094.5631 and 1,095.3314" in wrong["athlon-xp-make, 3.6.2-ck"]
    assert "printed 39.3656; with 10 to 100 runs" in wrong["x3360-video, 3.6.2-vanilla"]


def test_graysky_runs() -> None:
    wrong = where("graysky-2012", "the 10 % quantile is the minimum", Status.FAILS)
    assert set(wrong) == {"athlon-xp-make, 3.6.2-ck", "athlon-xp-make, 3.6.2-vanilla"}
    assert all("as of 9 runs or fewer, but at least 10 are stated" in one for one in wrong.values())


def test_graysky_quantiles_are_possible() -> None:
    assert len(where("graysky-2012", "quantiles rise", Status.FOLLOWS)) == 42
    assert len(where("graysky-2012", "medians differ", Status.FOLLOWS)) == 21


def test_graysky_names_and_clocks() -> None:
    wrong = where("graysky-2012", "a heading names", Status.FAILS)
    assert set(wrong) == {"i7-3770k-compression", "i7-3770k-make", "i7-3770k-video"}
    assert "i7-3370K" in wrong["i7-3770k-make"]
    (clock,) = where("graysky-2012", "a clock is", Status.ONLY_IF).values()
    assert "printed 2.83 GHz; sold with 2.40; 2.83 is what Intel X3360 was sold with" in clock


def test_graysky_text() -> None:
    wrong = {f.place.split(",")[0]: f.text for f in findings("graysky-2012") if f.claim and f.status is Status.FAILS}
    assert set(wrong) == {"slide 7", "slide 8", "slide 9"}
    assert wrong["slide 7"].endswith("outside: compression, Intel E5200 0.33")
    assert wrong["slide 8"].startswith("3 of 7 are between 2 and 8")
    assert wrong["slide 9"].endswith("outside: video, Dual Intel E5620 0.61")
    (nearly_all,) = where("graysky-2012", "outperformed", Status.FOLLOWS).values()
    assert nearly_all.startswith("19 of 21 are less")


def test_contest_shares_and_ratios() -> None:
    assert len(where("contest-iosched-2003", "CPU% is a whole", Status.FOLLOWS)) == 44
    assert len(where("contest-iosched-2003", "Ratio is", Status.FOLLOWS)) == 44
    longer = where("contest-iosched-2003", "LCPU% is a whole", Status.ONLY_IF)
    assert set(longer) == {"io_load, 2.5.63", "io_other, 2.5.63"}
    assert longer["io_load, 2.5.63"].endswith("33 s of 218 s")
    assert len(where("contest-iosched-2003", "LCPU% is a whole", Status.FOLLOWS)) == 32


def test_contest_loads_that_count_nothing() -> None:
    wrong = where("contest-iosched-2003", "a load that holds up", Status.FAILS)
    assert set(wrong) == {"ctar_load, 2.5.63-mm2cfq", "ctar_load, 2.5.63-mm2dl"}


def test_contest_text() -> None:
    wrong = {f.place: f.text for f in findings("contest-iosched-2003") if f.claim and f.status is Status.FAILS}
    assert set(wrong) == {"cacherun, which is without a load too", "dbench_load"}
    (rising,) = where("contest-iosched-2003", "the result rising", Status.FOLLOWS).values()
    assert rising.endswith("if the other is 144 to 148")
    assert "269 against 236" in wrong["dbench_load"]


def test_zaphods_percentages_are_cut() -> None:
    cut = where("zaphod-2004", "the percentage is", Status.ONLY_IF)
    assert len(cut) == 5
    assert all("groups100" in place for place in cut)
    (column,) = where("zaphod-2004", "one way of shortening", Status.ONLY_IF).values()
    assert "of 9 percentages 4 can come from rounding, 9 from cutting off" in column


def test_zaphods_text() -> None:
    (half,) = where("zaphod-2004", "no significant difference", Status.FAILS).values()
    assert "of 8: 3 by the base's, 1 by their own, 4 by the larger, 4 by that of the difference" in half
    (tested,) = where("zaphod-2004", "The results for 10 groups", Status.ONLY_IF).values()
    assert "3 of 8 differ at 5 % taken alone and 0 by Holm's correction for 8" in tested


def test_counters_text() -> None:
    wrong = [(f.rule, f.text) for f in findings("counters-2009") if f.status is Status.FAILS]
    assert any("27 with 0.077557; it is among 1 to 9" in text for _, text in wrong)
    assert any("0.316369 against 0.307760" in text for _, text in wrong)
    assert any("from 2 to 32 it varies by 5.1 %" in text and "from 23 on" in text for _, text in wrong)
    assert len(where("counters-2009", "Cost is", Status.FOLLOWS)) == 96
    assert len(where("counters-2009", "Impr% is", Status.FOLLOWS)) == 37


def test_render_needs_long_dips() -> None:
    (dips,) = where("render-2012", "constant and steady", Status.ONLY_IF).values()
    assert "at 25 % for 67 to 67 % of the time" in dips


def test_every_relation_has_its_function() -> None:
    named = {
        word
        for claim in get_args(get_args(claims.Claim)[0])
        for word in get_args(claim.model_fields["relation"].annotation)
    }
    assert named == set(RELATIONS)


@pytest.mark.parametrize("n", [2, 5, 9, 10, 11, 19, 20, 33])
def test_the_rule_of_quantiles_is_numpys(n: int) -> None:
    """numpy calls it weibull."""
    runs = np.sort(np.random.default_rng(n).normal(100, 5, n))
    for p in feasible.RANKS.values():
        ours = sum(float(part) * runs[run] for run, part in feasible.compute_weights(p, n))
        assert ours == pytest.approx(np.quantile(runs, float(p), method="weibull"), rel=1e-12)


def test_ends_coincide_up_to_nine_runs() -> None:
    assert [n for n in range(2, 40) if feasible.ends_coincide(n)] == list(range(2, 10))
    assert all(feasible.compute_weights(Fraction(9, 10), n)[0][0] == n - 1 for n in range(2, 10))


@pytest.mark.parametrize("n", [3, 9, 10, 14, 25])
def test_a_real_sample_is_always_possible(n: int) -> None:
    runs = np.sort(np.random.default_rng(n).lognormal(5, 0.02, n))
    row = quantile_row(runs)
    bounds = feasible.compute_mean_bounds(row, n)
    assert bounds is not None
    assert bounds[0] - 1e-4 <= runs.mean() <= bounds[1] + 1e-4
    assert bounds[0] >= runs[0] - 1e-3
    assert bounds[1] <= runs[-1] + 1e-3


def quantile_row(runs: np.ndarray) -> QuantileRow:
    points = [runs[0], *(np.quantile(runs, p, method="weibull") for p in (0.1, 0.25, 0.5, 0.75, 0.9)), runs[-1]]
    cells = [f"{point:.4f}" for point in points]
    return QuantileRow.model_validate(dict(zip(QuantileRow.model_fields, ["ck", *cells], strict=True)))


def test_bounds_of_three_runs_are_exact() -> None:
    """Three runs are minimum, median and maximum: there is one mean."""
    row = quantile_row(np.array([10.0, 12.0, 17.0]))
    bounds = feasible.compute_mean_bounds(row, 3)
    assert bounds is not None
    assert bounds == pytest.approx((13.0, 13.0), abs=1e-4)


def changed(tmp_path: Path, name: str, table: str, old: str, new: str) -> list[Finding]:
    """The statements that no longer hold when a cell of a report is changed."""
    copy = Path(shutil.copytree(catalogue.DATA / name, tmp_path / f"{name}-changed"))
    path = copy / f"{table}.csv"
    before = path.read_text()
    assert before.count(old) == 1
    path.write_text(before.replace(old, new))
    fails = {(f.rule, f.place) for f in findings(name) if f.status is Status.FAILS}
    found = audit(catalogue.find(str(copy))[0])
    return [f for f in found if f.status is Status.FAILS and (f.rule, f.place) not in fails]


@pytest.mark.parametrize(
    ("name", "table", "old", "new", "rule"),
    [
        ("graysky-2012", "compression", "165.7622", "165.7632", "Difference is"),
        ("graysky-2012", "make", "2.1,faster", "2.1,slower", "faster where"),
        ("graysky-2012", "make", "2.1,faster", "2.2,faster", "Result is"),
        ("graysky-2012", "video", "102.3183,99.8744", "99.8744,102.3183", "faster where"),
        ("graysky-2012", "e5200-make", "366.1343", "375.1343", "quantiles rise"),
        ("graysky-2012", "hardware", "3.40,8.0", "3.50,8.0", "an overclocked clock"),
        ("graysky-2012", "cores", "X3360,4", "X3360,5", "the number of cores"),
        ("contest-iosched-2003", "io_load", "35.0", "35.2", "CPU% is"),
        ("contest-iosched-2003", "io_load", "12.8", "12.6", "LCPU% is"),
        ("contest-iosched-2003", "mem_load", "1.65", "1.67", "Ratio is"),
        ("contest-iosched-2003", "mem_load", "57.7", "57.5", "Loads is"),
        ("contest-iosched-2003", "process_load", "28.3,16.3", "28.3,20.7", "CPU% and LCPU%"),
        ("zaphod-2004", "hackbench", "101.4", "101.7", "the percentage is"),
        ("zaphod-2004", "hackbench", "101.4", "101.7", "one way of shortening"),
        ("counters-2009", "counters", "0.075434", "0.075436", "Cost is"),
        ("counters-2009", "compile", "14.22", "14.23", "Impr% is"),
        ("counters-2009", "sizes", "1974720", "1994720", '"BFS has resulted'),
    ],
)
def test_other_errors_would_be_found(tmp_path: Path, name: str, table: str, old: str, new: str, rule: str) -> None:
    assert any(f.rule.startswith(rule) for f in changed(tmp_path, name, table, old, new))


def test_a_caption_that_names_another_machine(tmp_path: Path) -> None:
    copy = Path(shutil.copytree(catalogue.DATA / "graysky-2012", tmp_path / "captioned"))
    path = copy / "report.toml"
    path.write_text(path.read_text().replace("CPU=Intel X3360,", "CPU=Intel X3380,"))
    found = [f for f in audit(catalogue.find(str(copy))[0]) if f.place == "x3360-compression"]
    assert [f.status for f in found if f.rule.startswith("a heading names")] == [Status.FAILS]


def test_what_is_right_when_mended(tmp_path: Path) -> None:
    """With the vanilla mean that the audit proposes nothing is wrong with that row any more."""
    copy = Path(shutil.copytree(catalogue.DATA / "graysky-2012", tmp_path / "mended"))
    path = copy / "video.csv"
    path.write_text(path.read_text().replace("39.3656", "39.3956"))
    found = audit(catalogue.find(str(copy))[0])
    assert not [f for f in found if "X3360" in f.place and "ideo" in f.place and f.status is Status.FAILS]
    assert not [f for f in found if f.place == "x3360-video, 3.6.2-vanilla" and f.status is not Status.FOLLOWS]


def test_the_text_counts_what_follows_and_fits() -> None:
    report = catalogue.find("contest-iosched-2003")[0]
    shown = text.render(report, findings("contest-iosched-2003"), 80)
    assert "DOES NOT FOLLOW (4)" in shown
    assert "  44 of 44: Ratio is Time" in shown
    assert max(map(len, shown.splitlines())) <= 80


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("counters[2..32].gain", "counters[2].gain", "do not suit it"),
        ("counters[2..32].gain", "counter[*].gain", "no table 'counter'; did you mean 'counters'"),
        ("sizes[kernel-x86_64-2.6.31-gentoo-r4-bfs]", "sizes[2..3]", "do not suit it: invalid literal"),
        ("after = 24", "after = 99", "do not suit it"),
    ],
)
def test_claims_that_name_the_wrong_cells(tmp_path: Path, old: str, new: str, sentence: str) -> None:
    copy = Path(shutil.copytree(catalogue.DATA / "counters-2009", tmp_path / "mine"))
    path = copy / "report.toml"
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))
    with pytest.raises(UsageError, match=sentence):
        audit(catalogue.find(str(copy))[0])


def test_the_document_has_every_finding() -> None:
    report = catalogue.find("zaphod-2004")[0]
    document = text.make_document(report, findings("zaphod-2004"))
    assert document["totals"] == {
        "does not follow": 1, "follows only if": 7, "cannot be checked": 1, "follows": 15,
    }  # fmt: skip
    assert len(document["findings"]) == 24

"""Campaigns of different days side by side: the control takes out what the machine did, and what differs is said."""

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import report_examples as examples
from cli_runner import ask
from scipy import stats

from runoff.analysis.beside import lay_beside
from runoff.analysis.build import build_report
from runoff.cli.main import cli
from runoff.errors import UsageError
from runoff.report.forms import render_form
from runoff.results import Results
from runoff.statistics import Verdict
from runoff.statistics.dependence import find_dependence


def take(seed: int, default: float = 1.0, bfs: float = 1.1, sd: float = 0.01, **more: object) -> Results:
    """A campaign of two arms, ten blocks."""
    cells = {"build": {"default": {"elapsed_s": (default, sd)}, "bfs": {"elapsed_s": (bfs, sd)}}}
    return examples.campaign(cells, {"build": (examples.WALL,)}, blocks=10, seed=seed, **more)


def ratios(results: Results) -> np.ndarray:
    values = {(s.block, s.arm): s.metrics["elapsed_s"] for s in results.samples}
    return np.log([values[block, "bfs"] / values[block, "default"] for block in range(results.blocks)])


def test_a_machine_that_became_slower_is_no_difference() -> None:
    monday, friday = take(1), take(2, default=1.5, bfs=1.65, sd=0.015)
    beside = lay_beside({"monday": monday, "friday": friday})
    (table,) = build_report(beside).headline
    found = table.analysis.comparisons["friday"]
    usual = stats.ttest_ind(ratios(friday), ratios(monday), equal_var=False)
    # What neighbours have in common by chance widens the interval.
    factor = find_dependence([ratios(monday), ratios(friday)]).runs_per_one
    wanted = 2 * stats.t.sf(abs(usual.statistic) / math.sqrt(factor), usual.df / factor)
    assert found.p == pytest.approx(wanted, rel=1e-9)
    assert found.verdict is not Verdict.WORSE
    raw = lay_beside({"monday": monday, "friday": friday}, "none")
    tables = {t.place: t.analysis.comparisons["friday"].verdict for t in build_report(raw).headline}
    assert tables == {"build, default": Verdict.WORSE, "build, bfs": Verdict.WORSE}
    assert "the campaigns have no control" in raw.warnings[0]


def test_a_change_of_the_arm_alone_is_found() -> None:
    beside = lay_beside({"monday": take(1), "friday": take(2, default=1.5, bfs=1.75)})
    (table,) = build_report(beside).headline
    assert table.analysis.comparisons["friday"].verdict is Verdict.WORSE
    assert table.metric.title == "elapsed time relative to default"
    assert table.find_mean("monday") == pytest.approx(1.1, rel=0.02)


def test_arms_of_other_names_are_compared_where_each_has_one() -> None:
    monday = take(1)
    friday = replace(
        monday,
        arms=("default", "bfs2"),
        samples=tuple(replace(s, arm="bfs2" if s.arm == "bfs" else s.arm) for s in monday.samples),
    )
    beside = lay_beside({"old": monday, "new": friday})
    assert beside.workloads == ("build",)
    assert "what is compared is bfs in old, bfs2 in new" in beside.warnings
    (table,) = build_report(beside).headline
    assert table.analysis.comparisons["new"].percent == pytest.approx(0, abs=1e-9)


def test_a_void_of_either_takes_its_block_out() -> None:
    lost = examples.campaign(
        {"build": {"default": {"elapsed_s": (1.0, 0.01)}, "bfs": {"elapsed_s": (1.1, 0.01)}}},
        {"build": (examples.WALL,)},
        blocks=10,
        voids={("build", "default", 3): "x", ("build", "bfs", 5): "y"},
    )
    (table,) = build_report(lay_beside({"a": lost, "b": take(2)})).headline
    assert {arm: summary.n for arm, summary in table.analysis.summaries.items()} == {"a": 8, "b": 10}


def test_what_differs_between_environments_is_said() -> None:
    other = {**examples.FINGERPRINT, "kernel": {**examples.FINGERPRINT["kernel"], "release": "7.3.0"}}
    beside = lay_beside({"monday": take(1), "friday": take(2, fingerprint=other)})
    assert beside.warnings == ("kernel.release differs: 7.2.0-cloud-amd64 (monday), 7.3.0 (friday)",)
    many = {**other, "tools": dict.fromkeys("abcdefgh", "1")}
    warnings = lay_beside({"monday": take(1), "friday": take(2, fingerprint=many)}).warnings
    assert warnings[-1] == "5 more facts differ: the page has them (Environment)"


def test_a_control_that_is_another_thing_is_said() -> None:
    arms = examples.FINGERPRINT["arms"]
    other = {**examples.FINGERPRINT, "arms": {**arms, "default": {**arms["default"], "object_sha256": "beef"}}}
    beside = lay_beside({"monday": take(1), "friday": take(2, fingerprint=other)})
    assert beside.warnings == ("the control default is not the same: object_sha256 is - (monday), beef (friday)",)


@pytest.mark.parametrize("form", ["text", "mail", "markdown", "html", "json", "csv"])
def test_every_form_shows_it(form: str) -> None:
    text = render_form(build_report(lay_beside({"monday": take(1), "friday": take(2)})), form)
    assert "friday" in text
    assert "order seed" not in text


def test_what_has_nothing_in_common_is_refused() -> None:
    virtual = replace(take(2), clock="virtual")
    with pytest.raises(UsageError, match="samples of different engines are never in one table: a is of the lab, real"):
        lay_beside({"a": take(1), "b": virtual})
    with pytest.raises(UsageError, match=r"--control cfs: not an arm of all of them; arms that all have: default, bfs"):
        lay_beside({"a": take(1), "b": take(2)}, "cfs")
    three = examples.three_arms()
    with pytest.raises(UsageError, match="the campaigns share no workload"):
        lay_beside({"a": take(1), "b": replace(three, clock="real")})
    renamed = replace(three, arms=("x", "y", "z"), samples=())
    with pytest.raises(UsageError, match=r"no arm in common.*a has default, bfs; b has x, y, z"):
        lay_beside({"a": take(1), "b": renamed})
    with pytest.raises(UsageError, match="a is of several machines"):
        lay_beside({"a": replace(take(1), machines=("m", "n")), "b": take(2)})


def test_the_command_takes_directories_with_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = {"one": take(1), "two": take(2, default=1.5, bfs=1.75)}
    examples.stand_in(monkeypatch, lambda place: made[place.name])
    for name in made:
        (tmp_path / name).mkdir()
    told = ask(cli, "report", tmp_path / "one", f"friday={tmp_path / 'two'}", "--verbose").stdout
    assert "friday (+5.8 %) is worse than one" in " ".join(told.replace("\\\n", " ").split())
    assert "runs" in told
    assert "runoff resume" not in told
    (rerun,) = [line for line in told.replace("\\\n", "").splitlines() if line.startswith("rerun ")]
    assert rerun.split()[1:] == ["runoff", "report", str(tmp_path / "one"), f"friday={tmp_path / 'two'}"]
    with pytest.raises(UsageError, match="--control is for several campaigns"):
        ask(cli, "report", tmp_path / "one", "--control", "default")
    with pytest.raises(UsageError, match="is given twice"):
        ask(cli, "report", tmp_path / "one", tmp_path / "one")


def test_false_alarms_are_as_seldom_as_they_say() -> None:
    """Two campaigns of one machine that drifts between them, 300 times."""
    wrong = 0
    for seed in range(300):
        first, second = take(2 * seed), take(2 * seed + 1, default=1.3, bfs=1.43, sd=0.013)
        (table,) = build_report(lay_beside({"a": first, "b": second})).headline
        wrong += table.analysis.comparisons["b"].verdict in (Verdict.BETTER, Verdict.WORSE)
    assert wrong <= 300 * 0.055 + 3 * (300 * 0.055 * 0.945) ** 0.5

"""What the verdict's sentence and its legend depend on; the words are in tests/golden/words/sentences.txt."""

from dataclasses import replace

import pytest
import report_examples as examples

from runoff.analysis import build
from runoff.report.words import wording
from runoff.report.words.sentences import render_verdict
from runoff.report.words.warnings import describe_warnings
from runoff.results import Metric, Results

WORKS = ("compile", "hackbench", "sleep")


def taken(*means: float, works: tuple[str, ...] = WORKS, blocks: int = 6, **fields) -> Results:
    """The baseline at 10, then arms a, b, ... at ``means``; all with an SD of 1 %."""
    arms = {"default": 10.0, **dict(zip("abcdef", means, strict=False))}
    cell = {arm: {"elapsed_s": (mean, 0.1)} for arm, mean in arms.items()}
    return examples.campaign(
        dict.fromkeys(works, cell), dict.fromkeys(works, (examples.WALL,)), blocks=blocks, **fields
    )


def told(results: Results, **options) -> str:
    return " ".join(render_verdict(build.build_report(results, **options)))


def test_a_single_arm_that_is_void_is_not_advised_to_name_another():
    every = {(work, "default", block): "exited" for work in WORKS for block in range(6)}
    lost = build.build_report(taken(voids=every))
    texts = [text for table in lost.tables for text in describe_warnings(table.analysis)]
    assert texts
    assert not any("name another arm" in text for text in texts)


@pytest.mark.parametrize(("alpha", "percent"), [(0.05, "5"), (0.01, "1")])
def test_the_legend_has_the_level_that_was_asked_for(alpha, percent):
    other = Metric("other", "s", "lower", "other", headline=False)
    cell = {arm: {"elapsed_s": (10, 0.1), "other": (10, 0.1)} for arm in ("default", "a")}
    results = examples.campaign({"w": cell}, {"w": (examples.WALL, other)}, blocks=6)
    report = build.build_report(results, alpha=alpha)
    assert report.others_judged == (1, alpha)
    legend = " ".join(wording.list_legend(report))
    assert f"at most {percent} % of campaigns show a + or -" in legend
    assert f"1 more metric is tested on the page, at {percent} % each: expect about {alpha:g} false alarms" in legend
    assert f"Its {100 - 100 * alpha:g} % intervals" in legend


@pytest.mark.parametrize(("margin", "verdict"), [(None, "unclear"), (0.5, "same")])
def test_margin_and_rare_are_those_that_are_asked_for(margin, verdict):
    results = taken(12, blocks=12)
    options = {"margin": margin, "rare": 0.2} if margin else {"rare": 0.2}
    assert ("same" in told(results, **options)) is (verdict == "same")
    planned = replace(results, margin=margin, rare=0.2)
    assert told(planned) == told(results, **options)
    assert "same" not in told(planned, margin=0.02)


def test_an_outlier_in_one_table_of_many_is_not_named():
    """p is 0.01 to 0.04 in the first table; among ten it is nothing."""
    works = tuple(f"w{i}" for i in range(10))
    one = taken(10.14, works=("w0",), blocks=7, seed=3)
    assert "worse" in told(one)
    cells = {work: {"default": {"elapsed_s": (10, 0.1)}, "a": {"elapsed_s": (10, 0.1)}} for work in works[1:]}
    rest = examples.campaign(cells, dict.fromkeys(works[1:], (examples.WALL,)), blocks=7)
    every = replace(
        rest, workloads=works, metrics=dict.fromkeys(works, (examples.WALL,)), samples=(*one.samples, *rest.samples)
    )
    report = build.build_report(replace(every, planned=len(every.samples)))
    first = report.headline[0].analysis
    assert first.comparisons["a"].separated
    assert first.comparisons["a"].p_report > 0.05
    assert "worse" not in render_verdict(report)[0]
    assert "together" in [warning.kind for warning in first.warnings]

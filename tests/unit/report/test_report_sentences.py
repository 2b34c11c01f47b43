"""The verdict in a sentence: what is said of one table, of several, of many arms, and what is held back."""

from dataclasses import replace

import pytest
import report_examples as examples

from runoff.analysis import build
from runoff.report.words import wording
from runoff.report.words.sentences import render_verdict
from runoff.report.words.warnings import describe_warning, describe_warnings
from runoff.results import Metric, Results

WORKS = ("compile", "hackbench", "sleep")
OTHER = Metric("p99_us", "us", "lower", "latency p99", headline=True)


def taken(*means: float, works: tuple[str, ...] = WORKS, blocks: int = 6, **fields) -> Results:
    """The baseline at 10, then arms a, b, ... at ``means``; all with an SD of 1 %."""
    arms = {"default": 10.0, **dict(zip("abcdef", means, strict=False))}
    cell = {arm: {"elapsed_s": (mean, 0.1)} for arm, mean in arms.items()}
    return examples.campaign(
        dict.fromkeys(works, cell), dict.fromkeys(works, (examples.WALL,)), blocks=blocks, **fields
    )


def exact(values: dict[str, list[float]]) -> Results:
    """One table with these values, a block after the other."""
    blocks = len(next(iter(values.values())))
    cell = {arm: {"elapsed_s": (each[0], 0.0)} for arm, each in values.items()}
    made = examples.campaign({"w": cell}, {"w": (examples.WALL,)}, blocks=blocks)
    samples = tuple(replace(s, metrics={"elapsed_s": values[s.arm][s.block]}) for s in made.samples)
    return replace(made, samples=samples)


def told(results: Results, **options) -> str:
    return " ".join(render_verdict(build.build_report(results, **options)))


def test_one_table_names_all_arms():
    sentence = told(taken(12, 8, 10, works=("compile",)))
    assert sentence.startswith("compile, elapsed time: b (-")
    assert " is better than default. a (+" in sentence
    assert sentence.endswith(" is worse than default. c cannot be told apart from default.")


def test_several_tables_are_summarised_per_arm():
    sentence = told(taken(12, 10))
    assert sentence.startswith("a is worse than default in compile (elapsed time +")
    assert " and sleep (elapsed time +" in sentence
    assert sentence.endswith(
        " b is within 2 % of default in 2 of 3 tables (more blocks are needed to call that the same), "
        "and cannot be told apart from it in sleep."
    )


def test_arms_that_are_the_same_as_the_baseline_next_to_a_difference():
    cells = {work: {"default": {"elapsed_s": (10, 0.1)}, "a": {"elapsed_s": (10, 0.1)}} for work in WORKS}
    cells["sleep"]["a"] = {"elapsed_s": (12, 0.1)}
    sentence = told(examples.campaign(cells, dict.fromkeys(cells, (examples.WALL,)), blocks=45))
    assert sentence.startswith("a is worse than default in sleep (elapsed time +")
    assert sentence.endswith("), and the same in the other 2 (but for what hits under 5 % of runs).")


def test_the_baseline_is_named_once_in_each_sentence():
    sentences = render_verdict(build.build_report(taken(10, 12)))
    assert sentences[0].startswith(
        "a is within 2 % of default in hackbench (more blocks are needed to call that the same), and"
    )
    assert sentences[1].startswith("b is worse than default in compile (")
    assert [sentence.count("default") for sentence in sentences] == [1, 1]


def test_an_arm_that_has_the_baselines_name_in_its_own_names_no_baseline():
    cell = {arm: {"elapsed_s": (10, 0.1)} for arm in ("default", "default+io=cfq", "default+io=noop")}
    cell["default+io=cfq"] = {"elapsed_s": (12, 0.1)}
    metrics = dict.fromkeys(WORKS, (examples.WALL,))
    sentence = told(examples.campaign(dict.fromkeys(WORKS, cell), metrics, blocks=6))
    assert sentence.startswith("default+io=cfq is worse than default in compile (")
    assert ". default+io=noop is within 2 % of default in 2 of 3 tables (" in sentence


def test_the_baseline_is_named_though_nothing_can_be_said_of_the_first_arm():
    gone = {(work, "a", block): "exited" for work in WORKS for block in range(6)}
    sentence = told(taken(10, 12, voids=gone))
    assert sentence.startswith("a has no valid sample in any table. b is worse than default in compile (")


def test_a_place_has_the_shortest_distinct_name():
    cell = {arm: {"elapsed_s": (mean, 0.1), "p99_us": (mean, 0.1)} for arm, mean in (("default", 10), ("a", 12))}
    one = examples.campaign({"w": cell}, {"w": (examples.WALL, OTHER)}, blocks=6)
    assert told(one).startswith("a is worse than default in elapsed time (+")
    two = examples.campaign(
        {"w": cell, "v": cell}, {"w": (examples.WALL, OTHER), "v": (examples.WALL, OTHER)}, blocks=6
    )
    assert told(two).startswith("a is worse than default in all 4 tables (w elapsed time +")
    works = ("schbench:operations=1,seconds=1", "counters:n=2,passes=3", "counters:n=3,passes=3")
    named = told(taken(12, works=works))
    for place in ("schbench (elapsed time +", "counters:n=2 (elapsed time +", "counters:n=3 (elapsed time +"):
        assert place in named


def test_what_is_left_after_a_difference_is_named_or_counted():
    cells = {work: {"default": {"elapsed_s": (10, 0.1)}, "a": {"elapsed_s": (10, 0.1)}} for work in WORKS}
    cells["sleep"] = {"default": {"elapsed_s": (10, 0.1)}, "a": {"elapsed_s": (12, 0.1)}}
    sentence = told(examples.campaign(cells, dict.fromkeys(cells, (examples.WALL,)), blocks=6))
    assert sentence.startswith("a is worse than default in sleep (elapsed time +")
    assert sentence.endswith("), and cannot be told apart from it in compile.")
    assert "), within 2 % of it in hackbench (more blocks are needed to call that the same), and" in sentence
    del cells["hackbench"]
    sentence = told(examples.campaign(cells, dict.fromkeys(cells, (examples.WALL,)), blocks=6))
    assert sentence.endswith("), and within 2 % of it in compile (more blocks are needed to call that the same).")


def test_arms_that_differ_are_named_of_many():
    sentence = told(taken(10, 12, 10, 13, 10))
    assert "b is worse than default in all 3 tables (compile +" in sentence
    assert "d is worse than default in all 3 tables (compile +" in sentence
    assert sentence.endswith("The other 3 arms against default: within the margin in 2, unclear in 7 of 9 comparisons.")


@pytest.mark.parametrize("means", [(10, 10), (10, 10, 10, 10)])
def test_no_arm_differs(means):
    first = "No arm is better or worse than default in any of the 3 tables: "
    count = {2: "3 of 6", 4: "2 of 12"}[len(means)]
    rest = " comparisons are within 2 % (more blocks are needed to call that the same), the others are unclear."
    assert told(taken(*means)) == first + count + rest


def test_no_arm_can_be_told_apart_where_all_is_unclear():
    cell = {arm: {"elapsed_s": (10, 3)} for arm in ("default", "a", "b")}
    noisy = examples.campaign(dict.fromkeys(WORKS, cell), dict.fromkeys(WORKS, (examples.WALL,)), blocks=6)
    assert told(noisy) == "No arm can be told apart from default in any of the 3 tables."


def test_what_differs_for_certain_and_by_little_is_not_called_unclear():
    values = {"default": [10.0, 10.01, 9.99, 10.0], "a": [10.03, 10.04, 10.02, 10.03]}
    sentence = told(exact(values))
    assert (
        sentence
        == "w, elapsed time: a (+0.3 %) is within 2 % of default (more blocks are needed to call that the same)."
    )


def test_what_varies_far_more_or_less_is_said_whatever_the_means():
    steady = [3.1, 3.2, 3.3, 3.2, 3.1, 3.3, 3.2, 3.3, 3.1, 3.2]
    wild = [0.8, 318.0, 95.0, 1.2, 0.9, 145.0, 1.1, 110.0, 4.0, 120.0]
    more = told(exact({"default": steady, "a": wild}))
    assert more.endswith(" a varies more from run to run than default in w (0.800 to 318 against 3.10 to 3.30 s).")
    less = told(exact({"default": wild, "a": steady}))
    assert less.endswith(" a varies less from run to run than default in w (3.10 to 3.30 against 0.800 to 318 s).")
    assert "varies" not in told(exact({"default": steady, "a": [value * 30 for value in steady]}))


def test_what_has_not_been_run_is_not_void():
    whole = taken(12, 10)
    begun = replace(whole, samples=tuple(sample for sample in whole.samples if sample.arm != "b"))
    sentence = told(begun)
    assert sentence.startswith("Provisional, 36 of 54 samples: a is worse than default in compile")
    assert sentence.endswith(" b has not been run yet in any table.")
    none = replace(whole, samples=tuple(sample for sample in whole.samples if sample.arm == "b"))
    assert told(none).endswith("No verdict: the baseline default has not been run yet.")


def test_the_same_says_what_it_cannot_have_seen():
    sentence = told(taken(10, works=("compile",), blocks=45))
    assert sentence == (
        "compile, elapsed time: a is the same as default within 2 % (but for what hits under 5 % of runs)."
    )
    assert told(taken(10, blocks=45)) == (
        "a is the same as default in all 3 tables (but for what hits under 5 % of runs)."
    )


def test_an_arm_that_lost_many_runs_says_so_with_its_verdict():
    """The warning below says that what is left may be the lucky part."""
    lost = {("compile", "a", block): "exited" for block in (1, 3, 5)}
    sentence = told(taken(12, works=("compile",), blocks=9, voids=lost))
    assert "of 6 valid runs in 9) is worse than default" in sentence
    few = told(taken(12, works=("compile",), blocks=20, voids={("compile", "a", 1): "exited"}))
    assert "valid runs" not in few


def test_a_void_baseline_and_void_arms():
    every = {(work, "default", block): "exited" for work in WORKS for block in range(6)}
    assert told(taken(12, voids=every)) == "No verdict: the baseline default has no valid sample."
    gone = {("compile", "a", block): "exited" for block in range(6)}
    assert told(taken(12, voids=gone)).endswith(", and has no valid sample in compile.")
    assert told(taken(12, voids={(work, "a", block): "exited" for work in WORKS for block in range(6)})) == (
        "a has no valid sample in any table."
    )


def test_a_single_arm_is_described_if_there_is_something_to_describe():
    assert told(taken()) == "default is the only arm: its samples are described, nothing is compared."
    every = {(work, "default", block): "exited" for work in WORKS for block in range(6)}
    lost = build.build_report(taken(voids=every))
    assert render_verdict(lost) == ("default is the only arm, and it has no valid sample.",)
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


def test_an_incomplete_campaign_is_provisional():
    results = taken(12)
    assert told(replace(results, planned=99)).startswith("Provisional, 36 of 99 samples: a is worse than")


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
    (warning,) = [describe_warning(w, first) for w in first.warnings if w.kind == "together"]
    assert "stands out in this table alone, and not among the 10 tables of this report: a (p=0.0" in warning
    assert "decide it with 80 % chance, if there is no difference" in warning

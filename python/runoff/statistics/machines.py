"""One metric on several machines: each by itself, and all together with the machine as the unit.

Machines count alike, however many blocks each has. Student's t over their mean changes keeps its error whatever the
noise and the number of blocks of each machine (Bakirov and Székely 2005; Ibragimov and Müller 2010, Journal of Business
and Economic Statistics 28), and a change that differs between machines is part of its spread. Of two machines it can
say next to nothing, so there the interval is the hull of theirs: what is outside of both is excluded on both.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import get_args

import numpy as np

from runoff.statistics.advice import find_unclear
from runoff.statistics.blocks import Differences
from runoff.statistics.describe import moments, summarise
from runoff.statistics.heterogeneity import estimate_sd, find_p_of_equal_means
from runoff.statistics.level import adjust, level_for_each
from runoff.statistics.machine_effects import IN_BLOCKS, IN_RUNS, Effect, Method, Observations
from runoff.statistics.power import unseen_share
from runoff.statistics.values import (
    HETEROGENEITY_ALPHA,
    Analysis,
    Beyond,
    Comparison,
    Heterogeneity,
    Interval,
    Question,
    Summary,
    Verdict,
    Warning,
)
from runoff.statistics.verdict import compare, judge


def analyse_machines(machines: Mapping[str, Observations], question: Question) -> Analysis:
    """Compare the arms over all ``machines``, by name; each has all arms, as ``compare.analyse`` wants them.

    Where runs are in no blocks (``question.paired``) each machine is judged by the spread of its runs. The analyses of
    the single machines are in ``Analysis.machines``. Raises ValueError as ``compare.analyse`` does.
    """
    method = IN_BLOCKS if question.paired else IN_RUNS
    arms = list(dict.fromkeys(arm for observed in machines.values() for arm in observed))
    own = {name: method.analyse(observed, question.select(name)) for name, observed in machines.items()}
    own = _judge_together(own, machines, method)
    # A rule for looking again and again is one of blocks; machines are taken once.
    asked = replace(question, stopping="planned", stopping_of={}, repeats_exactly=False)
    summaries = {
        arm: _summarise_arm([analysis.summaries[arm] for analysis in own.values() if arm in analysis.summaries], asked)
        for arm in arms
        if any(arm in analysis.summaries for analysis in own.values())
    }
    effects = {arm: _find_effects(arm, machines, asked.baseline, method) for arm in arms}
    comparisons = {arm: _compare_arm(arm, machines, effects[arm], own, asked) for arm in arms}
    warnings = (*_check_machines(comparisons), *find_unclear(comparisons, asked))
    return Analysis(asked, summaries, comparisons, warnings, own)


def _judge_together(
    own: Mapping[str, Analysis], machines: Mapping[str, Observations], method: Method
) -> dict[str, Analysis]:
    """Return the analyses with verdicts that hold for all machines together; intervals stay those of each."""
    judged = {name: dict(analysis.comparisons) for name, analysis in own.items()}
    stricter: dict[tuple[str, int], Analysis] = {}
    for arm in dict.fromkeys(arm for comparisons in judged.values() for arm in comparisons):
        tested = [name for name, comparisons in judged.items() if arm in comparisons and comparisons[arm].p is not None]
        for name in tested:
            question = own[name].question
            key = name, len(tested)
            if key not in stricter:
                asked = replace(question, alpha=level_for_each(question.alpha, len(tested)))
                stricter[key] = method.analyse(machines[name], asked)
            joint = replace(
                judged[name][arm],
                p_report=adjust(judged[name][arm].p or 0.0, len(tested)),
                joint_interval=stricter[key].comparisons[arm].log_interval,
            )
            judged[name][arm] = judge(joint, question, len(judged[name]) - 1)
    return {name: replace(analysis, comparisons=judged[name]) for name, analysis in own.items()}


def _summarise_arm(own: Sequence[Summary], question: Question) -> Summary:
    """Describe the means of one arm on each machine; machines differ in speed, so their mean has no interval."""
    found = summarise(own[0].arm, [each.mean for each in own], question.alpha, question.margin)
    return replace(
        found, n=sum(each.n for each in own), ci=None, quantiles=None, median_ci=None, geometric_ci=None, outliers=()
    )


def _find_effects(arm: str, machines: Mapping[str, Observations], baseline: str, method: Method) -> dict[str, Effect]:
    """Return the mean change of an arm on each machine that has both."""
    found = {name: method.find_effect(arms[baseline], arms[arm]) for name, arms in machines.items() if arms[arm]}
    return {name: effect for name, effect in found.items() if effect is not None}


def _compare_arm(
    arm: str,
    machines: Mapping[str, Observations],
    found: Mapping[str, Effect],
    own: Mapping[str, Analysis],
    question: Question,
) -> Comparison:
    if arm == question.baseline:
        return Comparison(arm)
    if not any(arms[arm] for arms in machines.values()):
        return Comparison(arm, verdict=Verdict.VOID)
    if not found:
        return Comparison(arm, verdict=None if question.direction == "none" else Verdict.UNCLEAR)
    comparisons = len(next(iter(own.values())).comparisons) - 1
    count = sum(each.n for each in found.values())
    overall = compare(arm, _join(list(found.values())), question, comparisons)
    if len(found) == 2:
        overall = _span_two(overall, [own[name].comparisons[arm] for name in found])
    overall = replace(
        overall,
        n=count,
        unseen=unseen_share(count),
        detectable=None,
        between=_find_heterogeneity(arm, found, own),
    )
    return judge(overall, question, comparisons)


def _join(found: Sequence[Effect]) -> Differences:
    """Return the mean changes of the machines, as if each machine were one block."""
    logs = all(each.logs for each in found)
    values = [each.mean if logs else each.mean_in_units for each in found]
    mean, sd = moments(values)
    ratios = [each.ratio_of_means for each in found if each.ratio_of_means is not None] if logs else []
    steps = [each.step for each in found]
    known = [step for step in steps if step is not None]
    return Differences(
        values=tuple(values),
        logs=logs,
        mean=mean,
        sd=sd,
        mean_in_units=float(np.mean([each.mean_in_units for each in found])),
        ratio_of_means=float(np.mean(ratios)) if ratios else None,
        ratio_sd=float(np.std(ratios, ddof=1)) if len(ratios) > 1 else None,
        correlation=None,
        confounded=any(each.confounded for each in found),
        step=max(known) if len(known) == len(steps) else None,
    )


def _span_two(overall: Comparison, own: Sequence[Comparison]) -> Comparison:
    """Give a comparison of two machines the hull of their intervals, and the larger p of the two."""
    relative = overall.log_mean is not None
    intervals = [each.log_interval if relative else each.interval for each in own]
    known = [interval for interval in intervals if interval is not None]
    values = [each.p for each in own if each.p is not None]
    if len(known) < 2 or len(values) < 2:
        return replace(overall, interval=None, log_interval=None, p=None, separated=False, beyond="interval")
    hull = Interval(min(each.low for each in known), max(each.high for each in known))
    separated = hull.low > 0 or hull.high < 0
    signs = {_find_mean(each) > 0 for each in own}
    return replace(
        overall,
        interval=None if relative else hull,
        log_interval=hull if relative else None,
        p=max(values) if len(signs) == 1 else 1.0,
        separated=separated,
        beyond=min((each.beyond for each in own), key=get_args(Beyond).index),
    )


def _find_heterogeneity(arm: str, found: Mapping[str, Effect], own: Mapping[str, Analysis]) -> Heterogeneity:
    replicated = [each.moments for each in found.values() if each.moments is not None]
    comparable = len(replicated) > 1 and len({each.logs for each in found.values()}) == 1
    verdicts = {name: own[name].comparisons[arm].verdict for name in found}
    return Heterogeneity(
        machines=len(found),
        sd=estimate_sd(replicated) if comparable else None,
        p=find_p_of_equal_means(replicated) if comparable else None,
        better=tuple(name for name, verdict in verdicts.items() if verdict is Verdict.BETTER),
        worse=tuple(name for name, verdict in verdicts.items() if verdict is Verdict.WORSE),
    )


def _find_mean(comparison: Comparison) -> float:
    return comparison.log_mean if comparison.log_mean is not None else comparison.difference or 0.0


def _check_machines(comparisons: Mapping[str, Comparison]) -> list[Warning]:
    known = [c for c in comparisons.values() if c.between is not None]
    differing = [c for c in known if c.between and c.between.p is not None and c.between.p <= HETEROGENEITY_ALPHA]
    untested = [c for c in known if c.between and c.between.p is None and c.between.machines > 1]
    found = []
    if differing:
        found.append(Warning("machines", tuple(c.arm for c in differing)))
    if untested:
        found.append(Warning("one_block", tuple(c.arm for c in untested)))
    return found

"""Warnings about one metric in sentences, each with what to do about it."""

import math
from collections.abc import Sequence

from runoff.statistics.values import LEAST_BLOCKS, MOST_BLOCKS, Advice, Analysis, Comparison, Question, Warning

HOUR_S = 3600.0
MINUTE_S = 60.0

MOST_ARMS = 4
"""Arms whose outliers are counted one by one."""

FINER = "use a longer workload or a finer metric"


def describe_warnings(analysis: Analysis) -> list[str]:
    """Return a sentence for each warning of ``analysis``, the gravest first."""
    return [describe_warning(warning, analysis) for warning in analysis.warnings]


def describe_warning(warning: Warning, analysis: Analysis) -> str:
    """Return the sentence for one warning of ``analysis``."""
    compared = [analysis.comparisons[arm] for arm in warning.arms]
    return _SENTENCES[warning.kind](warning, compared, analysis)


def _describe_baseline(warning: Warning, _compared: Sequence[Comparison], analysis: Analysis) -> str:
    others = "or name another arm first" if analysis.summaries else "and take them again"
    return (
        f"the baseline {warning.arms[0]} has no valid sample, so nothing can be compared with it: "
        f"remove the cause of its voids, {others}"
    )


def _describe_few(warning: Warning, compared: Sequence[Comparison], analysis: Analysis) -> str:
    if not analysis.question.paired:
        arms = (analysis.question.baseline, *(comparison.arm for comparison in compared))
        counts = ", ".join(f"{arm} ({analysis.summaries[arm].n})" for arm in arms)
        return (
            f"too few runs to separate any but large differences: {counts}; take at least {warning.blocks} of each, "
            "10 are better"
        )
    counts = ", ".join(f"{c.arm} ({c.n})" for c in compared)
    return (
        "too few blocks with a valid sample of both to separate any but large differences: "
        f"{counts}; take at least {warning.blocks} (--blocks), 10 are better"
    )


def _describe_copies(_warning: Warning, _compared: Sequence[Comparison], _analysis: Analysis) -> str:
    return (
        "every block repeated the same run to the last digit, so more blocks add no evidence and nothing was "
        "tested: let each block start from its own perturbation"
    )


def _describe_constant(warning: Warning, _compared: Sequence[Comparison], analysis: Analysis) -> str:
    if not warning.arms:
        return (
            "all values are identical: the clock is too coarse, or the work does not depend on the scheduler; " + FINER
        )
    by = "their signs" if analysis.question.paired else "how rarely values that are dealt anew sort as well"
    return (
        f"no arm varies between {_unit(analysis.question)}, so intervals have no width and differences are tested by "
        f"{by}; {FINER} if the clock is coarse"
    )


def _describe_coarse(warning: Warning, compared: Sequence[Comparison], analysis: Analysis) -> str:
    question, arms = analysis.question, ", ".join(warning.arms)
    steps = [c.step for c in compared if c.step is not None]
    if not steps:
        return (
            f"all values of {arms} and of {question.baseline} are one number, so how far they may differ is "
            f"not known: {FINER}"
        )
    return (
        f"values come in steps of {100 * max(steps):.2g} %, and the margin is {100 * question.margin:g} %: too coarse "
        f"to call {arms} the same as {question.baseline}; {FINER}"
    )


def _describe_order(warning: Warning, _compared: Sequence[Comparison], analysis: Analysis) -> str:
    return (
        f"values drift from block to block, and chance has put {', '.join(warning.arms)} on the same side of "
        f"{analysis.question.baseline} in all of them, so that drift and difference look alike and nothing was "
        "tested: take more blocks"
    )


def _describe_dependent(_warning: Warning, compared: Sequence[Comparison], analysis: Analysis) -> str:
    alike = ", ".join(f"{c.arm} (lag-1 correlation {c.correlation or 0.0:.2f})" for c in compared)
    if not analysis.question.paired:
        return (
            f"runs resemble the run before them: {alike}; intervals are widened for it: take a run of each arm in "
            "turn, in blocks, as runoff compare does"
        )
    return (
        f"differences of neighbouring blocks are alike: {alike}; intervals are widened for it, "
        "as something slower than a block changes one of the arms"
    )


def _describe_drift(warning: Warning, _compared: Sequence[Comparison], _analysis: Analysis) -> str:
    tau, p = warning.numbers["tau"], warning.numbers["p"]
    return (
        f"values {'rise' if tau > 0 else 'fall'} along the run order (Mann-Kendall tau={tau:+.2f}, p={p:.2g}): blocks "
        "take the drift out of the comparison, but means and quantiles hold only for this campaign; let the machine "
        "settle, fix its frequency"
    )


def _describe_outliers(warning: Warning, _compared: Sequence[Comparison], analysis: Analysis) -> str:
    found = [analysis.summaries[arm] for arm in warning.arms]
    counts = ", ".join(f"{len(s.outliers)} of {s.n} runs of {s.arm}" for s in found[:MOST_ARMS])
    more = f" and {len(found) - MOST_ARMS} more arms" if len(found) > MOST_ARMS else ""
    return f"outliers, kept in the result: {counts}{more}"


def _describe_rare(warning: Warning, compared: Sequence[Comparison], analysis: Analysis) -> str:
    question, needed = analysis.question, warning.blocks or 0
    n = min(c.n for c in compared)
    percent = math.ceil(100 * max(c.unseen or 0.0 for c in compared) - 1e-9)
    short = f"--rare {percent}%" if n >= LEAST_BLOCKS else f"{LEAST_BLOCKS} of them with --rare 21%"
    relative = compared[0].percent is not None
    within = f"within +-{100 * question.margin:g} %" if relative else "to the last digit like it"
    return (
        f"{', '.join(warning.arms)}: {within} over all {_count(n, question)}, but these can miss what happens in up to "
        f"{percent} % of runs; to call it the same, take {_count(needed, question)}{_time(needed, question)}, or "
        f"{short}"
    )


def _describe_simultaneous(_warning: Warning, compared: Sequence[Comparison], analysis: Analysis) -> str:
    question = analysis.question
    each = ", ".join(f"{c.arm} (p={c.p or 0:.2g}, together {c.p_report or 0:.2g})" for c in compared)
    return (
        f"stands out in this table alone, and not among the {question.tables} tables of this report: {each}"
        f"{_describe_needed(compared, question)}"
    )


def _describe_resolution(_warning: Warning, compared: Sequence[Comparison], analysis: Analysis) -> str:
    question = analysis.question
    unclear = f"unclear: {', '.join(c.arm + _describe_beyond(c) for c in compared)}"
    if compared[0].is_sequential:
        # Where any number of further blocks may be taken there is nothing to plan.
        if not question.paired:
            return f"{unclear}; more blocks of the campaigns may decide it"
        return f"{unclear}; more blocks may decide it: runoff resume DIR --blocks N takes them"
    if compared[0].between is not None:
        machines = max(c.between.machines for c in compared if c.between is not None)
        return f"{unclear} over {machines} machines; more machines narrow the interval, more blocks on each do less"
    if compared[0].sd is None:
        if not question.paired:
            return f"{unclear}; one run has no spread to measure against, take 10 of each"
        return f"{unclear}; one block has no spread to measure against, take 10 (--blocks)"
    if compared[0].advice is not None:
        return unclear + _describe_needed(compared, question)
    return (
        f"{unclear}; no difference was seen, and where percent mean nothing only identical values "
        f"are the same: more {_unit(question)} narrow the interval and decide nothing"
    )


def _describe_beyond(comparison: Comparison) -> str:
    """Return why a comparison is not within the margin though its printed interval is; else nothing.

    A step as large as the margin has a warning of its own.
    """
    if comparison.beyond == "step" and not comparison.coarse:
        step = 100 * (comparison.step or 0.0)
        return f" (a step of its values, {step:.2g} %, counts on both sides of the interval)"
    return " (its arithmetic mean may differ by more)" if comparison.beyond == "mean" else ""


def _describe_machines(_warning: Warning, compared: Sequence[Comparison], _analysis: Analysis) -> str:
    each = ", ".join(f"{c.arm} ({_describe_spread(c)})" for c in compared)
    return f"the change differs between machines: {each}; read each machine by itself"


def _describe_spread(comparison: Comparison) -> str:
    between = comparison.between
    if between is None or between.p is None:
        return ""
    relative = comparison.log_mean is not None and between.sd is not None
    return f"p={between.p:.2g}" + (f", SD between machines {100 * (between.sd or 0.0):.2g} %" if relative else "")


def _describe_one_block(warning: Warning, _compared: Sequence[Comparison], _analysis: Analysis) -> str:
    return (
        f"{', '.join(warning.arms)}: with one block on a machine nothing says whether machines differ; take two or "
        "more on each (--blocks)"
    )


_SENTENCES = {
    "baseline": _describe_baseline,
    "few": _describe_few,
    "copies": _describe_copies,
    "constant": _describe_constant,
    "coarse": _describe_coarse,
    "order": _describe_order,
    "dependent": _describe_dependent,
    "drift": _describe_drift,
    "outliers": _describe_outliers,
    "rare": _describe_rare,
    "together": _describe_simultaneous,
    "resolution": _describe_resolution,
    "machines": _describe_machines,
    "one_block": _describe_one_block,
}


def _describe_needed(compared: Sequence[Comparison], question: Question) -> str:
    """Return the arm that needs the most blocks, and how many; empty where that is not known."""
    known = [(c.advice.blocks, c, c.advice) for c in compared if c.advice is not None]
    if not known:
        return ""
    _, arm, advice = max(known, key=lambda each: each[0])
    name = f" for {arm.arm}" if len(compared) > 1 else ""
    return f"; {_amount(advice, question)} decide it{name} with 80 % chance, {_condition(advice)}"


def _amount(advice: Advice, question: Question) -> str:
    taken = (
        " in all" if question.taken is not None else " of a new campaign" if question.paired else " in a new campaign"
    )
    if advice.blocks > MOST_BLOCKS:
        return f"more than {_count(MOST_BLOCKS, question)}{taken}"
    high = str(advice.high) if advice.high <= MOST_BLOCKS else f"over {MOST_BLOCKS}"
    spread = f"{advice.low} to {high}" if advice.low < advice.high else ""
    time = _time(advice.blocks, question).removeprefix(" (").removesuffix(")")
    inside = ", ".join(part for part in (time, spread) if part)
    return f"about {_count(advice.blocks, question)}{taken}" + (f" ({inside})" if inside else "")


def _count(number: int, question: Question) -> str:
    """Return a number of blocks, or of runs of each arm, in words."""
    return f"{number} {'blocks' if question.paired else 'runs of each'}"


def _unit(question: Question) -> str:
    return "blocks" if question.paired else "runs"


def _condition(advice: Advice) -> str:
    """Return which truth the chance is for."""
    if advice.towards == "same":
        return "if the arms differ as little as they seem to" if advice.as_seen else "if there is no difference"
    return "if the true difference is the one measured"


def _time(blocks: int, question: Question) -> str:
    """Return how long that many blocks take, or those of them that are still to be taken; empty if not known."""
    if question.seconds_per_block is None:
        return ""
    more = "" if question.taken is None else " more"
    seconds = (blocks - (question.taken or 0)) * question.seconds_per_block
    if seconds >= HOUR_S:
        return f" ({seconds / HOUR_S:.1f} h{more})"
    return (
        f" ({math.ceil(seconds / MINUTE_S)} min{more})" if seconds >= MINUTE_S else f" ({math.ceil(seconds)} s{more})"
    )

"""What an unclear arm needs, in sentences."""

import math
from collections.abc import Iterator, Mapping, Sequence

from runoff.statistics.power import MOST_BLOCKS, least_blocks
from runoff.statistics.values import LEAST_BLOCKS, Advice, Comparison, Question, Verdict, Warning

HOUR_S = 3600.0
MINUTE_S = 60.0


def resolution(comparisons: Mapping[str, Comparison], question: Question) -> Iterator[Warning]:
    """One sentence for each reason that arms are unclear; of several with one reason the hardest is told."""
    if question.repeats_exactly:
        return
    unclear = [c for c in comparisons.values() if c.verdict is Verdict.UNCLEAR and c.difference is not None]
    yield from _rare([c for c in unclear if c.within], question)
    if question.sequential:
        yield from _looked_at([c for c in unclear if not c.within])
        return
    yield from _together([c for c in unclear if not c.within and c.separated], question)
    rest = [c for c in unclear if not c.within and not c.separated and not c.confounded]
    yield from _single([c for c in rest if c.sd is None])
    for towards in ("same", "difference"):
        yield from _needed([c for c in rest if c.advice and c.advice.towards == towards], question)
    yield from _never([c for c in rest if c.sd is not None and c.advice is None and not c.coarse], question)


def _rare(arms: Sequence[Comparison], question: Question) -> Iterator[Warning]:
    """The interval is inside the margin, and what happens seldom may not have happened yet."""
    if not arms:
        return
    n = min(c.n for c in arms)
    share = max(c.unseen or 0.0 for c in arms)
    percent = math.ceil(100 * share - 1e-9)
    needed = least_blocks(question.rare)
    short = f"--rare {percent}%" if n >= LEAST_BLOCKS else f"{LEAST_BLOCKS} of them with --rare 21%"
    within = f"within +-{100 * question.margin:g} %" if arms[0].percent is not None else "to the last digit like it"
    yield Warning(
        "rare",
        f"{_names(arms)}: {within} over all {n} blocks, too few to call it the same: what happens in up to "
        f"{percent} % of runs could have gone unseen; {needed} blocks{_time(needed, question)}, or {short}",
    )


def _looked_at(arms: Sequence[Comparison]) -> Iterator[Warning]:
    """Where any number of further blocks may be taken there is nothing to plan."""
    if arms:
        yield Warning(
            "resolution", f"unclear: {_names(arms)}; more blocks may decide it: runoff resume DIR --blocks N takes them"
        )


def _together(arms: Sequence[Comparison], question: Question) -> Iterator[Warning]:
    """Separated in its table, and not among all tables."""
    if not arms:
        return
    told = ", ".join(f"{c.arm} (p={c.p or 0:.2g}, together {c.p_report or 0:.2g})" for c in arms)
    yield Warning(
        "together",
        f"stands out in this table alone, and not among the {question.tables} tables of this report: {told}"
        f"{_blocks(arms, question)}",
    )


def _needed(arms: Sequence[Comparison], question: Question) -> Iterator[Warning]:
    if arms:
        yield Warning("resolution", f"unclear: {_names(arms)}{_blocks(arms, question)}")


def _single(arms: Sequence[Comparison]) -> Iterator[Warning]:
    if arms:
        yield Warning(
            "resolution", f"unclear: {_names(arms)}; one block has no spread to measure against, take 10 (--blocks)"
        )


def _never(arms: Sequence[Comparison], question: Question) -> Iterator[Warning]:
    if arms:
        yield Warning(
            "resolution",
            f"unclear: {_names(arms)}; no difference was seen, and where percent mean nothing only identical values "
            "are the same: more blocks narrow the interval and decide nothing",
        )


def _blocks(arms: Sequence[Comparison], question: Question) -> str:
    """The most that any of them needs."""
    known = [(c.advice.blocks, c, c.advice) for c in arms if c.advice is not None]
    if not known:
        return ""
    _, arm, advice = max(known, key=lambda each: each[0])
    who = f" for {arm.arm}" if len(arms) > 1 else ""
    return f"; {_amount(advice, question)} decide it{who} with 80 % chance, {_if(arm, advice, question)}"


def _amount(advice: Advice, question: Question) -> str:
    if advice.blocks > MOST_BLOCKS:
        return f"more than {MOST_BLOCKS} blocks"
    spread = f", {advice.low} to {_most(advice.high)}" if advice.low < advice.high else ""
    time = _time(advice.blocks, question).removeprefix(" (").removesuffix(")")
    inside = ", ".join(part for part in (time, spread.removeprefix(", ")) if part)
    return f"about {advice.blocks} blocks" + (f" ({inside})" if inside else "")


def _most(blocks: int) -> str:
    return str(blocks) if blocks <= MOST_BLOCKS else f"over {MOST_BLOCKS}"


def _if(arm: Comparison, advice: Advice, question: Question) -> str:
    """Which truth the chance is for."""
    if advice.towards == "same":
        return "if the arms differ as little as they seem to" if advice.as_seen else "if there is no difference"
    return "if the difference is as large as it seems"


def _time(blocks: int, question: Question) -> str:
    """How long that many take in all; empty if that is not known."""
    if question.seconds_per_block is None:
        return ""
    seconds = blocks * question.seconds_per_block
    if seconds >= HOUR_S:
        return f" ({seconds / HOUR_S:.1f} h)"
    return f" ({math.ceil(seconds / MINUTE_S)} min)" if seconds >= MINUTE_S else f" ({math.ceil(seconds)} s)"


def _names(arms: Sequence[Comparison]) -> str:
    return ", ".join(c.arm for c in arms)

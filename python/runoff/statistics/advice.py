"""Why arms are unclear: which reason applies to which."""

from collections.abc import Iterator, Mapping, Sequence

from runoff.statistics.power import least_blocks
from runoff.statistics.values import Comparison, Question, Verdict, Warning, WarningKind


def find_unclear(comparisons: Mapping[str, Comparison], question: Question) -> Iterator[Warning]:
    """Yield a warning for each reason that arms are unclear."""
    if question.repeats_exactly:
        return
    # What happens seldom may not have happened yet.
    small = [c for c in comparisons.values() if c.verdict is Verdict.SMALL]
    least = least_blocks(question.rare)
    yield from _warn("rare", small, max((c.advice.blocks for c in small if c.advice), default=least))
    unclear = [c for c in comparisons.values() if c.verdict is Verdict.UNCLEAR and c.difference is not None]
    yield from _warn("resolution", [c for c in unclear if c.is_sequential and not c.advice])
    unclear = [c for c in unclear if c.advice or not c.is_sequential]
    # Separated in its table, and not among all tables.
    yield from _warn("together", [c for c in unclear if c.separated])
    rest = [c for c in unclear if not c.separated and not c.confounded]
    yield from _warn("resolution", [c for c in rest if c.sd is None])
    for towards in ("same", "difference"):
        yield from _warn("resolution", [c for c in rest if c.advice and c.advice.towards == towards])
    yield from _warn("resolution", [c for c in rest if c.sd is not None and c.advice is None and not c.coarse])


def _warn(kind: WarningKind, arms: Sequence[Comparison], blocks: int | None = None) -> Iterator[Warning]:
    if arms:
        yield Warning(kind, tuple(c.arm for c in arms), blocks)

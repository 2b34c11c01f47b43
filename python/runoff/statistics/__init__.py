"""Numbers in, numbers out: what the samples of one metric support.

``analyse`` compares the arms on one metric, ``analyse_unpaired`` those without blocks, ``analyse_machines`` those of
several machines, ``judge_family`` judges several
metrics as one family, ``analyse_classic`` looks at one as the historic reports did. All return plain values from
``values``. The modules that compute import scipy, so they are imported on the first call and not before.
"""

from collections.abc import Mapping, Sequence

from runoff.statistics.values import (
    DEFAULT_ALPHA,
    DEFAULT_MARGIN,
    DEFAULT_RARE,
    HETEROGENEITY_ALPHA,
    OPEN,
    Advice,
    Analysis,
    Anova,
    Classic,
    Comparison,
    Heterogeneity,
    Interval,
    Observation,
    Pair,
    Quantiles,
    Question,
    Spread,
    Summary,
    Verdict,
    Warning,
)

__all__ = [
    "DEFAULT_ALPHA",
    "DEFAULT_MARGIN",
    "DEFAULT_RARE",
    "HETEROGENEITY_ALPHA",
    "OPEN",
    "Advice",
    "Analysis",
    "Anova",
    "Classic",
    "Comparison",
    "Heterogeneity",
    "Interval",
    "Observation",
    "Pair",
    "Quantiles",
    "Question",
    "Spread",
    "Summary",
    "Verdict",
    "Warning",
    "analyse",
    "analyse_classic",
    "analyse_machines",
    "analyse_unpaired",
    "geometric_mean",
    "geometric_mean_over_machines",
    "judge_family",
]


def analyse(arms: Mapping[str, Sequence[Observation]], question: Question) -> Analysis:
    """Compare the arms on one metric; see ``runoff.statistics.compare.analyse``."""
    from runoff.statistics import compare

    return compare.analyse(arms, question)


def analyse_machines(machines: Mapping[str, Mapping[str, Sequence[Observation]]], question: Question) -> Analysis:
    """Compare the arms over several machines; see ``runoff.statistics.machines.analyse_machines``."""
    from runoff.statistics import machines as several

    return several.analyse_machines(machines, question)


def analyse_unpaired(arms: Mapping[str, Sequence[Observation]], question: Question) -> Analysis:
    """Compare arms whose runs are in no blocks; see ``runoff.statistics.unpaired.analyse_unpaired``."""
    from runoff.statistics import unpaired

    return unpaired.analyse_unpaired(arms, question)


def judge_family(analyses: Sequence[Analysis]) -> tuple[Analysis, ...]:
    """Judge several tables as one family; see ``runoff.statistics.family.together``."""
    from runoff.statistics import family

    return family.judge_family(analyses)


def geometric_mean(tables: Sequence[Mapping[str, Sequence[Observation]]], question: Question) -> Analysis:
    """Put several tables together; see ``runoff.statistics.overall.geometric_mean``."""
    from runoff.statistics import overall

    return overall.geometric_mean(tables, question)


def geometric_mean_over_machines(
    machines: Mapping[str, Sequence[Mapping[str, Sequence[Observation]]]], question: Question
) -> Analysis:
    """Put several tables of several machines together; see ``runoff.statistics.overall``."""
    from runoff.statistics import overall

    return overall.geometric_mean_over_machines(machines, question)


def analyse_classic(analysis: Analysis) -> Classic:
    """Return one-way analysis of variance and Tukey-Kramer; see ``runoff.statistics.oneway.analyse``."""
    from runoff.statistics import oneway

    return oneway.analyse(analysis.summaries, analysis.question)

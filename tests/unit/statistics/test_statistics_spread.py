"""Spread: what differs is found, and what varies alike is not called different, whatever its shape."""

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt
import pytest

from runoff.statistics import Observation, Question, Spread
from runoff.statistics.spread import compare_spread

Draw = Callable[[np.random.Generator, int], npt.NDArray[np.float64]]

CAMPAIGNS = 400


def shaped(log: Callable[[np.random.Generator, int], npt.NDArray[np.float64]]) -> Draw:
    return lambda rng, n: np.exp(log(rng, n))


SHAPES: dict[str, Draw] = {
    "normal": shaped(lambda rng, n: rng.normal(0, 0.05, n)),
    "wide": shaped(lambda rng, n: rng.normal(0, 0.8, n)),
    "heavy tails": shaped(lambda rng, n: 0.05 * rng.standard_t(2, n)),
    "two humps": shaped(lambda rng, n: np.where(rng.random(n) < 0.3, 3.4, 0.0) + rng.normal(0, 0.05, n)),
    "rare slow runs": shaped(lambda rng, n: np.where(rng.random(n) < 0.1, 2.3, 0.0) + rng.normal(0, 0.02, n)),
    "coarse": lambda rng, n: np.round(20 * np.exp(rng.normal(0, 0.05, n))),
    "drift": shaped(lambda rng, n: rng.normal(0, 0.03, n) + np.linspace(0, 0.5, n)),
}


def spread(baseline: Sequence[float], arm: Sequence[float], comparisons: int = 1, **question: object) -> Spread | None:
    observed = ([Observation(float(value), i, i) for i, value in enumerate(each)] for each in (baseline, arm))
    asked = Question("base", "lower", **question)  # type: ignore[arg-type]
    return compare_spread(next(observed), next(observed), asked, comparisons)


def share(first: Draw, second: Draw, n: int) -> float:
    """The share of campaigns that call the spreads different."""
    rng = np.random.default_rng(n)
    found = [spread(first(rng, n), 3 * second(rng, n)) for _ in range(CAMPAIGNS)]
    return sum(each is not None and each.differs for each in found) / CAMPAIGNS


@pytest.mark.parametrize("n", [8, 10, 20, 40])
@pytest.mark.parametrize("shape", SHAPES)
def test_arms_that_vary_alike_are_rarely_called_different(shape: str, n: int) -> None:
    """At most 5 %, with three standard errors of this number of campaigns."""
    assert share(SHAPES[shape], SHAPES[shape], n) <= 0.05 + 3 * (0.05 * 0.95 / CAMPAIGNS) ** 0.5


def test_an_arm_that_varies_far_more_is_found() -> None:
    calm = shaped(lambda rng, n: rng.normal(0, 0.03, n))
    wild = shaped(lambda rng, n: rng.normal(0, 0.9, n))
    assert share(calm, wild, 10) > 0.95
    assert share(wild, calm, 10) > 0.95
    humps = shaped(lambda rng, n: np.where(rng.random(n) < 0.5, 3.4, 0.0) + rng.normal(0, 0.05, n))
    assert share(calm, humps, 20) > 0.95


CALM = [1.0, 1.01, 0.99, 1.0, 1.02, 0.98, 1.0, 1.01, 0.99, 1.0]
WILD = [0.3, 9.0, 0.2, 7.0, 0.5, 12.0, 0.4, 8.0, 0.1, 6.0]


def test_the_ratio_and_the_side_are_those_of_the_arm() -> None:
    more, less = spread(CALM, WILD), spread(WILD, CALM)
    assert more is not None
    assert less is not None
    assert (more.is_larger, less.is_larger) == (True, False)
    assert (more.differs, less.differs) == (True, True)
    assert more.ratio == pytest.approx(1 / (less.ratio or 0.0))
    assert more.p == less.p == pytest.approx(2 / 2**10)


def test_one_far_run_is_no_finding() -> None:
    assert not spread(CALM, [*CALM[:-1], 50.0]).differs  # type: ignore[union-attr]


def test_what_matters_less_than_the_margin_is_no_finding() -> None:
    finer = [1 + (value - 1) / 1000 for value in CALM]
    found = spread(finer, [1 + (value - 1) / 10 for value in CALM])
    assert found is not None
    assert found.p <= 0.05
    assert not found.differs


def test_levels_hold_for_all_arms_and_tables_together() -> None:
    alone, many = spread(CALM, WILD), spread(CALM, WILD, comparisons=5, tables=6)
    assert alone is not None
    assert many is not None
    assert many.p == pytest.approx(1 - (1 - alone.p) ** 30)
    assert not many.differs


def test_without_any_variation_there_is_no_difference_and_no_ratio() -> None:
    still = spread([5.0] * 10, [6.0] * 10)
    assert still is not None
    assert (still.ratio, still.p, still.differs) == (None, 1.0, False)
    moved = spread([5.0] * 10, WILD)
    assert moved is not None
    assert (moved.ratio, moved.differs) == (None, True)


def test_values_that_are_not_positive_are_taken_as_they_are() -> None:
    found = spread([value - 1 for value in CALM], [value - 5 for value in WILD])
    assert found is not None
    assert found.differs


@pytest.mark.parametrize("question", [{"stopping": "until"}, {"repeats_exactly": True}])
def test_nothing_is_tested_where_levels_would_not_hold(question: dict[str, object]) -> None:
    assert spread(CALM, WILD, **question) is None


def test_few_shared_blocks_are_not_tested() -> None:
    assert spread(CALM[:7], WILD[:7]) is None


@pytest.mark.parametrize(("factor", "told"), [(2.9, False), (3.1, True), (1 / 2.9, False), (1 / 3.1, True)])
def test_less_than_three_times_the_variation_is_no_finding(factor: float, told: bool) -> None:
    swing = 0.3 * np.array([1, -1] * 10)
    found = spread(np.exp(swing), np.exp(factor * swing))  # type: ignore[arg-type]
    assert found is not None
    assert found.ratio == pytest.approx(factor)
    assert found.p <= 0.05
    assert found.differs is told


def test_three_times_the_variation_is_a_finding() -> None:
    swing = np.array([1.0, -1.0] * 10)
    found = spread(swing, 3 * swing)  # type: ignore[arg-type]
    assert found is not None
    assert (found.ratio, found.differs) == (3.0, True)

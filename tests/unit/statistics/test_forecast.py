"""How well the end of a campaign is foretold that goes on until it is decided."""

import math

import numpy as np
import pytest

from runoff.statistics import sequential
from runoff.statistics.forecast import Course, Forecast, _simulate_blocks, forecast_blocks

MARGIN = (math.log1p(-0.02), math.log1p(0.02))


def course(n: int, mean: float, sd: float, **changes: object) -> Course:
    usual = {"margin": MARGIN, "least": 10, "level_same": 0.05, "level_apart": 0.05}
    return Course(n, mean, sd, **{**usual, **changes})  # type: ignore[arg-type]


def true_end(mean: float, sd: float, horizon: int, draw: np.random.Generator) -> tuple[int, np.ndarray]:
    """The number of blocks after which a campaign is decided, and its differences."""
    values = mean + sd * draw.standard_normal(horizon)
    for n in range(10, horizon + 1):
        half = sequential.critical(n, 0.05) * values[:n].std(ddof=1) / math.sqrt(n)
        at = values[:n].mean()
        if abs(at) > half or (MARGIN[0] <= at - half and at + half <= MARGIN[1]):
            return n, values
    return horizon + 1, values


@pytest.mark.parametrize(("mean", "sd"), [(0.03, 0.05), (0.0, 0.03), (0.015, 0.03)])
def test_the_interval_holds_the_end_in_nine_of_ten_campaigns(mean, sd):
    draw = np.random.default_rng(4)
    held = asked = 0
    for _ in range(150):
        end, values = true_end(mean, sd, 400, draw)
        if end <= 10:
            continue
        asked += 1
        seen = values[:10]
        found = forecast_blocks([course(10, float(seen.mean()), float(seen.std(ddof=1)))], 390)
        held += (found.low or 391) <= end - 10 <= (found.high or 391)
    assert asked > 80
    assert held / asked == pytest.approx(0.9, abs=0.08)


class Known:
    """A generator whose numbers are known."""

    def __init__(self, spread: float, *normals: np.ndarray) -> None:
        self._spread = spread
        self._normals = [*normals]

    def chisquare(self, df: int, _size: tuple[int, int]) -> np.ndarray:
        return np.full((1, 1), df * self._spread)

    def standard_normal(self, _size: tuple[int, int]) -> np.ndarray:
        return self._normals.pop(0)


def test_each_course_is_looked_at_as_the_campaign_will_be():
    """Mean and SD after each further block are those of all values so far; the spread is drawn, and the mean."""
    seen = np.array([0.03, -0.01, 0.05, 0.02])
    noise = np.array([[0.5, -1.5, 2.0]])
    found = course(4, float(seen.mean()), float(seen.std(ddof=1)))
    draw = Known(0.25, np.array([[0.7]]), noise)
    mean, sd, n = _simulate_blocks(found, 3, draw)  # type: ignore[arg-type]
    drawn_sd = 2 * found.sd
    further = found.mean + 0.7 * drawn_sd / 2 + drawn_sd * noise[0]
    for step in range(3):
        values = np.concatenate([seen, further[: step + 1]])
        assert n[step] == len(values)
        assert mean[0, step] == pytest.approx(values.mean())
        assert sd[0, step] == pytest.approx(values.std(ddof=1))


def test_a_clear_difference_ends_soon_and_a_hidden_one_late():
    soon, late = forecast_blocks([course(10, 0.1, 0.08)], 500), forecast_blocks([course(10, 0.02, 0.08)], 500)
    assert soon.median is not None
    assert soon.median < 20
    assert late.median is None or late.median > 5 * soon.median


def test_all_are_waited_for():
    one, other = course(10, 0.05, 0.05), course(10, 0.0, 0.02)
    both = forecast_blocks([one, other], 500)
    assert both.median is not None
    assert both.median >= max(forecast_blocks([each], 500).median or 0 for each in (one, other)) - 1


def test_same_waits_for_its_least_number_of_blocks():
    assert forecast_blocks([course(10, 0.0, 0.001, least=45, level_apart=1e-300)], 500) == Forecast(35, 35, 35)


def test_without_a_margin_only_a_difference_decides():
    assert forecast_blocks([course(20, 0.0, 0.001, margin=None)], 100).median is None
    assert forecast_blocks([course(20, 0.0, 0.001)], 100) == Forecast(1, 1, 1)


def test_there_is_no_forecast_beyond_the_cap():
    assert forecast_blocks([course(10, 0.0, 0.5)], 20) == Forecast(None, None, None)
    assert forecast_blocks([course(10, 0.0, 0.5)], 0) == Forecast(None, None, None)
    assert forecast_blocks([], 20) == Forecast(0, 0, 0)


def test_a_large_mean_keeps_its_digits():
    """Differences in a metric's unit may be far from zero beside their noise."""
    assert forecast_blocks([course(10, 1e9, 1.0, margin=None)], 20) == Forecast(1, 1, 1)
    moved, still = (
        forecast_blocks([course(10, mean, 1.0, margin=(mean - 1.2, mean + 1.2), level_apart=1e-300)], 100)
        for mean in (1e9, 0.0)
    )
    assert moved == still


def test_the_forecast_is_the_same_each_time():
    assert forecast_blocks([course(10, 0.02, 0.03)], 300) == forecast_blocks([course(10, 0.02, 0.03)], 300)


def test_blocks_that_do_not_vary_at_all_are_no_warning_of_numpy() -> None:
    """The first blocks have an infinite critical value, and no error to multiply it with."""
    with np.errstate(all="raise"):
        found = forecast_blocks([course(2, 0.03, 0.0), course(2, 0.0, 0.0)], 40)
    assert found.median is not None


@pytest.mark.parametrize("side", [1, -1])
def test_the_whole_interval_has_to_be_inside_the_margin_on_both_sides(side: int):
    """The mean is inside, 0.3 % from an end."""
    inside = course(20, side * 0.0165, 0.005, margin=(-0.0198, 0.0198), level_apart=1e-300)
    edge = course(20, side * 0.0195, 0.005, margin=(-0.0198, 0.0198), level_apart=1e-300)
    assert forecast_blocks([inside], 100).median is not None
    assert forecast_blocks([edge], 100).median is None

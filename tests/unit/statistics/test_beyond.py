"""What of a difference may be beyond the margin: the interval, a step of the values, or the arithmetic mean."""

import math

import pytest

from runoff.statistics.values import Interval
from runoff.statistics.verdict import find_beyond


@pytest.mark.parametrize("edge", [math.log(0.9), math.log(1.1)])
def test_a_margin_of_ten_percent_is_nine_tenths_to_eleven_tenths(edge: float):
    for share, found in ((0.9999, "nothing"), (1.0001, "interval")):
        assert find_beyond(Interval(*sorted([0.0, share * edge])), 0.0, 0.0, 0.0, 0.1) == found


@pytest.mark.parametrize("sign", [1, -1])
def test_a_step_is_added_to_the_interval(sign: int):
    ends = Interval(*sorted([0.0, sign * 0.05]))
    assert find_beyond(ends, 0.0, 0.0, 0.045, 0.1) == "nothing"
    assert find_beyond(ends, 0.0, 0.0, 0.056, 0.1) == "step"
    assert find_beyond(ends, 0.0, 0.0, None, 0.1) == "step"


@pytest.mark.parametrize("change", [0.05, -0.05])
def test_a_step_is_added_to_the_arithmetic_mean_too(change: float):
    ends = Interval(-0.01, 0.01)
    assert find_beyond(ends, change, 0.03, 0.02, 0.1) == "nothing"
    assert find_beyond(ends, change, 0.03, 0.021, 0.1) == "mean"
    assert find_beyond(ends, change, 0.031, 0.02, 0.1) == "mean"


def test_an_interval_is_inside_its_own_ends():
    assert Interval(-1.0, 1.0).is_inside(-1.0, 1.0)
    assert not Interval(-1.0, 1.0).is_inside(-0.9, 1.0)
    assert not Interval(-1.0, 1.0).is_inside(-1.0, 0.9)

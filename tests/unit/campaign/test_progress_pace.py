"""When the last sample comes, from the times of those before."""

import random

import pytest

from runoff.cli.pace import FEWEST, Pace


class Clock:
    now_s = 100.0

    def __call__(self) -> float:
        return self.now_s


def finish(pace: Pace, clock: Clock, *gaps_s: float) -> None:
    for gap_s in gaps_s:
        clock.now_s += gap_s
        pace.finish()


def test_nothing_is_known_before_the_first_sample():
    pace = Pace(Clock())
    assert (pace.estimate(10), pace.per_minute, pace.each_s) == (None, None, None)


def test_time_counts_from_the_start_of_the_first_sample():
    clock = Clock()
    pace = Pace(clock)
    clock.now_s += 1000
    pace.start()
    finish(pace, clock, 3.0)
    assert (pace.each_s, pace.per_minute) == (3.0, 20.0)
    assert pace.estimate(4).seconds == 12.0
    assert pace.estimate(4).interval is None


def test_equal_samples_end_at_one_moment():
    clock = Clock()
    pace = Pace(clock)
    finish(pace, clock, *[2.0] * FEWEST)
    assert pace.estimate(10).interval == (20.0, 20.0)


def test_the_interval_holds_nine_times_in_ten():
    draw = random.Random(1)
    held, campaigns, left = 0, 400, 30
    for _ in range(campaigns):
        clock = Clock()
        pace = Pace(clock)
        finish(pace, clock, *(draw.lognormvariate(0, 0.5) for _ in range(20)))
        low, high = pace.estimate(left).interval
        held += low <= sum(draw.lognormvariate(0, 0.5) for _ in range(left)) <= high
    assert held / campaigns == pytest.approx(0.9, abs=0.05)


def test_the_time_left_counts_down_while_a_sample_runs():
    clock = Clock()
    pace = Pace(clock)
    finish(pace, clock, 10.0, 10.0)
    assert pace.estimate(3).seconds == 30
    clock.now_s += 4
    assert pace.estimate(3).seconds == 26
    clock.now_s += 60
    assert pace.estimate(3).seconds == 20
    assert pace.estimate(1).seconds == 0

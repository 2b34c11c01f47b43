"""Changes of level are found where they are, and where nothing changes as rarely as promised."""

import sys

import numpy as np
import pytest

from runoff.errors import MissingError
from runoff.statistics import change_points
from runoff.statistics.change_points import count_least_values, find_change_points


def series(*levels: tuple[int, float], sd: float = 1.0, seed: int = 1) -> list[float]:
    draw = np.random.default_rng(seed)
    return [float(value) for count, level in levels for value in draw.normal(level, sd, count)]


def firsts(values: list[float], alpha: float = 0.05) -> list[int]:
    return [change.first for change in find_change_points(values, alpha)]


def test_a_step_is_found_where_it_is():
    (change,) = find_change_points(series((12, 10), (9, 16)), 0.05)
    assert change.first == 12
    assert change.p == 0.001


def test_a_level_that_is_asked_for_more_exactly_has_more_orders():
    (change,) = find_change_points(series((12, 10), (9, 16)), 0.01)
    assert change.p == 0.0005


@pytest.mark.parametrize("factor", [1.0, -1.0])
def test_a_stretch_that_differs_and_steps_in_a_row_are_found(factor: float):
    assert firsts([factor * value for value in series((10, 0), (5, 8), (10, 0))]) == [10, 15]
    assert firsts([factor * value for value in series((12, 0), (12, 8), (12, 16))]) == [12, 24]


def test_a_small_change_beside_a_huge_one_is_found():
    assert firsts(series((15, 0), (15, 4), (15, 1000))) == [15, 30]


def test_the_middle_of_a_stair_is_no_change():
    """The best single cut of three levels is through the second."""
    assert firsts(series((15, 0), (15, 20), (15, 40))) == [15, 30]
    assert firsts(series((9, 0), (9, 20), (9, 40), (9, 60))) == [9, 18, 27]


def test_a_single_value_that_is_far_out_is_no_change():
    values = series((24, 0))
    for place in (0, 12, 23):
        assert firsts([*values[:place], 50.0, *values[place + 1 :]]) == []


def test_the_newest_value_alone_is_no_change_however_many_are_before():
    assert firsts([*series((79, 0)), 50.0]) == []


def test_a_value_that_is_far_out_does_not_move_a_change():
    values = series((15, 0), (15, 5))
    assert firsts(values) == [15]
    assert firsts([*values[:17], 90.0, *values[18:]]) == [15]


def test_equal_values_and_too_few_have_no_change():
    assert firsts([3.0] * 40) == []
    assert count_least_values(0.05) == 8
    assert firsts([1.0, 1.1, 1.2, 9.0, 9.1, 9.2, 9.3]) == []
    assert firsts([1.0, 1.1, 1.2, 1.3, 9.0, 9.1, 9.2, 9.3]) == [4]
    assert firsts([]) == []


def test_a_stricter_level_needs_more_values():
    assert [count_least_values(alpha) for alpha in (0.05, 0.025, 0.005)] == [8, 9, 11]
    assert firsts([1.0, 1.1, 1.2, 1.3, 9.0, 9.1, 9.2, 9.3], 0.01) == []


def test_a_stretch_is_found_whole_though_one_cut_alone_shows_nothing():
    assert firsts([0.1, 0.2, -1.0, 5.2, 4.4, 4.1, 5.1, 4.0, 6.0, 4.9, -0.2, -1.7, -0.9, 1.3, 0.3, 0.0]) == [3, 10]


def test_same_values_same_answer_and_their_unit_does_not_matter():
    values = series((15, 0), (15, 1.5), seed=3)
    assert find_change_points(values, 0.05) == find_change_points([1e6 * value + 5 for value in values], 0.05)


@pytest.mark.parametrize("kind", ["normal", "heavy", "rounded"])
def test_false_changes_are_as_rare_as_promised(kind: str):
    """With the promised 5 %, 99.9 % of 100 series have at most 13."""
    draw = np.random.default_rng(7)
    drawn = {
        "normal": lambda: draw.normal(size=12),
        "heavy": lambda: draw.standard_t(2, size=12),
        "rounded": lambda: np.round(draw.normal(size=12)),
    }[kind]
    assert sum(bool(firsts(drawn().tolist())) for _ in range(100)) <= 13


def test_without_the_library_the_way_to_it_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ruptures", None)
    change_points._load_ruptures.cache_clear()
    with pytest.raises(MissingError, match=r"install 'ruptures"):
        firsts(series((10, 0), (10, 9)))


def test_a_stretch_is_looked_at_again_at_a_share_of_the_chance():
    """Eight values can show a change at 5 %, and at half of that only nine can."""
    huge = [900.0, 903.0, 901.0, 902.0, 900.5, 903.5, 901.5, 902.5, 900.2, 902.2, 901.2, 903.2]
    low, high = [1.0, 1.2, 1.1, 1.3, 1.15], [5.0, 5.2, 5.1, 5.3, 5.15]
    assert firsts([*low[:4], *high[:4]]) == [4]
    assert firsts([*low[:4], *high[:4], *huge]) == [8]
    assert firsts([*low, *high, *huge]) == [5, 10]

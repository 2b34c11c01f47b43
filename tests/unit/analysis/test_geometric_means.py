"""Tables whose arithmetic means would contradict their changes."""

from collections.abc import Sequence

import pytest

from runoff.analysis.means import needs_geometric_means
from runoff.statistics import Analysis, Observation, Question, analyse

BASE = [10.0, 10.1, 9.9, 10.05, 9.95]


def judge(**arms: Sequence[float]) -> Analysis:
    observed = {arm: [Observation(v, 9 * at, at) for at, v in enumerate(values)] for arm, values in arms.items()}
    return analyse(observed, Question("base", "lower"))


@pytest.mark.parametrize("last", [[12.0, 12.1, 11.9, 12.0, 12.1], [9.0, 9.1, 9.0, 9.2, 8.9]])
def test_means_that_agree_with_their_changes_are_shown(last: list[float]):
    assert not needs_geometric_means(judge(base=BASE, arm=[11.0, 11.1, 11.0, 10.9, 11.0], last=last))


def test_one_arm_on_the_other_side_or_far_away_is_enough():
    """A run of 25 makes the arm slower on average and faster in most blocks; one of 80 adds more than a tenth."""
    calm = [11.0, 11.1, 11.0, 10.9, 11.0]
    assert needs_geometric_means(judge(base=BASE, calm=calm, arm=[7.5, 7.6, 7.5, 7.4, 25.0]))
    assert needs_geometric_means(judge(base=BASE, calm=calm, arm=[10.5, 10.6, 10.5, 10.4, 80.0]))


def test_a_mean_that_has_no_logarithm_contradicts_nothing():
    """Changes are of blocks that both arms have; a value below zero may be in another."""
    calm = [11.0, 11.1, 11.0, 10.9, 11.0]
    assert not needs_geometric_means(judge(base=BASE, arm=[*calm, -1000.0]))
    assert not needs_geometric_means(judge(base=[*BASE, -1000.0], arm=calm))

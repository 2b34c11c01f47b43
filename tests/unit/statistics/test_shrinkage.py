"""The best of several is worth less than it was measured, and about what is said."""

import numpy as np
import pytest

from runoff.statistics.shrinkage import shrink

ERROR = 0.01


@pytest.mark.parametrize("spread", [0.0, 0.005, 0.03])
@pytest.mark.parametrize("arms", [5, 19])
def test_the_best_is_expected_where_it_is(arms: int, spread: float) -> None:
    """On average over sweeps, whose true changes spread by nothing, by half an error or by three."""
    rng = np.random.default_rng([arms, int(1000 * spread)])
    measured, expected, true = [], [], []
    for _ in range(2000):
        changes = -0.03 + spread * rng.standard_normal(arms)
        seen = changes + ERROR * rng.standard_normal(arms)
        best = int(np.argmin(seen))
        measured.append(seen[best])
        expected.append(shrink(seen.tolist(), [ERROR] * arms)[best])
        true.append(changes[best])
    assert np.mean(measured) < np.mean(true) - 0.002
    assert np.mean(expected) == pytest.approx(np.mean(true), abs=0.003)


def test_a_few_are_as_they_are() -> None:
    assert shrink([1.0, 2.0, 4.0], [9.0] * 3) == [1.0, 2.0, 4.0]
    assert shrink([2.0] * 5, [1.0] * 5) == [2.0] * 5
    assert shrink([1.0, 2.0, 3.0, 4.0], [0.0] * 4) == [1.0, 2.0, 3.0, 4.0]

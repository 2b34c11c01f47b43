"""From how many blocks on, and how alike, neighbours count as dependent."""

from dataclasses import replace

import pytest

from runoff.statistics.blocks import CORRELATION_MINIMUM, CORRELATION_Z, Differences

ALIKE = Differences(
    values=(0.1,) * CORRELATION_MINIMUM, logs=False, mean=0.1, sd=0.1, mean_in_units=0.1, ratio_of_means=None,
    ratio_sd=None, correlation=0.9, confounded=False, step=0.0,
)  # fmt: skip


def test_ten_blocks_are_enough_to_tell_and_nine_are_not() -> None:
    assert ALIKE.is_dependent
    assert not replace(ALIKE, values=ALIKE.values[1:]).is_dependent


@pytest.mark.parametrize("n", [10, 40])
def test_the_limit_falls_with_the_blocks(n: int) -> None:
    limit = CORRELATION_Z / n**0.5
    of_n = replace(ALIKE, values=(0.1,) * n)
    assert replace(of_n, correlation=limit * 1.001).is_dependent
    assert not replace(of_n, correlation=limit * 0.999).is_dependent
    assert replace(of_n, correlation=limit * 0.999).informative == n
    assert replace(of_n, correlation=limit * 1.001).informative < n

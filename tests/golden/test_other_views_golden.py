"""A matrix of kernels and histories as text, as they were last looked at."""

import pytest
from approved import assert_approved
from history_examples import draw, nights, take
from matrix_examples import MATRIX

from runoff.history.text import render_text
from runoff.matrix import views


def test_a_matrix() -> None:
    assert_approved("matrix-100.txt", views.render_text(MATRIX, 100))
    assert_approved("matrix.md", views.render_markdown(MATRIX))


HISTORIES = {
    "a-change": nights(14, first_slow=8),
    "no-change": nights(6, first_slow=9),
    "up-and-down": {f"n{n:02}": take(n, 1.3 if 8 <= n < 16 else 1.1) for n in range(26)},
}


@pytest.mark.parametrize("name", HISTORIES)
def test_a_history(name: str) -> None:
    assert_approved(f"history-{name}.txt", render_text(draw(HISTORIES[name]), 80))

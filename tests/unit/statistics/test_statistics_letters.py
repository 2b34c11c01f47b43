"""Connecting letters against their definition: two arms share a letter exactly if not separated."""

import subprocess
import sys
from itertools import combinations

import pytest

from runoff.statistics.letters import connect


@pytest.mark.parametrize(
    ("separated", "expected"),
    [
        ([], {"w": "a", "x": "a", "y": "a", "z": "a"}),
        ([("w", "z")], {"w": "a", "x": "ab", "y": "ab", "z": "b"}),
        ([("w", "y"), ("w", "z"), ("x", "z")], {"w": "a", "x": "ab", "y": "bc", "z": "c"}),
        (list(combinations("wxyz", 2)), {"w": "a", "x": "b", "y": "c", "z": "d"}),
    ],
)
def test_known_displays(separated, expected):
    assert connect("wxyz", separated) == expected


def test_more_than_26_groups_double_the_letter():
    arms = [f"arm{i:02}" for i in range(28)]
    letters = connect(arms, combinations(arms, 2))
    assert (letters["arm00"], letters["arm25"], letters["arm27"]) == ("a", "z", "bb")


def test_importing_the_package_does_not_import_scipy():
    code = "import sys, runoff.statistics; print('scipy' in sys.modules, 'numpy' in sys.modules)"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.split() == ["False", "False"]
